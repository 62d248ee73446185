"""DRBench: find facts in a company's files among distractors, and say them in a report. Scored by rules, without a judge.

A task has a question and a folder of files (PDF, Word, PowerPoint, Excel, mail and chat exports). Each file holds one fact:
an *insight* that the report should state, or a *distractor* that it should leave out. The agent sees the files under the names
that the data set's own environment gives them, in one flat folder; nothing in a name or path says which kind a file is.

How a report is scored (``score_report``):

* **Figures and names** of a fact: its numbers (``$1.2M`` is ``1,200,000``; a percentage is not a plain number; years and
  quarters are left out, because every report on the same period holds them) and its capitalized words inside the sentence that
  are not in the question. One that stands anywhere in the report counts.
* **Insight stated**: three neighbouring sentences of the report hold all figures and names of the fact and half of its other
  content words. A fact without figures and names needs three quarters of its content words.
* **By chance**: the same two shares for the facts of the other tasks. Small numbers stand in every long report.
* **Insight-file recall**: files with an insight that the report cites, and that the search found.
* **Cited files that matter**: cited files that hold an insight; the others hold a distractor.
* **Citation precision**: cited claims whose cited file holds all figures of the claim and 60 % of its content words.

External facts of the data set need the web and are left out.
"""

import asyncio
import json
import re
import shutil
import tarfile
import time
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from statistics import mean
from typing import Any

STATED_WORDS = 0.5
STATED_WORDS_ALONE = 0.75
CITED_WORDS = 0.6
WINDOW = 3
_SCALES = {"k": 1e3, "thousand": 1e3, "m": 1e6, "million": 1e6, "b": 1e9, "bn": 1e9, "billion": 1e9}
_PERIOD = re.compile(r"\b(?:Q[1-4]|H[12]|FY\d{2,4}|(?:19|20)\d\d)\b", re.IGNORECASE)
_NUMBER = re.compile(
    r"(?<![\w.])[$€£]?\s?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?:\s?(%|percent\b)|\s?(k|m|bn?|thousand|million|billion)\b)?",
    re.IGNORECASE,
)
_CITATION = re.compile(r"\[\d{1,4}\]")
_WORD = re.compile(r"[A-Za-z][\w'’-]*")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_STOP_WORDS = frozenset(
    """a about across after all also an and any are as at average averaged be been being by can current currently did
    do does each for from had has have how if in into is it its more most no not of on or our out over per
    than that the their them there these they this to total totaled was we were what when which while who will
    with would you your q1 q2 q3 q4""".split()
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact of a task and the file that holds it."""

    text: str
    file: str
    is_insight: bool


@dataclass(frozen=True, slots=True)
class Task:
    """A question, the folder of its files, and the facts in them."""

    id: str
    question: str
    folder: Path
    facts: tuple[Fact, ...]


def prepare_tasks(data: Path, work: Path) -> list[Task]:
    """Unpack the tasks below ``work`` and lay out the files of each in one flat folder."""
    source = work / "tasks"
    if not source.is_dir():
        with tarfile.open(data / "tasks.tar.gz") as archive:
            # As the library's documentation advises: ``filter="data"`` is newer than Python 3.11.0.
            archive.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
            archive.extractall(work)
    return [
        _prepare_task(folder, work / "files" / folder.name) for folder in sorted(source.iterdir()) if folder.is_dir()
    ]


def _prepare_task(source: Path, folder: Path) -> Task:
    folder.mkdir(parents=True, exist_ok=True)
    gold = json.loads((source / "config" / "eval.json").read_text(encoding="utf-8"))["dr_report_evaluation_qa"]
    by_id = {item["id"]: item for item in gold if item["type"] == "enterprise_fact"}
    facts, used = [], set[str]()
    for entry in json.loads((source / "config" / "env.json").read_text(encoding="utf-8"))["env_files"]:
        path = Path(entry["source"])
        name = Path(entry["destination"]).name
        if name in used:  # The data set gives two files the same name.
            name = f"{Path(name).stem}-2{path.suffix}"
        used.add(name)
        shutil.copyfile(source / "files" / path.parent.name / path.name, folder / name)
        item = by_id[path.parent.name]
        facts.append(Fact(item["answer"], name, item["qa_type"] == "insight"))
    question = json.loads((source / "dr_question.json").read_text(encoding="utf-8"))["dr_question"]
    return Task(source.name, question, folder, tuple(facts))


def find_figures(text: str) -> set[str]:
    """Return the numbers of a text in one spelling, without years, quarters and citations."""
    found = set()
    for match in _NUMBER.finditer(_PERIOD.sub(" ", _CITATION.sub(" ", text))):
        number = float(match[1].replace(",", "")) * _SCALES.get((match[3] or "").lower(), 1)
        found.add(f"{number:g}%" if match[2] else f"{number:.10g}")
    return found


def find_names(text: str, question: str) -> set[str]:
    """Return the capitalized words inside the sentences of a text that are not in the question, in lower case."""
    known = {word.lower() for word in _WORD.findall(question)}
    names = set()
    for sentence in _SENTENCE_END.split(_PERIOD.sub(" ", text)):
        for word in _WORD.findall(sentence)[1:]:
            lowered = re.sub(r"['’]s$", "", word.lower())
            if word[0].isupper() and lowered not in known and word.lower() not in known and lowered not in _STOP_WORDS:
                names.add(lowered)
    return names


def find_content_words(text: str) -> set[str]:
    """Return the stems of the words of a text that carry meaning."""
    words = (re.sub(r"['’]s$", "", word.lower()) for word in _WORD.findall(text))
    return {_stem(word) for word in words if word not in _STOP_WORDS and len(word) > 1}


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ies", "ed", "es", "s", "ly", "y", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def split_windows(text: str) -> Iterator[str]:
    """Yield each group of neighbouring sentences of a text."""
    sentences = [part for part in _SENTENCE_END.split(_CITATION.sub(" ", text)) if part.strip()]
    for start in range(max(1, len(sentences) - WINDOW + 1)):
        yield " ".join(sentences[start : start + WINDOW])


class ScoredText:
    """A report's text, prepared for looking facts up in it."""

    def __init__(self, text: str) -> None:
        self.figures = find_figures(text)
        self.words = {word.lower() for word in _WORD.findall(text)}
        self.windows = [
            (find_figures(window), {word.lower() for word in _WORD.findall(window)}, find_content_words(window))
            for window in split_windows(text)
        ]

    def count_marks(self, fact: str, question: str) -> tuple[int, int]:
        """Return how many figures and names of a fact stand in the text, and how many it has."""
        figures, names = find_figures(fact), find_names(fact, question)
        return len(figures & self.figures) + len(names & self.words), len(figures) + len(names)

    def states(self, fact: str, question: str) -> bool:
        """Return whether one place of the text states the fact."""
        figures, names = find_figures(fact), find_names(fact, question)
        content = find_content_words(fact)
        needed = STATED_WORDS if figures or names else STATED_WORDS_ALONE
        return any(
            figures <= window_figures and names <= window_words and len(content & stems) >= needed * len(content)
            for window_figures, window_words, stems in self.windows
        )


def cites_rightly(claim: str, file_text: str) -> bool:
    """Return whether a file holds the figures of a claim and most of its content words."""
    content = find_content_words(claim)
    held = find_content_words(file_text)
    return find_figures(claim) <= find_figures(file_text) and len(content & held) >= CITED_WORDS * len(content)


def score_report(
    task: Task, text: str, cited: Iterable[str], found: Iterable[str], others: Sequence[Fact]
) -> dict[str, Any]:
    """Return the counts of one report; ``others`` are facts of other tasks, for the level of chance."""
    scored = ScoredText(text)
    insights = [fact for fact in task.facts if fact.is_insight]
    distractors = [fact for fact in task.facts if not fact.is_insight]
    gold_files, cited_files, found_files = {fact.file for fact in insights}, set(cited), set(found)
    marks = [scored.count_marks(fact.text, task.question) for fact in insights]
    chance = [scored.count_marks(fact.text, task.question) for fact in others]
    return {
        "insights": len(insights),
        "insights_stated": sum(scored.states(fact.text, task.question) for fact in insights),
        "distractors": len(distractors),
        "distractors_stated": sum(scored.states(fact.text, task.question) for fact in distractors),
        "others": len(others),
        "others_stated": sum(scored.states(fact.text, task.question) for fact in others),
        "marks": sum(total for _, total in marks),
        "marks_held": sum(held for held, _ in marks),
        "other_marks": sum(total for _, total in chance),
        "other_marks_held": sum(held for held, _ in chance),
        "gold_files": len(gold_files),
        "gold_files_cited": len(gold_files & cited_files),
        "gold_files_found": len(gold_files & found_files),
        "files": len(task.facts),
        "files_cited": len(cited_files),
        "files_found": len(found_files),
        "words": len(_WORD.findall(text)),
    }


def join_report(report: Any) -> str:
    """Return all that a reader of the report reads, without the list of sources and the account of the run."""
    from suffice.report.notices import NOTICES

    lines = [line for line in report.final_answer.splitlines() if line.removeprefix("> ").strip() not in NOTICES]
    return "\n".join([report.short_answer or "", *lines, *report.key_findings, *report.recommendations, *report.risks])


async def _research(task: Task, model: str) -> tuple[Any, set[str]]:
    """Run one task and return the report and the names of the files that the search found."""
    from dataclasses import replace

    from suffice.api import prepare_run
    from suffice.engine.pipeline import run_pipeline
    from suffice.events import Finished
    from suffice.memory.evidence import Evidence
    from suffice.options import RunOptions

    evidence = Evidence()
    config = replace(
        await prepare_run(task.question, RunOptions(docs=str(task.folder), model=model)), evidence=evidence
    )
    async for event in run_pipeline(config):
        if isinstance(event, Finished):
            report = event.report
    return report, {name for passage in evidence if (name := _find_file(task, passage.location))}


def _find_file(task: Task, location: str) -> str:
    """Return the name of the file of a citation's location, such as ``a.pdf:p3``; the longest name wins."""
    names = (fact.file for fact in task.facts if fact.file in location)
    return max(names, key=len, default="")


def _count_citations(task: Task, report: Any) -> tuple[int, int]:
    """Return the citations of the report's claims, and those whose file holds the claim."""
    from suffice.search.files.read import read_document

    files = {source.id: _find_file(task, source.location) for source in report.sources}
    pairs = [(claim.text, files.get(handle, "")) for claim in report.claims for handle in claim.citations]
    texts = {
        name: "\n".join(f"{chunk.title}\n{chunk.text}" for chunk in read_document(task.folder / name).chunks)
        for name in {name for _, name in pairs if name}
    }
    return len(pairs), sum(name in texts and cites_rightly(claim, texts[name]) for claim, name in pairs)


def run_task(task: Task, others: Sequence[Fact], model: str, label: str, reports: Path | None = None) -> dict[str, Any]:
    """Answer one task and return its row, which holds no text of the data set."""
    began, cpu = time.monotonic(), time.process_time()
    report, found = asyncio.run(_research(task, model))
    seconds, cpu = time.monotonic() - began, time.process_time() - cpu
    cited = {name for source in report.sources if (name := _find_file(task, source.location))}
    citations, right = _count_citations(task, report)
    if reports is not None:
        from suffice.report.markdown import render_markdown

        reports.mkdir(parents=True, exist_ok=True)
        (reports / f"{task.id}-{label}.md").write_text(render_markdown(report), encoding="utf-8")
    usage = report.usage
    return {
        "task": task.id,
        "model": label,
        "status": report.status,
        "stop": report.stop.reason,
        **score_report(task, join_report(report), cited, found, others),
        "citations": citations,
        "citations_right": right,
        "rounds": len(report.stop.rounds),
        "searches": usage.searches,
        "calls": usage.calls,
        "tokens": usage.input_tokens + usage.output_tokens,
        "cost_usd": usage.cost_usd,
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "failures": sorted({f"{failure.where}:{failure.kind}" for failure in report.error_log}),
    }


def run_tasks(
    tasks: Sequence[Task],
    model: str,
    out: Path,
    *,
    processes: int,
    seconds: float,
    reports: Path | None = None,
    chosen: Collection[str] = (),
    label: str = "",
) -> None:
    """Append a row for each chosen task (without a choice: each task) that has none yet; stop after ``seconds``.

    ``label`` is the column of the rows in the table; without it, the model's name.
    """
    label = label or model
    done = {(row["task"], row["model"]) for row in read_rows(out)}
    left = [task for task in tasks if (task.id, label) not in done and (not chosen or task.id in chosen)]
    pool = ProcessPoolExecutor(min(processes, len(left)) or 1, get_context("spawn"), max_tasks_per_child=1)
    futures = {}
    # The largest folders first: they take longest.
    for task in sorted(left, key=lambda task: -len(task.facts)):
        others = [fact for other in tasks if other.id != task.id for fact in other.facts if fact.is_insight]
        futures[pool.submit(partial(run_task, task, others, model, label, reports))] = task
    finished = 0
    try:
        for future in as_completed(futures, timeout=seconds):
            task, error = futures[future], future.exception()
            if error is not None:
                print(f"{task.id} failed: {type(error).__name__}: {error}", flush=True)
                continue
            row = future.result()
            with out.open("a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")
            finished += 1
            print(f"{task.id}: {row['insights_stated']} of {row['insights']} insights, {row['seconds']} s", flush=True)
    except TimeoutError:
        print(f"Stopped after {seconds:.0f} s with {finished} of {len(left)} tasks; run again to continue.", flush=True)
    for process in list(getattr(pool, "_processes", {}).values()):
        process.terminate()
    pool.shutdown(wait=False, cancel_futures=True)


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a file; none if it does not exist."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _share(rows: Sequence[dict[str, Any]], part: str, whole: str) -> str:
    total = sum(row[whole] for row in rows)
    return f"{sum(row[part] for row in rows) / total:.1%}".replace("%", " %") if total else "–"


def make_table(rows: Sequence[dict[str, Any]]) -> str:
    """Return the Markdown table of all rows: one column a model, shares over all facts of all tasks."""
    models = sorted({row["model"] for row in rows})
    by_model = {model: [row for row in rows if row["model"] == model] for model in models}

    def line(name: str, cell: Any) -> str:
        return f"| {name} | " + " | ".join(cell(by_model[model]) for model in models) + " |"

    def average(key: str, digits: int = 1) -> Any:
        return lambda rows: f"{mean(row[key] or 0 for row in rows):,.{digits}f}"

    shares = {
        "insight files found": ("gold_files_found", "gold_files"),
        "insight files cited (insight-file recall)": ("gold_files_cited", "gold_files"),
        "insights stated": ("insights_stated", "insights"),
        "· by chance (insights of other tasks)": ("others_stated", "others"),
        "gold figures and names in the report": ("marks_held", "marks"),
        "· by chance (those of other tasks)": ("other_marks_held", "other_marks"),
        "distractors stated": ("distractors_stated", "distractors"),
        "citation precision": ("citations_right", "citations"),
    }
    lines = [
        "| | " + " | ".join(models) + " |",
        "|---|" + "--:|" * len(models),
        line("tasks", lambda rows: f"{len(rows)}"),
        *(line(name, partial(_share, part=part, whole=whole)) for name, (part, whole) in shares.items()),
        line("cited files that matter", partial(_share, part="gold_files_cited", whole="files_cited")),
        line("files cited, of those in the folder", lambda rows: _share(rows, "files_cited", "files")),
        line("words a report", average("words", 0)),
        line("rounds", average("rounds")),
        line("searches", average("searches")),
        line("model calls", average("calls")),
        line("tokens", average("tokens", 0)),
        line("seconds", average("seconds")),
        line("CPU seconds", average("cpu_seconds")),
    ]
    return "\n".join(lines)
