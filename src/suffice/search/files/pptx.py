"""PowerPoint presentations as one or more chunks for each slide, with the speaker's notes.

The parts of the package are read here: python-pptx would bring Pillow and XlsxWriter, which reading text does not need.
"""

from collections.abc import Iterator
from pathlib import Path
from posixpath import dirname, join, normpath, split
from xml.etree.ElementTree import Element

from suffice.search.files.blocks import Block, Slide, make_item, make_table, pack_slides
from suffice.search.files.chunk import DocumentChunk
from suffice.search.files.package import Package, open_package

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SLIDE = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_BREAKS = {f"{_DRAWING}br": "\n", f"{_DRAWING}tab": "\t"}
_TITLE_TYPES = ("title", "ctrTitle")
_LIST_TYPES = ("body", "obj")  # "obj" is also the type of a placeholder that names none.
_SKIPPED_TYPES = ("dt", "ftr", "hdr", "sldNum", "sldImg")


def parse(data: bytes, path: Path) -> list[DocumentChunk]:
    with open_package(data, path, "PowerPoint presentation") as package:
        return pack_slides((_read_slide(package, name) for name in _list_slides(package)), path, "pptx")


def _list_slides(package: Package) -> list[str]:
    """Return the parts of the slides in the order in which they are shown."""
    main = "ppt/presentation.xml"
    targets = _read_relations(package, main)
    ids = package.read_xml(main).iterfind(f"{_SLIDE}sldIdLst/{_SLIDE}sldId")
    return [targets[id][0] for slide in ids if (id := slide.get(f"{_RELATION}id", "")) in targets]


def _read_relations(package: Package, part: str) -> dict[str, tuple[str, str]]:
    """Return the part and the type of each relation of a part, by id."""
    folder, name = split(part)
    relations = join(folder, "_rels", f"{name}.rels")
    if relations not in package.names:
        return {}
    return {
        relation.get("Id", ""): (
            normpath(join(dirname(part), relation.get("Target", ""))).lstrip("/"),
            relation.get("Type", ""),
        )
        for relation in package.read_xml(relations)
        if relation.get("TargetMode") != "External"
    }


def _read_slide(package: Package, part: str) -> Slide:
    tree = package.read_xml(part).find(f"{_SLIDE}cSld/{_SLIDE}spTree")
    title, blocks = "", []
    for type, block in [] if tree is None else _iter_blocks(tree):
        if type in _TITLE_TYPES and not title:
            title = block.text
        else:
            blocks.append(block)
    notes = [
        block.text
        for target, type in _read_relations(package, part).values()
        if type.endswith("/notesSlide") and target in package.names
        for tree in package.read_xml(target).iterfind(f"{_SLIDE}cSld/{_SLIDE}spTree")
        for shape, block in _iter_blocks(tree, lists=False)
        if shape in _LIST_TYPES
    ]
    return Slide(title, blocks, "\n".join(notes))


def _iter_blocks(parent: Element, *, lists: bool = True) -> Iterator[tuple[str, Block]]:
    """Yield the texts of the shapes in order, each with the type of its placeholder."""
    for shape in parent:
        if shape.tag == f"{_SLIDE}sp":
            placeholder = shape.find(f"{_SLIDE}nvSpPr/{_SLIDE}nvPr/{_SLIDE}ph")
            type = "" if placeholder is None else placeholder.get("type", "obj")
            body = shape.find(f"{_SLIDE}txBody")
            if body is not None and type not in _SKIPPED_TYPES:
                yield from _read_paragraphs(body, type, lists and type in _LIST_TYPES)
        elif (table := shape.find(f".//{_DRAWING}tbl")) is not None and shape.tag == f"{_SLIDE}graphicFrame":
            rows = [
                [" ".join(map(_extract_text, cell.iter(f"{_DRAWING}p"))) for cell in row.iterfind(f"{_DRAWING}tc")]
                for row in table.iterfind(f"{_DRAWING}tr")
            ]
            yield "", make_table(rows)
        elif shape.tag != _FALLBACK:
            yield from _iter_blocks(shape, lists=lists)


def _read_paragraphs(body: Element, type: str, is_list: bool) -> Iterator[tuple[str, Block]]:
    if type in _TITLE_TYPES:
        text = " ".join(filter(None, (_extract_text(p).strip() for p in body.iterfind(f"{_DRAWING}p"))))
        if text:
            yield type, Block(" ".join(text.split()))
        return
    number = 0
    for paragraph in body.iterfind(f"{_DRAWING}p"):
        text = _extract_text(paragraph).strip()
        if not text:
            continue
        properties = paragraph.find(f"{_DRAWING}pPr")
        marks = {child.tag.removeprefix(_DRAWING) for child in (properties if properties is not None else ())}
        level = "0" if properties is None else properties.get("lvl", "0")
        depth = min(int(level), 8) if level.isdecimal() else 0
        if "buAutoNum" in marks:
            number += 1
            yield type, make_item(text, 0, depth, f"{number}.")
        elif "buChar" in marks or (is_list and "buNone" not in marks):
            yield type, make_item(text, 0, depth)
        else:
            yield type, Block(text)


def _extract_text(node: Element) -> str:
    texts = (child.text if child.tag == f"{_DRAWING}t" else _BREAKS.get(child.tag) for child in node.iter())
    return "".join(filter(None, texts))
