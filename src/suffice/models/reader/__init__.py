"""The reader: a small model of our own that judges claims and finds answers, offline."""

from suffice.models.reader.model import Reader, get_reader

__all__ = ["Reader", "get_reader"]
