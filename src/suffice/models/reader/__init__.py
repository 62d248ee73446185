"""The reader: a small model of our own that judges claims and finds answers, offline."""

from suffice.models.reader.model import ReaderModel, get_reader

__all__ = ["ReaderModel", "get_reader"]
