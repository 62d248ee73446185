"""Files as a collection: which there are, and their text in pieces that cite exactly."""

from suffice.search.files.piece import MAX_BYTES, ChunkKind, DocumentChunk, UnreadableFile
from suffice.search.files.read import read_file, read_text
from suffice.search.files.walk import FileListing, SkippedFile, list_files

__all__ = [
    "MAX_BYTES",
    "ChunkKind",
    "DocumentChunk",
    "FileListing",
    "SkippedFile",
    "UnreadableFile",
    "list_files",
    "read_file",
    "read_text",
]
