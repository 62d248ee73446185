"""Source files as pieces titled by the functions and classes they hold.

Where definitions begin is found by ``python`` (by its syntax) and ``definitions`` (by the look of a line, for every
other language and for Python that does not parse).
"""

from pathlib import PurePath

from suffice.search.files.definitions import definitions
from suffice.search.files.formats import PYTHON, suffix_of
from suffice.search.files.outline import Outline
from suffice.search.files.piece import Piece, of_chunk
from suffice.search.files.python import parsed
from suffice.text.chunks import chunks, lines_of


def pieces(text: str, name: str) -> list[Piece]:
    """Titles read ``module.Class.method`` for Python and ``file.js: Class, method`` for the rest."""
    lines = lines_of(text)
    syntax = parsed(lines) if suffix_of(name) in PYTHON else None
    outline = Outline(syntax.symbols if syntax is not None else definitions(lines))
    file = _module(name) if syntax is not None else PurePath(name).name
    found = []
    for chunk in chunks(lines, heads=outline.heads(lines), glued=syntax.glued if syntax is not None else ()):
        names = outline.names(chunk)
        if syntax is not None:
            title = ", ".join(f"{file}.{symbol}" for symbol in names) or file
        else:
            title = f"{file}: {', '.join(names)}" if names else file
        found.append(of_chunk(chunk, title, "code"))
    return found


def _module(name: str) -> str:
    path = PurePath(name)
    return path.parent.name if path.stem == "__init__" and path.parent.name else path.stem
