"""A tiny made-up data set, and a scripted model that plays every harness over it."""

import asyncio
import json
from itertools import count
from pathlib import Path

import pytest

from suffice.lab.data import LabQuestion
from suffice.lab.episode import EpisodeParts, run_episode
from suffice.lab.experiment import Cell
from suffice.memory.base import BeliefLimits
from suffice.prompts.agents import MemGPTStepResponse, ReActStepResponse
from suffice.prompts.base import TextResponse
from suffice.prompts.belief import ExtractedFact, Extraction
from suffice.prompts.judging import JudgeProgressResponse
from suffice.prompts.lab import GradeResponse, NotesResponse
from suffice.testing import FixtureSearch, ScriptedModel, make_passage

TASK = "Where was the founder of the works that built the Meridian bridge born?"
PASSAGES = [
    make_passage("p1", "The Meridian bridge was built by Halloran Works. It spans the Mur.", "Meridian bridge"),
    make_passage("p2", "Halloran Works was founded by Ida Halloran in 1850.", "Halloran Works"),
    make_passage("p3", "Ida Halloran was born in Trieste.", "Ida Halloran"),
    make_passage("p4", "Graz lies on the river Mur.", "Graz"),
]
QUESTION = LabQuestion("q1", TASK, ("Trieste",), frozenset({"p1", "p2", "p3"}), "3hop", Path("corpus.jsonl"))
# Round by round: what the harness writes, what it searches for, and what it then sees.
STEPS = [
    "alpha thought about Halloran",
    "beta thought about Ida",
    "gamma thought about Graz",
    "delta thought on rivers",
]


def make_cell(harness="ircot", memory="baseline", gate="none", *, rounds=4, k=1, limits=BeliefLimits()) -> Cell:
    return Cell(harness, memory, gate, k, 0.5, limits, rounds)


class OneByOne(FixtureSearch):
    """A search that returns the next passage each time, whatever is asked."""

    async def __call__(self, query, k):
        self.queries.append(query.text)
        return [PASSAGES[(len(self.queries) - 1) % len(PASSAGES)]]


def play_model(**others) -> ScriptedModel:
    """Return a model whose thoughts name the step; memories cite what they see."""
    step = count()
    extract = count(1)

    def note(prompt):
        seen = " ".join(observed.text for observed in prompt.observation)
        return NotesResponse(f"Notes {next(extract)}: {seen}", (), (f"open question {prompt.observation[0].title}",))

    def fact(prompt):
        first = prompt.observation[0]
        return Extraction((ExtractedFact(first.text, first.handles),), (), (f"open question {first.title}",))

    script = {
        "thought": [lambda prompt: TextResponse(STEPS[next(step)])],
        "act": [lambda prompt: ReActStepResponse(STEPS[n := next(step)], "Search", f"query {STEPS[n]}")],
        "step": [
            lambda prompt: MemGPTStepResponse(STEPS[n := next(step)], "archival_search", {"query": f"query {STEPS[n]}"})
        ],
        "short_answer": [lambda prompt: TextResponse(f"answer {STEPS[next(step)]}")],
        "extract": [fact],
        "notes": [note],
        "answer_from_memory": [TextResponse("Trieste")],
        "grade": [GradeResponse(90, 80, 20)],
        "judge": [JudgeProgressResponse("PRODUCTIVE")],
        "judge_neutral": [JudgeProgressResponse("EXHAUSTED")],
        **others,
    }
    return ScriptedModel(script)


@pytest.fixture
def episode():
    """Run one question; return its row, the model with its prompts, and the search with its queries."""

    def go(cell=None, question=QUESTION, *, model=None, search=None, **parts):
        model, search = model or play_model(), search or OneByOne()
        row = asyncio.run(run_episode(cell or make_cell(), question, EpisodeParts(search, model, **parts)))
        return row, model, search

    return go


@pytest.fixture
def tiny(tmp_path) -> Path:
    """A folder of our own format: four passages, three questions."""
    folder = tmp_path / "tiny"
    folder.mkdir()
    passages = [{"id": passage.id, "title": passage.title, "text": passage.text} for passage in PASSAGES]
    questions = [
        {"id": "q1", "question": TASK, "answer": "Trieste", "gold": ["p1", "p2", "p3"], "kind": "3hop1"},
        {
            "id": "q2",
            "question": "Who founded Halloran Works?",
            "answer": "Ida Halloran",
            "gold": ["p2"],
            "kind": "2hop",
        },
        {"id": "q3", "question": "Who painted the Meridian bridge?", "answer": None, "gold": [], "kind": "none"},
    ]
    (folder / "corpus.jsonl").write_text("".join(json.dumps(item) + "\n" for item in passages))
    (folder / "questions.jsonl").write_text("".join(json.dumps(item) + "\n" for item in questions))
    return folder
