"""Measure the answers of a language model against those without one, on HotpotQA and MuSiQue.

    python -m bench.qa_model run --data FOLDER … [--model openai] [--questions 300] [--processes 2] --out rows.jsonl
    python -m bench.qa_model table rows.jsonl

A folder has ``corpus.jsonl`` and ``questions.jsonl``. ``run`` appends one line per question and model, with figures and no
text of the data set unless ``--texts`` is given; started again, it continues. ``--model extractive`` gives the other half of
the comparison. ``table`` prints, per data set and model: the share of questions whose gold answer stands in the evidence, in
the report, in its first sentence or excerpt, in its first 600 characters and as the short answer; yes/no questions that got the
right word; the tokens and calls of a run; and the paired difference to ``extractive`` with its 95 % interval.
"""

import argparse
import asyncio
import json
import os
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from multiprocessing.queues import Queue
from pathlib import Path
from random import Random
from typing import Any

SEED = 7
DRAWS = 5_000
FIRST_CHARS = 600
COLUMNS = ("evidence", "report", "first", "first_600", "short", "short_f1", "yes_no")
_CITATION = re.compile(r"\s*\[\d{1,4}\]")


def load_questions(folder: Path, count: int) -> list[dict[str, Any]]:
    """Return ``count`` questions of a data set in an order that does not depend on the count."""
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()]
    Random(SEED).shuffle(questions)
    return questions[:count]


def normalize(text: str) -> str:
    """Return the words of a text in lower case, without citations, punctuation and articles, between spaces."""
    from suffice.measure.answers import _tokenize_answer

    return f" {' '.join(_tokenize_answer(_CITATION.sub(' ', text)))} "


def holds(text: str, truths: Sequence[str]) -> bool:
    return any(normalize(truth).strip() and normalize(truth) in normalize(text) for truth in truths)


def strip_notices(answer: str) -> str:
    """Return an answer without the notices above it."""
    from suffice.report.build import NOTICES

    notices = {f"> {notice}" for notice in NOTICES}
    return "\n".join(line for line in answer.splitlines() if line.strip() not in notices).strip()


def find_opening(report: Any, text: str, *, is_written: bool) -> str:
    """Return the first sentence of a written answer; of a quoted one the first excerpt, at most 600 characters of it."""
    from suffice.prompts.writing import extract_first_sentence

    if is_written and (sentence := extract_first_sentence(text)):
        return sentence
    if report.excerpts:
        return str(report.excerpts[0].text)[:FIRST_CHARS]
    lines = (line.strip(" -*>") for line in text.splitlines() if not line.startswith("#"))
    return next((line for line in lines if line), "")


def score(question: Mapping[str, Any], report: Any, passages: Sequence[Any]) -> dict[str, Any]:
    """Return the figures of one answer; ``None`` where a figure does not apply."""
    from suffice.measure.answers import token_f1

    truths = [question["answer"], *question.get("aliases", ())]
    text = strip_notices(report.final_answer)
    is_quoted = any(failure.kind == "Unsupported" for failure in report.error_log)
    first = find_opening(report, text, is_written=report.metadata.get("writer") is not None and not is_quoted)
    short = report.short_answer or ""
    is_yes_no = question["answer"].lower() in ("yes", "no")
    found = {passage.id.partition("#")[0] for passage in passages}
    named = (
        None
        if is_yes_no
        else {  # A yes or no stands in any text by chance.
            "evidence": any(holds(f"{passage.title} {passage.text}", truths) for passage in passages),
            "report": holds(text, truths),
            "first": holds(first, truths),
            "first_600": holds(text[:FIRST_CHARS], truths),
        }
    )
    usage = report.usage
    return {
        **(named or dict.fromkeys(("evidence", "report", "first", "first_600"))),
        "short": any(normalize(short) == normalize(truth) for truth in truths),
        "short_f1": round(token_f1(short, truths), 4),
        "yes_no": normalize(short or first).split()[:1] == [question["answer"].lower()] if is_yes_no else None,
        "recall": round(len(found & set(question["gold"])) / len(question["gold"]), 4),
        "tokens": usage.input_tokens + usage.output_tokens,
        "calls": usage.calls,
        "rounds": len(report.stop.rounds),
        "chars": len(text),
        "seconds": usage.seconds,
        "status": report.status,
        "by_role": {role: spent.input_tokens + spent.output_tokens for role, spent in usage.by_role.items()},
        "writer": report.metadata.get("writer"),
        "skipped": sorted(report.metadata.get("skipped", ())),
        "quoted_only": is_quoted,
        "failures": sorted({f"{failure.where}:{failure.kind}" for failure in report.error_log}),
    }


async def run_questions(
    folder: Path, model: str, questions: Sequence[Mapping[str, Any]], out: Path, concurrency: int, texts: bool
) -> None:
    """Answer questions over one corpus and append a line for each."""
    from suffice.api import prepare_run
    from suffice.engine.pipeline import run_pipeline
    from suffice.events import Finished
    from suffice.memory.evidence import Evidence
    from suffice.models.capability import ModelEvidence
    from suffice.options import RunOptions

    first = await prepare_run("Who was it?", RunOptions(docs=str(folder / "corpus.jsonl"), model=model))
    limit = asyncio.Semaphore(concurrency)

    async def answer(question: Mapping[str, Any]) -> None:
        async with limit:
            evidence = Evidence()
            profile = replace(first.profile, skipped={}, known=ModelEvidence(), seen=ModelEvidence())
            config = replace(first, task=question["question"], profile=profile, evidence=evidence)
            async for event in run_pipeline(config):
                if isinstance(event, Finished):
                    report = event.report
        row = {"data": folder.name, "model": model, "id": question["id"], **score(question, report, list(evidence))}
        if texts:
            row |= {
                "question": question["question"],
                "gold": question["answer"],
                "text": report.final_answer,
                "short_answer": report.short_answer,
                "summary": report.summary,
                "left_out": [line for line in report.open_questions if line.startswith("Left out")],
            }
        append_line(out, json.dumps(row, ensure_ascii=False))

    await asyncio.gather(*map(answer, questions))


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


def run_share(*arguments: Any) -> None:
    asyncio.run(run_questions(*arguments))


def run_all(options: argparse.Namespace) -> None:
    done = {(row["data"], row["model"], row["id"]) for row in read_rows(options.out)}
    jobs = []
    for folder in options.data:
        left = [
            question
            for question in load_questions(folder, options.questions)
            if (folder.name, options.model, question["id"]) not in done
        ]
        jobs += [(folder, left[number :: options.processes]) for number in range(options.processes)]
    spawn, available = get_context("spawn"), sorted(os.sched_getaffinity(0))
    cores: Queue[int] = spawn.Queue()
    for number in range(options.processes):
        cores.put(available[number % len(available)])
    with ProcessPoolExecutor(options.processes, spawn, initializer=pin_to_core, initargs=(cores,)) as pool:
        rest = (options.out, options.concurrency, options.texts)
        pending = [pool.submit(run_share, folder, options.model, share, *rest) for folder, share in jobs if share]
        for future in pending:
            future.result()


def read_rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def mean(values: Sequence[float | None]) -> float | None:
    known = [float(value) for value in values if value is not None]
    return sum(known) / len(known) if known else None


def paired_interval(differences: Sequence[float]) -> tuple[float, float, float]:
    """Return the mean difference and its bootstrap 95 % interval."""
    import numpy as np

    values = np.array(differences)
    draws = np.random.default_rng(SEED).integers(0, len(values), (DRAWS, len(values)))
    low, high = np.percentile(values[draws].mean(axis=1), [2.5, 97.5])
    return float(values.mean()), float(low), float(high)


def print_table(rows: Sequence[Mapping[str, Any]]) -> None:
    groups: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    for row in rows:
        groups[row["data"], row["model"]][row["id"]] = row
    columns = (*COLUMNS, "recall", "rounds", "calls", "tokens", "chars")
    print(
        f"| data | model | n | {' | '.join(columns)} | answered | quotes only |\n|---|---|--:|{'--:|' * (len(columns) + 2)}"
    )
    for (data, model), own in sorted(groups.items()):
        cells = [mean([row[name] for row in own.values()]) for name in columns]
        shown = ["–" if cell is None else f"{cell:.3f}" if cell <= 1 else f"{cell:,.1f}" for cell in cells]
        answered = mean([row["status"] == "answered" for row in own.values()])
        quoted = mean([row["quoted_only"] for row in own.values()])
        print(f"| {data} | {model} | {len(own)} | {' | '.join(shown)} | {answered:.3f} | {quoted:.3f} |")
    for (data, model), own in sorted(groups.items()):
        other = groups.get((data, "extractive"), {})
        if model == "extractive" or not other:
            continue
        for name in ("report", "first", "first_600", "short", "short_f1", "recall"):
            pairs = [(own[key][name], other[key][name]) for key in own.keys() & other.keys()]
            differences = [float(a) - float(b) for a, b in pairs if a is not None and b is not None]
            value, low, high = paired_interval(differences)
            print(
                f"{data}, {model} − extractive, {name}: {value:+.3f} [{low:+.3f}, {high:+.3f}] ({len(differences)} pairs)"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run")
    run.add_argument("--data", type=Path, action="append", required=True)
    run.add_argument("--model", default="openai")
    run.add_argument("--questions", type=int, default=300)
    run.add_argument("--processes", type=int, default=2)
    run.add_argument("--concurrency", type=int, default=12, help="questions at a time in each process")
    run.add_argument("--texts", action="store_true", help="store question and answer too")
    run.add_argument("--out", type=Path, required=True)
    table = commands.add_parser("table")
    table.add_argument("rows", type=Path, nargs="+")
    options = parser.parse_args()
    if options.command == "run":
        run_all(options)
    else:
        print_table([row for path in options.rows for row in read_rows(path)])


if __name__ == "__main__":
    main()
