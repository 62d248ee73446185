"""Prose files as chunks titled by the headings above them: Markdown, reStructuredText, AsciiDoc …, and text without markup.

The suffix decides; a text without a telling suffix, such as ``README`` or standard input, is recognised by its content.
"""

from collections.abc import Callable

from suffice.search.files import markdown, markup, rst
from suffice.search.files.chunk import ChunkKind, DocumentChunk, get_suffix, parse_suffixes
from suffice.search.files.prose import Prose, find_titles, to_document_chunks
from suffice.text.chunks import split_lines

_SAMPLE_CHARS = 200_000  # In which the markup of a text is looked for.
MARKDOWN_SUFFIXES = parse_suffixes("md markdown mdx mkd qmd rmd")
_CONVERTERS: dict[str, Callable[[str], Prose]] = {
    **dict.fromkeys(MARKDOWN_SUFFIXES, markdown.convert),
    **dict.fromkeys(parse_suffixes("rst rest"), rst.convert),
    **dict.fromkeys(parse_suffixes("adoc asciidoc"), markup.READERS["asciidoc"]),
    **dict.fromkeys(parse_suffixes("tex latex ltx"), markup.READERS["latex"]),
    **dict.fromkeys(parse_suffixes("wiki mediawiki"), markup.READERS["wiki"]),
    ".org": markup.READERS["org"],
    ".pod": markup.READERS["pod"],
    ".log": lambda text: Prose(split_lines(text)),
}
SUFFIXES = frozenset(_CONVERTERS) | parse_suffixes("txt text")


def parse(text: str, name: str) -> list[DocumentChunk]:
    suffix = get_suffix(name)
    kind: ChunkKind = "markdown" if suffix in MARKDOWN_SUFFIXES else "text"
    convert = _CONVERTERS.get(suffix) or _recognise(text)
    # A file of nothing but markup, such as a table of contents, is read as it stands.
    return to_document_chunks(convert(text), name, kind) or to_document_chunks(Prose(split_lines(text)), name, kind)


def _recognise(text: str) -> Callable[[str], Prose]:
    """Return what reads a text without a telling name, by its markup."""
    if markup.looks_like_man(text):
        return markup.READERS["man"]
    sample = text[:_SAMPLE_CHARS]
    if markup.ASCIIDOC_MARKUP.search(sample):
        return markup.READERS["asciidoc"]
    if rst.looks_like_rst(sample):
        return rst.convert
    return markdown.convert if markdown.MARKDOWN_MARKUP.search(sample) else _convert_plain


def _convert_plain(text: str) -> Prose:
    """Return a text as it stands, but for underlined titles."""
    prose = Prose(split_lines(text))
    prose.headings = find_titles(prose.lines)
    for heading in prose.headings:
        lines = [""] * (heading.last - heading.first + 1)
        lines[-2] = f"{'#' * min(heading.level, 6)} {heading.text}"
        prose.lines[heading.first - 1 : heading.last] = lines
    return prose
