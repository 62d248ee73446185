"""Measure answers to questions with a known answer: ``python -m bench.qa [--set NAME] [--limit N] [--model MODEL]``.

Each question of HotpotQA and MuSiQue (in ``../shared/data``) is asked with the defaults of ``suffice ask``. Without
``--model`` there is no language model. The table says how often the gold answer stands in the evidence (the passages that
were found), in the report, in the first excerpt (its first 600 characters) or first sentence, and how good the short answer
is. ``--absent`` takes the gold passages of each question out of the search: then every answer is a wrong one.
"""

import argparse
import asyncio
import json
import statistics
import time
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from typing import Any

from suffice.api import prepare_run
from suffice.engine.pipeline import run_pipeline
from suffice.events import Finished
from suffice.measure.answers import normalize_answer, token_f1
from suffice.memory.evidence import Evidence
from suffice.options import RunOptions
from suffice.search.base import Search
from suffice.text.markdown import strip_markdown
from suffice.text.sentences import split_sentences
from suffice.types import Passage, Query, Report

DATA = Path(__file__).parents[2] / "shared" / "data"
SETS = ("hotpotqa", "musique")
EXCERPT_CHARS = 600
HEAD = (
    "| set | questions | evidence | report | first | short answer given | right | F1 | yes/no answered | right | refused "
    "| sufficient | claims supported | characters | seconds |\n|---|" + "--:|" * 14
)


class WithoutPassages:
    """Wraps a search and leaves out the passages of the given records."""

    def __init__(self, wrapped: Search) -> None:
        self._wrapped = wrapped
        self.left_out: frozenset[str] = frozenset()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wrapped, name)

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        found = await self._wrapped(query, k + len(self.left_out))
        return [passage for passage in found if passage.id.split("#")[0] not in self.left_out][:k]


def holds(text: str, answers: list[str]) -> bool:
    """Whether the text has one of the answers as whole words, without case, articles and punctuation."""
    words = f" {normalize_answer(text)} "
    return any(f" {normalize_answer(answer)} " in words for answer in answers if normalize_answer(answer))


def judge(question: dict[str, Any], report: Report, evidence: list[Passage], seconds: float) -> dict[str, Any]:
    """Return what one report is worth."""
    golds = [question["answer"], *question.get("aliases", [])]
    is_yes_no = question["answer"].lower() in ("yes", "no")
    short = report.short_answer or ""
    if report.excerpts:
        first = f"{report.excerpts[0].title}\n{report.excerpts[0].text[:EXCERPT_CHARS]}"
    else:
        plain = strip_markdown(report.final_answer.replace("> ", ""))
        first = next((plain[start:end] for start, end in split_sentences(plain)), "")
    supported = [claim.support in ("supported", "unknown") for claim in report.claims]
    return {
        "id": question["id"],
        "evidence": is_yes_no or any(holds(f"{item.title} {item.text}", golds) for item in evidence),
        "report": holds(f"{short} {report.final_answer}", golds),
        "first": holds(f"{short} {first}", golds),
        "short": short,
        "right": bool(short) and normalize_answer(short) in {normalize_answer(gold) for gold in golds},
        "f1": token_f1(short, golds) if short else 0.0,
        "yes_no": is_yes_no,
        "answered_yes_no": is_yes_no and short.lower() in ("yes", "no"),
        "refused": report.status == "no_evidence",
        "sufficiency": report.stop.sufficiency,
        "supported": statistics.mean(supported) if supported else None,
        "characters": len(report.final_answer),
        "seconds": seconds,
    }


async def measure(name: str, limit: int | None, model: str, absent: bool) -> list[dict[str, Any]]:
    """Ask all questions of a set."""
    folder = DATA / name
    questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines()][:limit]
    options = RunOptions(docs=str(folder / "corpus.jsonl"), model=model)
    first = await prepare_run(questions[0]["question"], options)
    search = WithoutPassages(first.search)
    rows = []
    for question in questions:
        search.left_out = frozenset(question["gold"]) if absent else frozenset()
        evidence, start = Evidence(), time.perf_counter()
        config = replace(first, task=question["question"], search=search, evidence=evidence)
        async with aclosing(run_pipeline(config)) as events:
            async for event in events:
                if isinstance(event, Finished):
                    rows.append(judge(question, event.report, list(evidence), time.perf_counter() - start))
    return rows


def format_row(name: str, rows: list[dict[str, Any]]) -> str:
    """Return a row of the table."""

    def share(values: list[bool]) -> str:
        return f"{statistics.mean(values):.2f}" if values else "–"

    short = [row for row in rows if row["short"]]
    yes_no = [row for row in rows if row["yes_no"]]
    decided = [row for row in yes_no if row["answered_yes_no"]]
    supported = [row["supported"] for row in rows if row["supported"] is not None]
    answered = [row["characters"] for row in rows if not row["refused"]]
    cells = [
        str(len(rows)),
        *(share([row[key] for row in rows]) for key in ("evidence", "report", "first")),
        f"{len(short)}",
        share([row["right"] for row in short]),
        f"{statistics.mean([row['f1'] for row in rows]):.2f}",
        f"{len(decided)} of {len(yes_no)}",
        share([row["right"] for row in decided]),
        share([row["refused"] for row in rows]),
        share([row["sufficiency"] == "yes" for row in rows]),
        f"{statistics.mean(supported):.3f}" if supported else "–",
        f"{statistics.mean(answered):,.0f}" if answered else "–",
        f"{statistics.median([row['seconds'] for row in rows]):.2f}",
    ]
    return f"| {name} | " + " | ".join(cells) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", choices=SETS, help="default: both")
    parser.add_argument("--limit", type=int, help="the first N questions of each set")
    parser.add_argument("--model", default="extractive")
    parser.add_argument("--absent", action="store_true", help="without the gold passages of each question")
    parser.add_argument("--rows", type=Path, help="write one JSON object a question to this file")
    options = parser.parse_args()
    print(HEAD)
    for name in options.set or SETS:
        rows = asyncio.run(measure(name, options.limit, options.model, options.absent))
        print(format_row(name + (", answer absent" if options.absent else ""), rows), flush=True)
        if options.rows:
            with options.rows.open("a", encoding="utf-8") as file:
                file.writelines(json.dumps({"set": name, **row}, ensure_ascii=False) + "\n" for row in rows)


if __name__ == "__main__":
    main()
