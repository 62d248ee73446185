"""Turn a model's Markdown into the parts of a draft, once, and parts into Markdown, at the end.

What a reader sees stays: headings, paragraphs, lists, tables, code, quotations. White space and list numbers are ours.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from markdown_it.token import Token

from suffice.answers import (
    DraftTable,
    Finding,
    FindingList,
    Paragraph,
    Part,
    Quotation,
    SectionHeading,
    Statement,
    Verbatim,
)
from suffice.text.citations import list_handles, split_cited_sentences, strip_citations
from suffice.text.markdown import get_parser, mask_inline_code
from suffice.text.quotations import read_cells, render_in_line, render_quotation

_INDENT = 4  # Columns for each level of a list: right below both ``- `` and ``10. ``.
_END_MARKS = ".!?…:"


def parse_parts(markdown: str) -> tuple[Part, ...]:
    """Return the parts of a Markdown text in reading order.

    >>> [statement.text for statement in parse_parts("# Mills\\n\\nIt is old [1]. It turns.")[1].statements]
    ['It is old [1].', 'It turns.']
    """
    tokens = get_parser().parse(markdown)
    return tuple(_read_tokens(_rejoin_lists(tokens)))


def _rejoin_lists(tokens: Sequence[Token]) -> list[Token]:
    """Return the tokens with a list that goes on counting after a block of code as one list: the block belongs to its item."""
    kept: list[Token] = []
    end: int | None = None  # Where the last list closed, if only code came since.
    for token in tokens:
        goes_on = token.type == "ordered_list_open" and int(token.attrGet("start") or 1) > 1
        if goes_on and end is not None:
            del kept[end]
            end = None
            continue
        kept.append(token)
        if token.type == "ordered_list_close" and token.level == 0:
            end = len(kept) - 1
        elif token.type != "fence":
            end = None
    return kept


def _read_tokens(tokens: Sequence[Token]) -> Iterator[Part]:
    lists: list[str] = []  # The markers of the lists that are open.
    new_items: set[int] = set()  # The depths at which an item has begun and has no text yet.
    quotes = 0
    row: list[str] = []
    header: tuple[str, ...] = ()
    rows: list[Statement] = []
    for number, token in enumerate(tokens):
        opener = tokens[number - 1].type if number else ""
        match token.type:
            case "bullet_list_open" | "ordered_list_open":
                lists.append("-" if token.type.startswith("bullet") else "1.")
            case "bullet_list_close" | "ordered_list_close":
                new_items.discard(len(lists))
                lists.pop()
            case "list_item_open":
                new_items.add(len(lists))
            case "blockquote_open":
                quotes += 1
            case "blockquote_close":
                quotes -= 1
            case "fence" | "code_block":
                fence = token.markup if token.type == "fence" else "```"
                yield Verbatim(f"{fence}{token.info}\n{token.content.rstrip()}\n{fence}", len(lists))
            case "hr":
                yield Verbatim("---")
            case "tr_open":
                row = []
            case "tr_close" if tokens[number + 1].type == "thead_close":
                header = tuple(row)
            case "tr_close":
                rows.append(replace(build_statement(" | ".join(row)), columns=header))
            case "table_close":
                yield DraftTable(header, tuple(rows))
                rows = []
            case "inline" if opener == "heading_open":
                yield SectionHeading(" ".join(token.content.split()), int(tokens[number - 1].tag[1:]))
            case "inline" if opener in ("th_open", "td_open"):
                row.append(" ".join(token.content.split()).replace("|", "\\|"))
            case "inline":
                marker = lists[-1] if len(lists) in new_items else ""
                new_items.discard(len(lists))
                statements = tuple(map(build_statement, split_statements(token.content)))
                depth = max(0, len(lists) - bool(marker))
                yield Paragraph(statements, marker, depth, quoted=quotes > 0)


def build_statement(text: str) -> Statement:
    """Return a sentence as a statement with the handles that it cites."""
    text = " ".join(text.split())
    return Statement(text, list_handles(text))


def split_statements(text: str) -> list[str]:
    """Return the sentences of a paragraph, each with the citations that follow it.

    >>> split_statements("It is old [1]. It has nine wheels. [2] Kolbe built it [1].")
    ['It is old [1].', 'It has nine wheels. [2]', 'Kolbe built it [1].']
    """
    return [text[start:end] for start, end in split_cited_sentences(text, mask_inline_code(text))]


def cite(statement: Statement, handles: Sequence[str]) -> Statement:
    """Return a statement that cites these passages and no others. What it cites already stays where it is.

    >>> cite(Statement("It is old [1] and big [2]."), ["[2]", "[3]"]).text
    'It is old and big [2] [3].'
    """
    body = strip_citations(statement.text, handles).rstrip()
    end = len(body) - len(body.rstrip(_END_MARKS))
    words, marks = (body[:-end], body[-end:]) if end else (body, "")
    text = " ".join([words.rstrip(), *(one for one in handles if one not in list_handles(body))]) + marks
    return replace(statement, text=text, handles=tuple(handles))


def render_parts(parts: Sequence[Part], get_handle: Callable[[Quotation], str]) -> str:
    pieces: list[str] = []
    before: Part | None = None
    counts: dict[tuple[int, str], int] = {}  # Items so far, by depth and marker.
    for part in parts:
        if isinstance(part, Paragraph) and part.marker:
            here = part.depth, part.marker
            counts = {key: count for key, count in counts.items() if key[0] < part.depth or key == here}
            counts[here] = counts.get(here, 0) + 1
        elif not getattr(part, "depth", 0):
            counts = {}
        is_item = isinstance(part, Paragraph) and part.marker
        is_tight = is_item and isinstance(before, Paragraph) and before.marker
        pieces.append(("\n" if is_tight else "\n\n") if pieces else "")
        pieces.append(_render_part(part, counts, get_handle))
        before = part
    return "".join(pieces)


def _render_part(part: Part, counts: dict[tuple[int, str], int], get_handle: Callable[[Quotation], str]) -> str:
    match part:
        case SectionHeading(text, level):
            return f"{'#' * level} {text}"
        case Quotation():
            return render_quotation(part, get_handle(part))
        case DraftTable(header, rows):
            rule = " | ".join(["---"] * len(header))
            lines = [" | ".join(header), rule, *map(_render_statement, rows)]
            return "\n".join(f"| {line} |" for line in lines)
        case Verbatim(text, depth):
            return _indent(text, depth)
        case FindingList(items, columns):
            return _render_records(items, columns, get_handle) if columns else _render_findings(items, get_handle)
        case Paragraph(statements, marker, depth, quoted):
            text = " ".join(map(_render_statement, statements))
            if marker:
                text = f"{f'{counts[depth, marker]}.' if marker == '1.' else marker} {text}"
            return _indent(f"> {text}" if quoted else text, depth)


def _render_findings(items: Sequence[Finding], cite: Callable[[Quotation], str]) -> str:
    """Return findings as a list; a disagreement follows the finding that it is about."""
    lines = []
    for item in items:
        line = " ".join([render_in_line(item.text), *dict.fromkeys(map(cite, (item.text, *item.others)))])
        against = "".join(f" But: {render_in_line(other)} {cite(other)}" for other in item.against)
        lines.append(f"- {line}{against}")
    return "\n".join(lines)


def _render_records(items: Sequence[Finding], columns: Sequence[str], cite: Callable[[Quotation], str]) -> str:
    """Return records as a table, each row with its citation."""
    rows = [[*(read_cells(item.text).get(name, "") for name in columns), cite(item.text)] for item in items]
    cells = [[*columns, ""], ["---"] * (len(columns) + 1), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in cells)


def _render_statement(statement: Statement) -> str:
    return f"{statement.text} {statement.mark}" if statement.mark else statement.text


def _indent(text: str, depth: int) -> str:
    return "\n".join(" " * _INDENT * depth + line if line else line for line in text.split("\n"))
