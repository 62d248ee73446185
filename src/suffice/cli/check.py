"""``suffice check``: the claims of a text that anybody wrote, held against the sources."""

import json
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from suffice import settings
from suffice.claims.audit import TextAudit
from suffice.claims.checkers import AskSupport, default_checker
from suffice.claims.verdict import ClaimVerdict
from suffice.cli.interrupt import run_interruptible
from suffice.cli.terminal import Terminal
from suffice.errors import EXIT_INTERRUPTED, InputError, ModelError
from suffice.models.base import is_language_model
from suffice.options import RunOptions
from suffice.prompts import CheckSupport, SupportResponse
from suffice.report.answer_html import SUPPORT_SYMBOLS
from suffice.search.open import open_corpus, read_stdin
from suffice.types import Claim

_UNSUPPORTED_SUFFIXES = frozenset(".html .htm .xhtml .pdf .docx .doc .odt .rtf .json .jsonl .ipynb .csv".split())
_STYLES = {"supported": "green", "contradicted": "red", "unsupported": "yellow", "unknown": "dim"}


def check(file: str, options: RunOptions, *, model: str | None, as_json: bool) -> int:
    """Hold every claim of the file against the documents; 1 when one is contradicted or unsupported."""
    if not options.docs:
        raise InputError("There is nothing to check against: name files or folders with --docs")
    text = _read_text(file, options)
    with Terminal().live_display() as terminal:

        async def work() -> tuple[TextAudit, list[tuple[Claim, ClaimVerdict]]]:
            config = settings.load()
            prompt = _make_verify_prompt(model, config, terminal.say)
            corpus = await open_corpus(options.scope, config, terminal.say, terminal.progress)
            audit = TextAudit(text, corpus, default_checker(corpus.embed if options.alpha != 1 else None, prompt))
            found = []
            async for each in audit.check_claims():
                found.append(each)
                terminal.progress("checking claims", len(found), len(audit.claim_texts))
            return audit, found

        done = run_interruptible(work())
    if done is None:
        return EXIT_INTERRUPTED
    audit, found = done
    if not found:
        terminal.print_error(f"{file} makes no claim that could be checked.")
    if as_json:
        import msgspec

        rows = {"claims": [claim for claim, _ in found], "sources": list(audit.sources.values())}
        json.dump({"file": file, **msgspec.to_builtins(rows)}, sys.stdout, ensure_ascii=False, indent=2)
        print()
    else:
        _print_claims(found)
    return int(any(claim.support in ("contradicted", "unsupported") for claim, _ in found))


def _make_verify_prompt(wanted: str | None, config: settings.Settings, say: Callable[[str], None]) -> AskSupport | None:
    """How the named model is asked; a failure is said, and the claim stays as words and figures left it."""
    from suffice.models.choose import choose_model

    model = choose_model(wanted, config, say)(None) if wanted else None
    if model is None or not is_language_model(model):
        return None

    async def ask(question: CheckSupport) -> SupportResponse | None:
        try:
            return (await model(question)).answer
        except ModelError as error:
            say(f"{error}. A claim is checked without it.")
            return None

    return ask


def _read_text(file: str, options: RunOptions) -> str:
    from suffice.search.files.decode import decode

    if Path(file).suffix.lower() in _UNSUPPORTED_SUFFIXES:
        raise InputError(
            f"check reads plain text and Markdown, and {file} is neither; convert it first, "
            "or take the Markdown of a run of ours: suffice runs export RUN report.md"
        )
    if file == "-":
        if "-" in options.scope.docs:
            raise InputError("Standard input can be the text or a document, not both; name a file for one of them")
        text = read_stdin()
    else:
        try:
            text = decode(Path(file).read_bytes(), file)
        except OSError as error:
            raise InputError(f"{file} cannot be read: {error.strerror}") from error
    if not text.strip():
        raise InputError(f"{'Standard input' if file == '-' else file} is empty; there is nothing to check")
    return text


def _print_claims(found: list[tuple[Claim, ClaimVerdict]]) -> None:
    out = Console(highlight=False)
    for claim, checked in found:
        style = _STYLES[claim.support]
        head = Text.assemble(
            (f"{SUPPORT_SYMBOLS[claim.support]} {claim.support}", style), f"  {' '.join(claim.text.split())}"
        )
        out.print(head, soft_wrap=True)
        if claim.note:
            out.print(Text(f"    {claim.note}", style="dim"), soft_wrap=True)
        for span in claim.spans:
            against = "against: " if span.stance == "contradicts" else ""
            quote = " ".join(span.quote.split())
            out.print(Text.assemble(f"    {against}“{quote}”  ", (span.location, "cyan")), soft_wrap=True)
        if checked.nearest is not None and not claim.spans:
            near = " ".join(checked.nearest.text.split())
            out.print(
                Text.assemble(("    nearest: ", "dim"), f"“{near}”  ", (checked.nearest.location, "cyan")),
                soft_wrap=True,
            )
    counts = Counter(claim.support for claim, _ in found)
    out.print(Text(" · ".join(f"{counts[name]} {name}" for name in SUPPORT_SYMBOLS if counts[name]), style="bold"))
