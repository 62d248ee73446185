"""Jupyter notebooks as one or more chunks for each cell. Text outputs are shortened; images are left out."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import msgspec

from suffice.search.files.chunk import (
    DocumentChunk,
    HeadingPath,
    UnreadableFile,
    enter_heading,
    format_heading_path,
)
from suffice.search.files.plain import find_markdown_headings
from suffice.text.chunks import chunk_lines, split_lines

_MAX_OUTPUT_CHARS = 500


def parse(text: str, name: str) -> list[DocumentChunk]:
    """Return the chunks of a notebook."""
    cells = _read_cells(text, name)
    path: HeadingPath = []
    found = []
    for number, cell in enumerate(cells, start=1):
        source = _join_source(cell.get("source", cell.get("input")))
        if cell.get("cell_type") == "markdown":
            for heading in find_markdown_headings(split_lines(source))[0]:
                path = enter_heading(path, heading.level, heading.text)
        elif cell.get("cell_type") == "heading":  # Only in nbformat 3.
            path = enter_heading(path, int(cell.get("level", 1)), source)
        title = format_heading_path(path, PurePath(name).name)
        content = "\n\n".join(part for part in (source.strip("\n"), *_iter_outputs(cell)) if part.strip())
        found += [
            DocumentChunk(c.text, title, "notebook", record=f"cell-{number}") for c in chunk_lines(split_lines(content))
        ]
    if not found:
        raise UnreadableFile(f"{name} is a notebook without text; give one that has text in its cells.")
    return found


def _read_cells(text: str, name: str) -> list[dict[str, Any]]:
    try:
        notebook = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UnreadableFile(
            f"{name} is not a valid notebook ({error}); open it in Jupyter and save it again."
        ) from error
    if isinstance(notebook, dict):
        sheets = [notebook, *[sheet for sheet in notebook.get("worksheets") or [] if isinstance(sheet, dict)]]
        for sheet in sheets:
            if isinstance(cells := sheet.get("cells"), list):
                return [cell for cell in cells if isinstance(cell, dict)]
    raise UnreadableFile(f"{name} is not a valid notebook (it has no cells); open it in Jupyter and save it again.")


def _join_source(source: object) -> str:
    """Return a multi-line string, which a notebook stores whole or as a list of lines."""
    if isinstance(source, list):
        return "".join(part for part in source if isinstance(part, str))
    return source if isinstance(source, str) else ""


def _iter_outputs(cell: dict[str, Any]) -> Iterator[str]:
    for output in cell.get("outputs") or []:
        if not isinstance(output, dict):
            continue
        data = output.get("data")
        rich = data.get("text/plain") if isinstance(data, dict) else None
        text = _join_source(output.get("text") or rich) or ": ".join(
            str(output[key]) for key in ("ename", "evalue") if key in output
        )
        yield text if len(text) <= _MAX_OUTPUT_CHARS else text[:_MAX_OUTPUT_CHARS].rstrip() + " …"
