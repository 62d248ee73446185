"""``suffice check``: compare the claims of texts with documents, and write the mended texts."""

import json
import sys
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, Literal

from suffice import settings
from suffice.cli.options import JSON, OUTPUT, PLAIN_ALPHA_HELP, argument, build_options, flag, takes_options
from suffice.cli.output import print_error, print_note, write_file
from suffice.errors import InputError, ModelError
from suffice.options import SEARCH
from suffice.text.plain import count
from suffice.types import Claim, Excerpt, Passage, Query

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from suffice.claims.audit import TextAudit
    from suffice.claims.receipts import Finding, Receipt, ReceiptFile
    from suffice.claims.verdict import ClaimVerdict
    from suffice.claims.whole import AskDraft
    from suffice.cli.annotations import CheckFinding
    from suffice.cli.terminal import Terminal
    from suffice.prompts.judging import CheckDraft, CheckDraftResponse
    from suffice.search.base import Search

_DATA_SUFFIXES = frozenset(".json .jsonl .ndjson .ipynb .csv .tsv .xlsx .ods".split())
_STDOUT = Path("-")
_MAX_LISTED_CHARS = 200  # Of a claim or a quote in the list of changes.
_STYLES = {"supported": "green", "contradicted": "red", "unsupported": "yellow", "unknown": "dim"}
_CHECKERS = {"verbatim": "word for word", "figures": "by figures", "words": "by words", "model": "by the model"}
_LIKELIHOODS = ((0.95, "almost certainly"), (0.8, "very likely"), (0.6, "likely"), (0.0, "perhaps"))

OutputFormat = Literal["text", "json", "sarif", "github"]
_ALPHA_HELP = PLAIN_ALPHA_HELP.replace("Default: 0.25", "Default: 1")


@takes_options("docs", "include", "exclude", "alpha", alpha=_ALPHA_HELP)
def check(
    files: list[str] = argument(
        ..., "Markdown, plain text, HTML, PDF or Word; '-' reads standard input.", "FILE…", show_default=False
    ),
    model: str | None = flag(
        None,
        "Let this language model check all claims together with the passages found for them; names as for "
        "'suffice ask'. Without this option no text leaves this machine, whatever the environment sets.",
        SEARCH,
        metavar="PROVIDER:NAME",
    ),
    fix: Path | None = flag(
        None,
        "Write the mended text there: claims that the sources do not support are left out. For several files, "
        "name a folder; '-' writes to standard output. The text of an HTML, PDF or Word file is written as Markdown.",
        OUTPUT,
        metavar="OUT",
    ),
    output: OutputFormat = flag(
        "text",
        "text, json, sarif (SARIF 2.1.0, for code scanning) or github (annotations of a workflow).",
        OUTPUT,
        "--format",
        "FORMAT",
    ),
    baseline: Path | None = flag(
        None,
        "Findings that are in this file do not count: a receipt, or what --format json printed before.",
        OUTPUT,
        metavar="FILE",
    ),
    receipt: Path | None = flag(
        None,
        "Keep verdicts, quotes and hashes of their sources there; the next check reads only what changed and "
        "says which verdicts did. 'suffice recheck FILE' compares the sources alone.",
        OUTPUT,
        metavar="FILE",
    ),
    as_json: bool = JSON,
    **given: Any,
) -> int:
    """Check the claims of texts against your documents.

    A file that is among the documents is not checked against itself. The exit status is 1 if a claim is contradicted or
    unsupported.
    """
    from suffice.claims.audit import TextAudit, validate_text
    from suffice.claims.checker import default_checker
    from suffice.claims.receipts import RECEIPT_VERSION, Receipt, read_findings, read_receipt
    from suffice.cli.terminal import Terminal, run_interruptible
    from suffice.report.notices import NOTICES
    from suffice.search.open import open_corpus

    options = build_options(**given)
    if options.alpha is None:  # A claim has words of its source, and vectors take most of the time.
        options = replace(options, alpha=1.0)
    if not options.scope.docs:
        raise InputError("There is nothing to check against; name files or folders with --docs")
    if as_json and output not in ("text", "json"):
        raise InputError(f"Standard output cannot have both --json and --format {output}; leave one out")
    output = "json" if as_json else output
    if output != "text" and fix == _STDOUT:
        raise InputError(f"Standard output cannot have both {output} and the mended text; name a file with --fix")
    known = None if baseline is None else read_findings(baseline)
    if receipt is not None and not receipt.parent.is_dir():
        raise InputError(f"--receipt {receipt}: the folder {receipt.parent} does not exist; create it first")
    earlier = Receipt(RECEIPT_VERSION)
    if receipt is not None and receipt.exists():
        earlier = read_receipt(receipt, "--receipt")
    texts = {file: _read_text(file, options.scope.docs) for file in dict.fromkeys(files)}
    targets = _choose_targets(list(texts), fix)
    with Terminal().live_display() as terminal:

        async def check_files() -> "list[CheckedText]":
            for file, text in texts.items():
                await validate_text(text, "Standard input" if file == "-" else file)
            config = settings.load()
            ask = _make_ask(model, config, terminal.notify)
            corpus = await open_corpus(options.scope, config, terminal.notify, terminal.show_progress)
            audits = {
                file: TextAudit(
                    text, _screen(corpus, file, terminal), default_checker(earlier.get_file(file).judged), NOTICES, ask
                )
                for file, text in texts.items()
            }
            return [await _check_text(file, audit, terminal, known) for file, audit in audits.items()]

        checked = run_interruptible(check_files())
    for one in checked:
        if not one.claims:
            print_error(f"{one.file} makes no claim that can be checked.")
    if fix != _STDOUT:
        _print_checked(checked, output)
    for one in checked:
        if one.file in targets:
            _write_fixed(one, targets[one.file])
    if receipt is not None:
        _update_receipt(receipt, earlier, checked)
    return int(any(finding.is_new is not False for one in checked for finding in one.findings))


@dataclass(frozen=True)
class CheckedText:
    """A text with its claims and their verdicts."""

    file: str
    audit: "TextAudit"
    claims: "list[tuple[Claim, ClaimVerdict]]"
    record: "ReceiptFile"
    claims_read: int
    """Claims that the reader read passages for in this run."""
    known: "frozenset[Finding] | None" = None
    """The findings of the baseline."""

    @property
    def findings(self) -> "list[CheckFinding]":
        """The claims that are contradicted or unsupported."""
        from suffice.claims.receipts import identify
        from suffice.cli.annotations import CheckFinding

        known, found = self.known, []
        text = self.audit.text if _has_lines(self.file) else None
        for (claim, verdict), claim_text in zip(self.claims, self.audit.claim_texts, strict=True):
            if claim.support in ("contradicted", "unsupported"):
                is_new = None if known is None else identify(self.file, claim.text, claim.support) not in known
                found.append(CheckFinding(self.file, text, claim_text.span, verdict, is_new))
        return found

    def to_json(self) -> dict[str, Any]:
        """Return the claims as in a report, and the sources quoted for them; with a baseline, which findings are new."""
        import msgspec

        rows = {"claims": [claim for claim, _ in self.claims], "sources": list(self.audit.sources.values())}
        new = {} if self.known is None else {"new": [one.verdict.claim.text for one in self.findings if one.is_new]}
        return {"file": self.file, **msgspec.to_builtins(rows), **new}


async def _check_text(
    file: str, audit: "TextAudit", terminal: "Terminal", known: "frozenset[Finding] | None"
) -> CheckedText:
    from suffice.claims.receipts import build_receipt_file

    claims, claims_read, pairs_read = [], 0, 0
    async for claim_and_verdict in audit.check_claims():
        claims.append(claim_and_verdict)
        claims_read += audit.checker.pairs_read > pairs_read
        pairs_read = audit.checker.pairs_read
        terminal.show_progress(f"checking {file}", len(claims), len(audit.claim_texts))
    return CheckedText(file, audit, claims, build_receipt_file(file, claims, audit.checker), claims_read, known)


def _print_checked(checked: list[CheckedText], output: OutputFormat) -> None:
    if output == "text":
        _print_files(checked)
    elif output == "json":
        rows = [one.to_json() for one in checked]
        print(json.dumps(rows[0] if len(rows) == 1 else {"files": rows}, ensure_ascii=False, indent=2))
    else:
        from suffice.cli.annotations import render_github, render_sarif

        render = render_sarif if output == "sarif" else render_github
        sys.stdout.write(render([finding for one in checked for finding in one.findings]))


def _has_lines(file: str) -> bool:
    """Whether offsets in the checked text are offsets in the file."""
    return file != "-" and _is_text_file(file)


def _update_receipt(path: Path, earlier: "Receipt", checked: list[CheckedText]) -> None:
    """Write the receipt and say what the check read and which verdicts changed since the last one."""
    write_file(path, earlier.update([one.record for one in checked]).dumps(), "--receipt")
    changes = [(one.file, *change) for one in checked for change in earlier.list_changes(one.record)]
    total, read = sum(len(one.claims) for one in checked), sum(one.claims_read for one in checked)
    news = f"{read} of {total} claims were read anew, {count(len(changes), 'verdict')} changed"
    print_note(f"Wrote {path}: {news if earlier.files else count(total, 'claim')}.")
    for file, before, now in changes:
        print_note(f"  {file}: {_quote(now.text)} was {before.support}, is {now.support}")


def _screen(corpus: "Search", file: str, terminal: "Terminal") -> "Search":
    """Return the search without prompt injections and without the checked file itself, which would support every claim."""
    from suffice.search.screened import InjectionFilter, describe_removal

    own = Path(file).resolve()

    async def search_other_files(query: Query, k: int) -> list[Passage]:
        found = await corpus(query, k)
        if any(Path(passage.place.path).resolve() == own for passage in found):
            found = [one for one in await corpus(query, 4 * k) if Path(one.place.path).resolve() != own]
        return found[:k]

    return InjectionFilter(search_other_files, lambda event: terminal.notify(describe_removal(event)))


def _choose_targets(files: list[str], fix: Path | None) -> dict[str, Path]:
    """Return where each mended text goes; raise ``InputError`` before anything is checked if it cannot go there."""
    if fix is None:
        return {}
    if fix == _STDOUT and len(files) > 1:
        raise InputError("Standard output has room for one mended text; name a folder with --fix for several files")
    if len(files) == 1 and not fix.is_dir():
        if not fix.parent.is_dir():
            raise InputError(f"--fix {fix}: the folder {fix.parent} does not exist; create it first")
        return {files[0]: fix}
    if fix.exists() and not fix.is_dir():
        raise InputError(f"--fix {fix} is a file; name a folder for the mended texts of several files")
    targets = {file: fix / _name_fixed(file) for file in files}
    if len(set(targets.values())) < len(files):
        raise InputError(f"--fix {fix}: two of the files would be written to the same name; check them one by one")
    return targets


def _name_fixed(file: str) -> str:
    path = Path("stdin.md" if file == "-" else file)
    return path.name if _is_text_file(path.name) else f"{path.stem}.md"


def _write_fixed(checked: CheckedText, target: Path) -> None:
    """Write the mended text and list what was left out, with what the sources say instead."""
    from suffice.claims.fix import apply_fixes

    verdicts = [verdict for _, verdict in checked.claims]
    original = checked.audit.text
    fixed = apply_fixes(original, list(zip(checked.audit.claim_texts, verdicts, strict=True)))
    is_same_format = _has_lines(checked.file)
    mark = BOM_UTF8 if is_same_format and Path(checked.file).read_bytes().startswith(BOM_UTF8) else b""
    text = fixed.text
    if not text.endswith("\n") and (not text or not is_same_format or original.endswith("\n")):
        text += "\n"
    if target == _STDOUT:
        sys.stdout.write(text)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        write_file(target, mark + text.encode("utf-8"), "--fix")
    name = "the mended text" if target == _STDOUT else target
    lines = [f"Wrote {name}: {len(fixed.removed)} left out."]
    for one in fixed.removed:
        quote = one.deciding_quote
        instead = f"; a source says {_quote(quote.text)} ({quote.location})" if quote is not None else ""
        lines.append(f"  left out: {_quote(one.claim.text)}{instead}")
    print("\n".join(lines), file=sys.stderr)


def _quote(text: str) -> str:
    return f"“{shorten(' '.join(text.split()), _MAX_LISTED_CHARS, placeholder=' …')}”"


def _make_ask(model_name: str | None, config: settings.Settings, notify: Callable[[str], None]) -> "AskDraft | None":
    """Return a function that asks the named model about claims; if the model fails, it notifies and returns ``None``."""
    from suffice.models.base import is_language_model
    from suffice.models.choose import choose_model

    model = choose_model(model_name, config, notify)(None) if model_name else None
    if model is None or not is_language_model(model):
        return None

    async def ask(prompt: "CheckDraft") -> "CheckDraftResponse | None":
        try:
            return (await model(prompt)).answer
        except ModelError as error:
            notify(f"{error}. {len(prompt.statements)} claims are checked without the model.")
            return None

    return ask


def _read_text(file: str, docs: Sequence[str]) -> str:
    from suffice.search.files.decode import decode
    from suffice.search.files.isolated import read_isolated
    from suffice.search.open import read_stdin

    path = Path(file)
    if path.suffix.lower() in _DATA_SUFFIXES:
        raise InputError(
            f"suffice check reads texts, not data such as {file}; convert it first, "
            "or export the report of a stored run as Markdown: suffice runs export RUN report.md"
        )
    if file == "-":
        if "-" in docs:
            raise InputError("Standard input cannot be both the text and a document; name a file for one of them")
        text = read_stdin()
    else:
        if not file:
            raise InputError("The name of the file is empty; name a file")
        if path.is_dir():
            raise InputError(f"{file} is a folder; name its files: {file.rstrip('/')}/*.md")
        try:
            data = path.read_bytes()
        except OSError as error:
            raise InputError(f"{file} cannot be read: {error.strerror}") from error
        is_text = _is_text_file(file)  # Of an HTML, PDF or Word file the text is Markdown, page after page.
        text = decode(data, file) if is_text else "\n\n".join(chunk.text for chunk in read_isolated(path).chunks)
    if not text.strip():
        raise InputError(f"{'Standard input' if file == '-' else file} is empty; there is nothing to check")
    return text


def _is_text_file(file: str) -> bool:
    """Whether the file is plain text or Markdown, so that its own bytes are checked."""
    from suffice.search.files.read import guess_format

    return guess_format(file) in (None, "plain", "code")


def _print_files(checked: list[CheckedText]) -> None:
    from rich.text import Text

    from suffice.cli.terminal import SafeConsole
    from suffice.report.answer_html import SUPPORT_SYMBOLS

    console = SafeConsole(highlight=False)
    if not console.file.isatty():  # A place has half the width less the padding.
        places = (claim.evidence.location for one in checked for claim, _ in one.claims if claim.evidence)
        console.width = max([console.width, *(2 * len(place) + 4 for place in places)])
    for one in checked:
        if len(checked) > 1:
            console.print(Text(one.file, style="bold"), soft_wrap=True)
        if one.claims:
            console.print(_build_table(one.claims, console.width // 2 - 2))
        counts = Counter(claim.support for claim, _ in one.claims)
        summary = " · ".join(f"{counts[name]} {name}" for name in SUPPORT_SYMBOLS if counts[name])
        if one.known is not None:
            summary += f" · {sum(finding.is_new is True for finding in one.findings)} new"
        console.print(Text(summary, style="bold"))


def _build_table(claims: "list[tuple[Claim, ClaimVerdict]]", width: int) -> "Table":
    """Return the claims with what the sources say; places are in lines of their own, shortened to the width."""
    from rich.table import Table
    from rich.text import Text

    from suffice.cli.terminal import shorten_path
    from suffice.report.answer_html import SUPPORT_SYMBOLS

    table = Table(box=None, padding=(0, 2, 1, 0), header_style="dim")
    table.add_column("Claim", overflow="fold", ratio=2)
    table.add_column("What the sources say", overflow="fold", ratio=3)
    for claim, _ in claims:
        said = Text.assemble((f"{SUPPORT_SYMBOLS[claim.support]} {claim.support}", _STYLES[claim.support]))
        if reason := "; ".join(filter(None, (claim.note, _describe_checker(claim)))):
            said.append(f"  {reason}", style="dim")
        if (found := claim.evidence) is not None:
            said.append("\n").append_text(_mark(found)).append(f"\n{shorten_path(found.location, width)}", style="cyan")
        table.add_row(Text(" ".join(claim.text.split())), said)
    return table


def _describe_checker(claim: Claim) -> str:
    """Return who judged a claim and how surely, in words."""
    if claim.support == "unknown" or not claim.checker:
        return ""
    if claim.probability is None or claim.checker in _CHECKERS:
        return _CHECKERS.get(claim.checker, claim.checker)
    likelihood = next(words for least, words in _LIKELIHOODS if claim.probability >= least)
    return f"{likelihood}, says the {claim.checker}"


def _mark(evidence: Excerpt) -> "Text":
    """Return the evidence in one line, the deciding words in bold."""
    from rich.text import Text

    text = Text(evidence.text)
    for start, end in evidence.highlight:
        text.stylize("bold", start, end)
    return Text(" ").join(text.split(allow_blank=False)) if "\n" in evidence.text else text
