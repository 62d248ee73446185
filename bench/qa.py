"""Measure answers to questions with a known answer, without and with a language model.

    python -m bench.qa [--set NAME] [--limit N] [--half odd|even] [--model MODEL] [--absent] [--rows FILE]
    python -m bench.qa table FILE…
    python -m bench.qa openings FILE…

Each question of HotpotQA and MuSiQue (in ``../shared/data``, or ``--data FOLDER``) is asked with the defaults of ``suffice
ask``. Without ``--model`` there is no language model; ``--stop`` takes another gate than the default. ``--absent`` takes the
gold passages of each question out of the search: then every answer is a wrong one. ``--rows`` appends one line a question,
with figures and no text of the data sets unless ``--texts`` is given; started again with the same file, it continues.
``table`` shows such files; where they hold a model's answers and those without one, it adds the paired difference with its 95
% interval. ``openings`` shows, for a model that writes one sentence above the quotes, how many of these sentences the claim
check removed: of those with the gold answer and of those without it. Given ``bench/opening_labels.jsonl``, it shows the same
by label: each sentence was read beside the question, gold answer and gold passages, without the check's verdict, and called
an answer, true but no answer, false, or no statement.

Columns, as shares of the questions: the gold answer stands in the evidence (the passages that were found; without yes/no
questions), in the report, in its opening (the short answer, a written first sentence, or the first 600 characters of the
first excerpt), in the first sentence that a model wrote, in the first 600 characters of the report. A yes or no stands in any
text by chance, so such a question counts only by its short answer.
"""

import argparse
import asyncio
import json
import os
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.queues import Queue
from pathlib import Path
from typing import Any

from suffice.api import prepare_run
from suffice.engine.pipeline import run_pipeline
from suffice.events import Finished
from suffice.measure.answers import normalize_answer, token_f1
from suffice.memory.evidence import Evidence
from suffice.options import RunOptions
from suffice.prompts.writing import extract_first_sentence
from suffice.report.notices import NOTICES
from suffice.search.base import Search
from suffice.text.citations import strip_citations
from suffice.types import Passage, Query, Report

DATA = Path(__file__).parents[2] / "shared" / "data"
SETS = ("hotpotqa", "musique")
EXCERPT_CHARS = 600
SEED, DRAWS = 7, 5_000
SHARES = ("evidence", "report", "first", "sentence", "first_600")
COMPARED = ("report", "first", "first_600", "right", "f1", "recall")
HEAD = (
    "| set | model | questions | evidence | report | opening | written sentence | first 600 | short answer given | right | F1 "
    "| yes/no answered | right | refused | sufficient | claims supported | quotes only | recall | calls | tokens | characters "
    "| seconds |\n|---|---|" + "--:|" * 20
)


class WithoutPassages:
    """Wraps a search and leaves out the passages of the given records."""

    def __init__(self, wrapped: Search, left_out: Iterable[str] = ()) -> None:
        self._wrapped = wrapped
        self.left_out = frozenset(left_out)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        found = await self._wrapped(query, k + len(self.left_out))
        return [passage for passage in found if passage.id.split("#")[0] not in self.left_out][:k]


# -- Judging -----------------------------------------------------------------------------------------------------------


def holds(text: str, answers: Sequence[str]) -> bool:
    """Whether the text has one of the answers as whole words, without case, articles, punctuation and citations."""
    words = f" {normalize_answer(strip_citations(text))} "
    return any(f" {normalize_answer(answer)} " in words for answer in answers if normalize_answer(answer))


def judge(question: Mapping[str, Any], report: Report, evidence: Sequence[Passage], seconds: float) -> dict[str, Any]:
    """Return what one report is worth; ``None`` where a figure does not apply."""
    golds = [question["answer"], *question.get("aliases", ())]
    is_yes_no = question["answer"].lower() in ("yes", "no")
    notices = {f"> {notice}" for notice in NOTICES}
    text = "\n".join(line for line in report.final_answer.splitlines() if line.strip() not in notices).strip()
    short = report.short_answer or ""
    is_quoted = any(notice.kind == "unsupported_draft" for notice in report.notices)
    is_written = report.metadata.get("writer") is not None and not is_quoted
    sentence = extract_first_sentence(text) if is_written else ""
    excerpt = f"{report.excerpts[0].title}\n{report.excerpts[0].text[:EXCERPT_CHARS]}" if report.excerpts else ""
    right = bool(short) and normalize_answer(short) in {normalize_answer(gold) for gold in golds}
    supported = [claim.support in ("supported", "unknown") for claim in report.claims]
    found = {passage.id.split("#")[0] for passage in evidence}
    opening, is_opening_right = judge_opening(report, text, golds, is_quoted=is_quoted)
    usage = report.usage
    return {
        "evidence": None if is_yes_no else any(holds(f"{item.title} {item.text}", golds) for item in evidence),
        "report": right if is_yes_no else holds(f"{short} {text}", golds),
        "first": right if is_yes_no else any(holds(part, golds) for part in (short, sentence, excerpt)),
        "sentence": None if is_yes_no or not is_written else holds(sentence, golds),
        "first_600": right if is_yes_no else holds(text[:EXCERPT_CHARS], golds),
        "given": bool(short),
        "right": right,
        "f1": round(token_f1(short, golds), 4) if short else 0.0,
        "yes_no": short.lower() in ("yes", "no") if is_yes_no else None,
        "refused": report.status == "no_evidence",
        "status": report.status,
        "sufficiency": report.stop.sufficiency,
        "supported": statistics.mean(supported) if supported else None,
        "quoted_only": is_quoted,
        "opening": opening,
        "opening_right": None if is_yes_no else is_opening_right,
        "recall": round(len(found & set(question["gold"])) / len(question["gold"]), 4),
        "rounds": len(report.stop.rounds),
        "calls": usage.calls,
        "tokens": usage.input_tokens + usage.output_tokens,
        "by_role": {role: spent.input_tokens + spent.output_tokens for role, spent in usage.by_role.items()},
        "characters": len(text),
        "seconds": seconds,
        "writer": report.metadata.get("writer"),
        "skipped": sorted(report.metadata.get("skipped", ())),
        "failures": sorted({f"{failure.where}:{failure.kind}" for failure in report.error_log}),
    }


def judge_opening(
    report: Report, text: str, golds: Sequence[str], *, is_quoted: bool
) -> tuple[str | None, bool | None]:
    """Return whether the claim check kept or removed the one sentence of a small model, and whether it had the gold answer
    as it was written; ``None`` without such a sentence.

    ``is_quoted`` says that the sentence was lost; then the report lists it. A sentence of which a part was removed is kept.
    """
    if report.metadata.get("writer") != "sentence" or report.status == "failed":
        return None, None
    # All other statements of the report are quotes, which the check does not remove.
    removed = " ".join(claim.text for claim in report.removed)
    if is_quoted:
        return "removed", holds(removed, golds)
    sentence = extract_first_sentence(text)
    if not sentence or not text.startswith(sentence) or sentence.startswith("**Short answer:**"):
        return None, None
    return "kept", holds(f"{sentence} {removed}", golds)


# -- Running -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Job:
    """Questions of one set for one process."""

    folder: Path
    questions: Sequence[Mapping[str, Any]]
    model: str
    absent: bool
    concurrency: int
    texts: bool
    rows: Path
    stop: str | None


async def run_job(job: Job) -> None:
    """Ask the questions of a job and append a row for each."""
    options = RunOptions(docs=str(job.folder / "corpus.jsonl"), model=job.model, stop=job.stop)
    slots = asyncio.Semaphore(job.concurrency)

    async def ask(question: Mapping[str, Any]) -> None:
        async with slots:
            evidence, start = Evidence(), time.perf_counter()
            prepared = await prepare_run(question["question"], options)  # The default gate depends on the question.
            search = WithoutPassages(prepared.search, question["gold"]) if job.absent else prepared.search
            # No question may learn from another one what the model is not worth asking for.
            profile = replace(prepared.profile, skipped={})
            config = replace(prepared, search=search, evidence=evidence, profile=profile)
            async with aclosing(run_pipeline(config)) as events:
                async for event in events:
                    if isinstance(event, Finished):
                        report = event.report
        row = {"set": job.folder.name, "model": job.model, "absent": job.absent, "id": question["id"]}
        row |= judge(question, report, list(evidence), time.perf_counter() - start)
        if job.texts:
            row |= {"question": question["question"], "gold": question["answer"], "text": report.final_answer}
            row |= {"short_answer": report.short_answer, "summary": report.summary}
            row |= {"left_out": [claim.text for claim in report.removed]}
        append_line(job.rows, json.dumps(row, ensure_ascii=False))

    await asyncio.gather(*map(ask, job.questions))


def append_line(path: Path, line: str) -> None:
    """Append a line in one call, because several processes write to the file."""
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(file, f"{line}\n".encode())
    finally:
        os.close(file)


def pin_to_core(cores: "Queue[int]") -> None:
    """Keep this process on a core of its own: otherwise each of them starts a thread for every core."""
    os.sched_setaffinity(0, {cores.get()})


def make_pool(processes: int) -> ProcessPoolExecutor:
    """Return a pool of processes, each on a core of its own."""
    spawn, available = get_context("spawn"), sorted(os.sched_getaffinity(0))
    cores: Queue[int] = spawn.Queue()
    for number in range(processes):
        cores.put(available[number % len(available)])
    return ProcessPoolExecutor(processes, spawn, initializer=pin_to_core, initargs=(cores,))


def run_in_process(job: Job) -> None:
    asyncio.run(run_job(job))


def run_jobs(jobs: Sequence[Job], processes: int) -> None:
    """Run the jobs, in this process or in several."""
    if processes == 1:
        for job in jobs:
            run_in_process(job)
        return
    with make_pool(processes) as pool:
        for future in [pool.submit(run_in_process, job) for job in jobs]:
            future.result()


def load_questions(folder: Path, limit: int | None = None, half: str | None = None) -> list[dict[str, Any]]:
    """Return the questions of a set in the order of its file; of a half only those with an odd or even number, from 0."""
    lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    start, step = {None: (0, 1), "even": (0, 2), "odd": (1, 2)}[half]
    return [json.loads(line) for line in lines[start::step]][:limit]


def measure(options: argparse.Namespace, rows: Path) -> None:
    """Ask what the file of rows does not have yet."""
    done = {(row["set"], row["model"], row["absent"], row["id"]) for row in read_rows(rows)}
    jobs = []
    for name in options.set or SETS:
        folder = options.data / name
        left = [
            question
            for question in load_questions(folder, options.limit, options.half)
            if (name, options.model, options.absent, question["id"]) not in done
        ]
        concurrency = options.concurrency or (1 if options.model == "extractive" else 12)
        shares = (left[number :: options.processes] for number in range(options.processes))
        settings = (options.model, options.absent, concurrency, options.texts, rows, options.stop)
        jobs += [Job(folder, share, *settings) for share in shares if share]
    run_jobs(jobs, options.processes)


# -- Tables ------------------------------------------------------------------------------------------------------------


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def mean(values: Iterable[float | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None


def show(value: float | None, places: int = 2) -> str:
    return "–" if value is None else f"{value:,.{places}f}"


def format_row(name: str, model: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Return a row of the table."""
    short = [row for row in rows if row["given"]]
    yes_no = [row for row in rows if row["yes_no"] is not None]
    decided = [row for row in yes_no if row["yes_no"]]
    cells = [
        str(len(rows)),
        *(show(mean(row[key] for row in rows)) for key in SHARES),
        str(len(short)),
        show(mean(row["right"] for row in short)),
        show(mean(row["f1"] for row in rows)),
        f"{len(decided)} of {len(yes_no)}",
        show(mean(row["right"] for row in decided)),
        show(mean(row["refused"] for row in rows)),
        show(mean(row["sufficiency"] == "yes" for row in rows)),
        show(mean(row["supported"] for row in rows), 3),
        show(mean(row["quoted_only"] for row in rows)),
        show(mean(row["recall"] for row in rows)),
        show(mean(row["calls"] for row in rows), 1),
        show(mean(row["tokens"] for row in rows), 0),
        show(mean(row["characters"] for row in rows if not row["refused"]), 0),
        show(statistics.median(row["seconds"] for row in rows)),
    ]
    return f"| {name} | {model} | " + " | ".join(cells) + " |"


def paired_interval(differences: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean difference and its bootstrap 95 % interval."""
    import numpy as np

    values = np.array(differences)
    draws = np.random.default_rng(SEED).integers(0, len(values), (DRAWS, len(values)))
    low, high = np.percentile(values[draws].mean(axis=1), [2.5, 97.5])
    return float(values.mean()), float(low), float(high)


def format_table(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return a row a set and model, and the differences of each model to ``extractive`` on the same questions."""
    groups: dict[tuple[str, bool, str], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for row in rows:
        groups[row["set"], row["absent"], row["model"]][row["id"]] = row
    lines = [HEAD]
    for (name, absent, model), own in sorted(groups.items()):
        lines.append(format_row(name + (", answer absent" if absent else ""), model, list(own.values())))
    for (name, absent, model), own in sorted(groups.items()):
        other = groups.get((name, absent, "extractive"), {})
        if model == "extractive" or not own.keys() & other.keys():
            continue
        lines += ["", f"{name}{', answer absent' if absent else ''}: {model} − extractive"]
        for column in COMPARED:
            pairs = [(own[key][column], other[key][column]) for key in own.keys() & other.keys()]
            differences = [float(a) - float(b) for a, b in pairs if a is not None and b is not None]
            value, low, high = paired_interval(differences)
            lines.append(f"- {column}: {value:+.3f} [{low:+.3f}, {high:+.3f}] ({len(differences)} pairs)")
    return "\n".join(lines)


def format_openings(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return which share of a model's openings the claim check removed: of those with the gold answer, and of the others.

    A check that tells them apart removes more of the others.
    """
    rows = list(rows)
    if all("label" in row for row in rows):
        return format_labelled(rows)
    counts: dict[tuple[str, str, bool], dict[bool, list[bool]]] = defaultdict(lambda: {True: [], False: []})
    unknown = 0
    for row in {(row["set"], row["absent"], row["model"], row["id"]): row for row in rows}.values():
        if row.get("opening") is None or row["yes_no"] is not None:
            continue
        if row["opening_right"] is None:
            unknown += 1
            continue
        counts[row["set"], row["model"], row["absent"]][row["opening_right"]].append(row["opening"] == "removed")
    lines = [
        "| set | model | openings with the gold answer | of them removed | without it | of them removed | difference |",
        "|---|---|--:|--:|--:|--:|--:|",
    ]
    for (name, model, absent), found in sorted(counts.items()):
        right, wrong = found[True], found[False]
        shares = [f"{sum(own)} ({sum(own) / len(own):.0%})" if own else "–" for own in (right, wrong)]
        difference = "–"
        if right and wrong:
            value, low, high = share_difference(wrong, right)
            difference = f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"
        label = name + (", answer absent" if absent else "")
        lines.append(f"| {label} | {model} | {len(right)} | {shares[0]} | {len(wrong)} | {shares[1]} | {difference} |")
    lines += ["", "Without yes/no questions and runs that failed; the difference of the shares with its 95 % interval."]
    if unknown:
        lines.append(f"Removed openings that are not counted, because their report does not list them: {unknown}.")
    return "\n".join(lines)


def format_labelled(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return which share of the openings the claim check removed, by label, and how much more of the false ones."""
    removed: dict[str, dict[str, list[bool]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        removed[row["set"]][row["label"]].append(row["opening"] == "removed")
    lines = [
        "| set | answers | of them removed | true, no answer | removed | false | removed | states nothing | removed "
        "| unclear | removed | false − true |",
        "|---|" + "--:|" * 11,
    ]
    for name, found in sorted(removed.items()):
        cells = [name]
        for label in ("answers", "true", "false", "nothing", "unclear"):
            own = found[label]
            cells += [str(len(own)), f"{sum(own) / len(own):.0%}" if own else "–"]
        value, low, high = share_difference(found["false"], found["answers"] + found["true"])
        lines.append("| " + " | ".join([*cells, f"{value:+.2f} [{low:+.2f}, {high:+.2f}]"]) + " |")
    return "\n".join(lines)


def share_difference(first: Sequence[bool], second: Sequence[bool]) -> tuple[float, float, float]:
    """Return the difference of two shares of different questions, and its bootstrap 95 % interval."""
    import numpy as np

    draw = np.random.default_rng(SEED)
    shares = [draw.binomial(len(own), sum(own) / len(own), DRAWS) / len(own) for own in (first, second)]
    low, high = np.percentile(shares[0] - shares[1], [2.5, 97.5])
    return sum(first) / len(first) - sum(second) / len(second), float(low), float(high)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", nargs="?", choices=["ask", "table", "openings"], default="ask")
    parser.add_argument("files", nargs="*", type=Path, help="rows to show")
    parser.add_argument("--set", action="append", choices=SETS, help="default: both")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the sets")
    parser.add_argument("--limit", type=int, help="the first N questions of each set")
    parser.add_argument("--half", choices=["odd", "even"], help="only the questions with such a number, counted from 0")
    parser.add_argument("--model", default="extractive")
    parser.add_argument("--stop", help="the stop gate; default: that of suffice ask")
    parser.add_argument("--absent", action="store_true", help="without the gold passages of each question")
    parser.add_argument("--rows", type=Path, help="append one JSON object a question to this file")
    parser.add_argument("--texts", action="store_true", help="with question, gold answer and report in the rows")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--concurrency", type=int, help="questions at a time in each process; default 1, of a model 12")
    options = parser.parse_args()
    if options.command != "ask":
        if missing := [str(path) for path in options.files if not path.is_file()]:
            parser.error(f"there is no file {', '.join(missing)}")
        if not options.files:
            parser.error(f"{options.command} needs a file of rows")
        rows_found = [row for path in options.files for row in read_rows(path)]
        print(format_table(rows_found) if options.command == "table" else format_openings(rows_found))
        return
    with tempfile.TemporaryDirectory() as folder:
        rows = options.rows or Path(folder) / "rows.jsonl"
        measure(options, rows)
        print(format_table(read_rows(rows)))


if __name__ == "__main__":
    main()
