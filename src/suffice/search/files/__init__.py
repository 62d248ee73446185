"""Files as chunks of text that can be cited exactly: which files there are, and how each type is read (docs/usage.md).

The text of prose is light Markdown with one line for each line of the source (``prose``).
``walk`` lists files, ``read`` chooses the reader, ``isolated`` calls it in a child process with limits, ``decode`` turns bytes
into text, ``chunk`` defines the result; ``package`` and ``blocks`` are shared by the Office formats.

A reader has ``parse(text, name) -> list[DocumentChunk]``, or ``parse(data, path)`` for a binary format, and raises
``UnreadableFile`` with advice. CONTRIBUTING.md lists the steps to add a file type. A change that reads existing files
differently must also raise ``INDEX_VERSION`` in ``search.corpus.sync``, so that they are indexed again.
"""
