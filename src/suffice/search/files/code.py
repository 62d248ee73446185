"""Source files as pieces titled by the functions and classes they hold.

Where definitions begin is found by ``python`` (by its syntax) and ``definitions`` (by the look of a line, for every
other language and for Python that does not parse).
"""

from pathlib import PurePath

from suffice.search.files.definitions import find_definitions
from suffice.search.files.formats import PYTHON, get_suffix
from suffice.search.files.outline import CodeOutline
from suffice.search.files.piece import DocumentChunk, to_document_chunk
from suffice.search.files.python import parse_python
from suffice.text.chunks import chunk_lines, split_lines


def parse(text: str, name: str) -> list[DocumentChunk]:
    """Titles read ``module.Class.method`` for Python and ``file.js: Class, method`` for the rest."""
    lines = split_lines(text)
    syntax = parse_python(lines) if get_suffix(name) in PYTHON else None
    outline = CodeOutline(syntax.symbols if syntax is not None else find_definitions(lines))
    file = _module_name(name) if syntax is not None else PurePath(name).name
    found = []
    for chunk in chunk_lines(
        lines,
        section_starts=outline.find_section_starts(lines),
        no_break_before=syntax.continuation_lines if syntax is not None else (),
    ):
        names = outline.name_chunk(chunk)
        if syntax is not None:
            title = ", ".join(f"{file}.{symbol}" for symbol in names) or file
        else:
            title = f"{file}: {', '.join(names)}" if names else file
        found.append(to_document_chunk(chunk, title, "code"))
    return found


def _module_name(name: str) -> str:
    path = PurePath(name)
    return path.parent.name if path.stem == "__init__" and path.parent.name else path.stem
