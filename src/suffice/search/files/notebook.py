"""Jupyter notebooks as one or more pieces a cell. Text outputs are shown shortened, images are not."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import msgspec

from suffice.search.files.piece import Piece, Unreadable, one_line, path_title
from suffice.search.files.plain import markdown_headings
from suffice.text.chunks import chunks, lines_of

_OUTPUT = 500


def pieces(text: str, name: str) -> list[Piece]:
    cells = _cells(text, name)
    path: list[tuple[int, str]] = []
    found = []
    for number, cell in enumerate(cells, start=1):
        source = _joined(cell.get("source", cell.get("input")))
        if cell.get("cell_type") == "markdown":
            for heading in markdown_headings(lines_of(source))[0]:
                path = [*[above for above in path if above[0] < heading.level], (heading.level, heading.text)]
        elif cell.get("cell_type") == "heading":  # nbformat 3
            level = int(cell.get("level", 1))
            path = [*[above for above in path if above[0] < level], (level, source)]
        title = one_line(path_title([text for _, text in path], PurePath(name).name))
        whole = "\n\n".join(part for part in (source.strip("\n"), *_outputs(cell)) if part.strip())
        found += [Piece(c.text, title, "notebook", record=f"cell-{number}") for c in chunks(lines_of(whole))]
    if not found:
        raise Unreadable(f"{name} is a notebook without text; give one that has cells.")
    return found


def _cells(text: str, name: str) -> list[dict[str, Any]]:
    try:
        notebook = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise Unreadable(f"{name} is not a valid notebook ({error}); open it in Jupyter and save it again.") from error
    if isinstance(notebook, dict):
        sheets = [notebook, *[sheet for sheet in notebook.get("worksheets") or [] if isinstance(sheet, dict)]]
        for sheet in sheets:
            if isinstance(cells := sheet.get("cells"), list):
                return [cell for cell in cells if isinstance(cell, dict)]
    raise Unreadable(f"{name} is not a valid notebook (it has no cells); open it in Jupyter and save it again.")


def _joined(source: object) -> str:
    """A multi-line string, which a notebook stores whole or as a list of lines."""
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def _outputs(cell: dict[str, Any]) -> Iterator[str]:
    for output in cell.get("outputs") or []:
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        rich = data.get("text/plain") if isinstance(data, dict) else None
        text = _joined(output.get("text") or rich) or ": ".join(
            str(output[key]) for key in ("ename", "evalue") if key in output
        )
        yield text if len(text) <= _OUTPUT else text[:_OUTPUT].rstrip() + " …"
