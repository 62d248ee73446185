"""Measure how often the extractive model quotes evidence, over a question's own corpus and over another one.

``python -m bench.evidence``. The other corpus sometimes holds an answer too, so its share need not be zero.
"""

import asyncio
import json
from pathlib import Path

from suffice import settings
from suffice.models.extractive import ExtractiveModel
from suffice.prompts.writing import DraftAnswer
from suffice.search.corpus.search import CorpusSearch
from suffice.types import Note, Query

DATA = Path(__file__).parents[2] / "shared" / "data"
SETS = ("musique", "hotpotqa")
_QUESTIONS = 100


async def measure_answered(questions: str, corpus: str) -> float:
    """Return the share of questions for which something is quoted."""
    search = await CorpusSearch.open([DATA / corpus / "corpus.jsonl"], cache_dir=settings.load().cache_dir)
    model = ExtractiveModel(search.embed)
    lines = (DATA / questions / "questions.jsonl").read_text().splitlines()[:_QUESTIONS]
    answered = 0
    for task in (json.loads(line)["question"] for line in lines):
        hits = await search(Query(task), 10)
        notes = tuple(Note(hit.text, (f"[{number}]",), hit.title) for number, hit in enumerate(hits, 1))
        answered += bool((await model(DraftAnswer(task, notes, (), ()))).answer.answer)
    return answered / len(lines)


def main() -> None:
    print("| questions of | over the corpus of | quoted something |")
    print("|---|---|--:|")
    for questions in SETS:
        for corpus in SETS:
            print(f"| {questions} | {corpus} | {asyncio.run(measure_answered(questions, corpus)):.0%} |", flush=True)


if __name__ == "__main__":
    main()
