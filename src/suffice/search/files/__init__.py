"""Files as chunks of text that can be cited exactly: which files there are, and how each type is read.

    .md .rst .txt .log        plain        ``markdown`` or ``rst``, titled by headings; ``transcript`` if most lines are turns
    .py .js .go .sql …        code         titled by definitions, with the signature in the later parts of a long one
    .html .htm .xhtml         html         readable text without navigation
    .pdf                      pdf          one or more chunks for each page
    .docx                     docx         titled by headings
    .csv .tsv                 table        each row as ``column: value``
    .ipynb                    notebook     one or more chunks for each cell
    .json                     chat         one chunk for each message; ``plain`` if it is not a conversation
    .jsonl .ndjson (.gz)      records      one or more chunks for each record, with the record's own id

The text of prose is light Markdown with one line for each line of the source (``prose``).
``walk`` lists files, ``read`` chooses the reader, ``decode`` turns bytes into text, ``chunk`` defines the result.

A reader has ``parse(text, name) -> list[DocumentChunk]``, or ``parse(data, path)`` for a binary format, and raises
``UnreadableFile`` with advice. CONTRIBUTING.md lists the steps to add a file type. A change that reads existing files
differently must also raise ``INDEX_VERSION`` in ``search.corpus.sync``, so that they are indexed again.
"""

from suffice.search.files.chunk import MAX_BYTES, ChunkKind, DocumentChunk, UnreadableFile
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
