"""``suffice check``: compare the claims of any text with the sources."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from suffice import settings
from suffice.cli.options import (
    SEARCH,
    AlphaOption,
    DebugOption,
    DocsOption,
    ExcludeOption,
    IncludeOption,
    JsonOption,
    build_options,
)
from suffice.cli.output import print_error
from suffice.errors import EXIT_INTERRUPTED, InputError

if TYPE_CHECKING:
    from suffice.claims.audit import TextAudit
    from suffice.claims.checkers import AskSupport
    from suffice.claims.verdict import ClaimVerdict
    from suffice.prompts import CheckSupport, SupportResponse
    from suffice.types import Claim

_UNSUPPORTED_SUFFIXES = frozenset(".html .htm .xhtml .pdf .docx .doc .odt .rtf .json .jsonl .ipynb .csv".split())
_STYLES = {"supported": "green", "contradicted": "red", "unsupported": "yellow", "unknown": "dim"}


def check(
    file: Annotated[
        str, typer.Argument(help="A plain text or Markdown file; '-' reads standard input.", metavar="FILE")
    ],
    docs: DocsOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    alpha: AlphaOption = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Also ask this language model about claims that comparing words and numbers cannot decide; names as for "
            "'suffice ask'. Without this option no text leaves this machine, whatever the environment sets.",
            metavar="PROVIDER:NAME",
            rich_help_panel=SEARCH,
        ),
    ] = None,
    as_json: JsonOption = False,
    debug: DebugOption = False,
) -> int:
    """Check the claims of a text against your documents.

    The exit status is 1 if a claim is contradicted or unsupported.
    """
    from suffice.claims.audit import TextAudit
    from suffice.claims.checkers import default_checker
    from suffice.cli.terminal import Terminal, run_interruptible
    from suffice.report.build import NOTICES
    from suffice.search.open import open_corpus

    if not docs:
        raise InputError("There is nothing to check against; name files or folders with --docs")
    text = _read_text(file, docs)
    options = build_options(docs=docs, include=include, exclude=exclude, alpha=alpha)
    with Terminal().live_display() as terminal:

        async def check_claims() -> "tuple[TextAudit, list[tuple[Claim, ClaimVerdict]]]":
            config = settings.load()
            ask_support = _make_ask_support(model, config, terminal.notify)
            corpus = await open_corpus(options.scope, config, terminal.notify, terminal.show_progress)
            checker = default_checker(corpus.embed if alpha != 1 else None, ask_support)
            audit = TextAudit(text, corpus, checker, NOTICES)
            checked = []
            async for claim_and_verdict in audit.check_claims():
                checked.append(claim_and_verdict)
                terminal.show_progress("checking claims", len(checked), len(audit.claim_texts))
            return audit, checked

        result = run_interruptible(check_claims())
    if result is None:
        return EXIT_INTERRUPTED
    audit, checked = result
    if not checked:
        print_error(f"{file} makes no claim that can be checked.")
    if as_json:
        import msgspec

        rows = {"claims": [claim for claim, _ in checked], "sources": list(audit.sources.values())}
        print(json.dumps({"file": file, **msgspec.to_builtins(rows)}, ensure_ascii=False, indent=2))
    else:
        _print_claims(checked)
    return int(any(claim.support in ("contradicted", "unsupported") for claim, _ in checked))


def _make_ask_support(
    model_name: str | None, config: settings.Settings, notify: Callable[[str], None]
) -> "AskSupport | None":
    """Return a function that asks the named model about a claim; if the model fails, it notifies and returns ``None``."""
    from suffice.errors import ModelError
    from suffice.models.base import is_language_model
    from suffice.models.choose import choose_model

    model = choose_model(model_name, config, notify)(None) if model_name else None
    if model is None or not is_language_model(model):
        return None

    async def ask_support(prompt: "CheckSupport") -> "SupportResponse | None":
        try:
            return (await model(prompt)).answer
        except ModelError as error:
            notify(f"{error}. A claim is checked without the model.")
            return None

    return ask_support


def _read_text(file: str, docs: list[str]) -> str:
    from suffice.search.files.decode import decode
    from suffice.search.open import read_stdin

    if Path(file).suffix.lower() in _UNSUPPORTED_SUFFIXES:
        raise InputError(
            f"suffice check reads plain text and Markdown, not {file}; convert it first, "
            "or export the report of a stored run as Markdown: suffice runs export RUN report.md"
        )
    if file == "-":
        if "-" in docs:
            raise InputError("Standard input cannot be both the text and a document; name a file for one of them")
        text = read_stdin()
    else:
        try:
            text = decode(Path(file).read_bytes(), file)
        except OSError as error:
            raise InputError(f"{file} cannot be read: {error.strerror}") from error
    if not text.strip():
        raise InputError(f"{'Standard input' if file == '-' else file} is empty; there is nothing to check")
    return text


def _print_claims(checked: "list[tuple[Claim, ClaimVerdict]]") -> None:
    from collections import Counter

    from rich.console import Console
    from rich.text import Text

    from suffice.report.answer_html import SUPPORT_SYMBOLS

    console = Console(highlight=False)
    for claim, verdict in checked:
        label = f"{SUPPORT_SYMBOLS[claim.support]} {claim.support}"
        line = Text.assemble((label, _STYLES[claim.support]), f"  {' '.join(claim.text.split())}")
        console.print(line, soft_wrap=True)
        if claim.note:
            console.print(Text(f"    {claim.note}", style="dim"), soft_wrap=True)
        for span in claim.spans:
            against = "against: " if span.stance == "contradicts" else ""
            quote = " ".join(span.quote.split())
            console.print(Text.assemble(f"    {against}“{quote}”  ", (span.location, "cyan")), soft_wrap=True)
        if verdict.nearest is not None and not claim.spans:
            quote = " ".join(verdict.nearest.text.split())
            nearest = Text.assemble(("    nearest: ", "dim"), f"“{quote}”  ", (verdict.nearest.location, "cyan"))
            console.print(nearest, soft_wrap=True)
    counts = Counter(claim.support for claim, _ in checked)
    console.print(Text(" · ".join(f"{counts[name]} {name}" for name in SUPPORT_SYMBOLS if counts[name]), style="bold"))
