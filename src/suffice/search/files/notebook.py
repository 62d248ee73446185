"""Jupyter notebooks as one or more chunks for each cell. Text outputs are shortened; images are left out."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import msgspec

from suffice.search.files import markdown
from suffice.search.files.chunk import DocumentChunk, HeadingPath, UnreadableFile
from suffice.search.files.prose import Prose
from suffice.text.chunks import split_lines

_MAX_OUTPUT_CHARS = 500


def parse(text: str, name: str) -> list[DocumentChunk]:
    """Return the chunks of a notebook: text cells as light Markdown, code and its output as fenced blocks."""
    cells, language = _read_cells(text, name)
    path = HeadingPath()
    found = []
    for number, cell in enumerate(cells, start=1):
        source = _join_source(cell.get("source"))
        kind = cell.get("cell_type")
        if kind == "markdown":
            prose = markdown.convert(source)
            for heading in prose.headings:
                path = path.enter(heading.level, heading.text)
        else:
            prose = Prose([])
            for text in filter(str.strip, [source, *_iter_outputs(cell)]):
                prose.append_code(split_lines(text.strip("\n")), language if text is source and kind == "code" else "")
        title = path.format(PurePath(name).name)
        found += [DocumentChunk(c.text, title, "notebook", record=f"cell-{number}") for c in prose.chunk()]
    if not found:
        raise UnreadableFile(f"{name} is a notebook without text; give one that has text in its cells.")
    return found


def _read_cells(text: str, name: str) -> tuple[list[dict[str, Any]], str]:
    """Return the cells, and the language of the code."""
    try:
        notebook = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        raise UnreadableFile(
            f"{name} is not a valid notebook ({error}); open it in Jupyter and save it again."
        ) from error
    if isinstance(notebook, dict) and isinstance(cells := notebook.get("cells"), list):
        return [cell for cell in cells if isinstance(cell, dict)], _read_language(notebook)
    raise UnreadableFile(f"{name} is not a valid notebook (it has no cells); open it in Jupyter and save it again.")


def _read_language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    info = metadata.get("language_info") if isinstance(metadata, dict) else None
    language = info.get("name") if isinstance(info, dict) else None
    return language if isinstance(language, str) and language.isalnum() else "python"


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
