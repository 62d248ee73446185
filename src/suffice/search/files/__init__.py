"""Files as a collection: which there are, and their text in pieces that cite exactly."""

from suffice.search.files.piece import MAX_BYTES, Kind, Piece, Unreadable
from suffice.search.files.read import read, read_text
from suffice.search.files.walk import Listing, Skipped, listing

__all__ = ["MAX_BYTES", "Kind", "Listing", "Piece", "Skipped", "Unreadable", "listing", "read", "read_text"]
