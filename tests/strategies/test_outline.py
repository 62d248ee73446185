"""The first round, the outline, the least covered topic each round, selection of passages, latent topics."""

import asyncio

import numpy
import pytest

from suffice.engine.loop import run_loop
from suffice.errors import ModelError
from suffice.events import TopicsCovered
from suffice.gates.parse import parse_gate
from suffice.memory.trajectory import TrajectoryMemory
from suffice.meters import build_meters
from suffice.models.extractive import ExtractiveModel
from suffice.prompts.base import TextResponse
from suffice.prompts.outline import OutlineResponse
from suffice.prompts.planning import PlannedQuery, PlanResponse, ProposeQueryResponse
from suffice.state.run import RunState
from suffice.strategies.outline import INITIAL_TOPICS, MAX_TOPICS, OutlineStrategy
from suffice.testing import FixtureSearch, ScriptedModel, WordSearch, make_passage

TASK = "Compare Copper with Silver"
METALS = ("copper", "silver", "tin", "lead", "iron", "gold")
PLAN = PlanResponse((PlannedQuery("metals"),))


def embed(texts):
    """Embed in one direction for each metal and one for everything else."""
    rows = numpy.array([[float(metal in text.lower()) for metal in METALS] + [0.1] for text in texts])
    return rows / numpy.linalg.norm(rows, axis=1, keepdims=True)


def found(*metals):
    return [
        make_passage(f"{metal}{n}", f"{metal} note {n}", metal.title(), score=0.5) for n, metal in enumerate(metals)
    ]


def model(topics=("copper", "silver"), gap=lambda prompt: ProposeQueryResponse(f"more about {prompt.part}"), **script):
    return ScriptedModel(
        {
            "plan": [PLAN],
            "outline": [topics if isinstance(topics, Exception) else OutlineResponse(tuple(topics))],
            "hypothetical": [lambda prompt: TextResponse(f"{prompt.topic} would be a metal")],
            "gap": [gap],
            "label": [TextResponse("")],
            **script,
        }
    )


def ran(model, search, gate="budget(rounds=4)", *, task=TASK, embed=embed, **options):
    run = RunState(task, model, TrajectoryMemory, run_id="r", embed=embed)
    stop = parse_gate(gate)

    async def main():
        meters = build_meters(stop.needs, task, embed)
        await run_loop(run, search, OutlineStrategy(), stop, meters, **options)
        return run.event_queue.drain()

    ended = asyncio.run(main())[-1].stop
    return [record.queries for record in run.records], run, ended


def prompts_of(model, role):
    return [prompt for prompt in model.prompts if prompt.role == role]


def test_the_choice_sees_fifteen_passages_before_it_keeps_k():
    """The search ranks the passage about silver twelfth; the hypothetical answer finds it."""
    ranked = [make_passage(f"p{n}", f"tin note {n}", "Tin", score=1 - n / 20) for n in range(20)]
    ranked[11] = make_passage("silver", "silver note", "Silver", score=0.4)
    search = FixtureSearch({"metals": found("copper"), "more about silver": ranked})
    _, run, _ = ran(model(), search, "budget(rounds=2)", k=3)
    assert run.records[1].new_passages == 3
    assert "silver" in run.evidence


def test_without_hypothetical_answers_the_order_of_the_search_counts():
    ranked = [make_passage(f"p{n}", f"tin note {n}", "Tin", score=1 - n / 20) for n in range(20)]
    ranked[11] = make_passage("silver", "silver note", "Silver", score=0.4)
    search = FixtureSearch({"metals": found("copper"), "more about silver": ranked})
    scripted = model(hypothetical=[lambda prompt: TextResponse("")])
    _, run, _ = ran(scripted, search, "budget(rounds=2)", k=3)
    assert "silver" not in run.evidence


def test_coverage_by_topic_is_a_reading_an_event_and_in_the_prompt():
    scripted = model()
    search = FixtureSearch({"metals": found("copper"), "more about silver": found("silver")})
    run = RunState(TASK, scripted, TrajectoryMemory, run_id="r", embed=embed)
    gate = parse_gate("budget(rounds=2)")

    async def main():
        meters = build_meters(gate.needs, TASK, embed)
        await run_loop(run, search, OutlineStrategy(), gate, meters)
        return run.event_queue.drain()

    events = [event for event in asyncio.run(main()) if isinstance(event, TopicsCovered)]
    assert [event.index for event in events] == [2]
    assert events[0].topics.keys() == {"copper", "silver"}
    assert run.readings[1]["coverage.topic.silver"] == events[0].topics["silver"] > 0.9
    shown = prompts_of(scripted, "gap")[0].render()
    assert "'copper': 1.00" in shown
    assert "'silver': 0.0" in shown


def test_the_least_covered_topic_is_searched():
    scripted = model(("copper", "silver", "tin"))
    search = FixtureSearch(
        {"metals": found("copper"), "more about silver": found("silver"), "more about tin": found("tin")}
    )
    rounds, run, _ = ran(scripted, search, "budget(rounds=3)")
    assert rounds[0] == (TASK, "metals")
    assert {query for queries in rounds[1:] for query in queries} == {"more about silver", "more about tin"}
    assert run.outline.topics == ["copper", "silver", "tin"]
    assert prompts_of(scripted, "outline")[0].notes[0].title == "Copper", "the outline is drafted from the first round"


def test_a_hypothetical_answer_is_asked_for_once_a_topic():
    scripted = model(("copper", "silver", "tin"))
    _, run, _ = ran(scripted, FixtureSearch(default=found(*METALS)), "budget(rounds=6)")
    assert len(run.records) == 6
    assert sorted(prompt.topic for prompt in prompts_of(scripted, "hypothetical")) == ["copper", "silver", "tin"]
    assert len(prompts_of(scripted, "outline")) == 1


@pytest.mark.parametrize(
    ("topics", "expected"),
    [
        ((), [TASK]),
        (("", " ", "?!"), [TASK]),
        (ModelError("dizzy"), [TASK]),
        (("Copper", "copper ", "COPPER!", "silver"), ["Copper", "silver"]),
        ([f"topic {n}" for n in range(100)], [f"topic {n}" for n in range(INITIAL_TOPICS)]),
        (("a\nb " + "x" * 900,), [("a b " + "x" * 900)[:120]]),
    ],
    ids=["none", "empty", "failed", "duplicates", "hundred", "long"],
)
def test_unusual_outlines_are_normalized(topics, expected):
    _, run, _ = ran(model(topics), FixtureSearch(default=found("copper")))
    assert run.outline.topics == expected


@pytest.mark.parametrize("answer", [ModelError("dizzy"), TextResponse("  ")])
def test_without_a_hypothetical_answer_the_topic_is_used(answer):
    _, run, _ = ran(model(hypothetical=[answer]), FixtureSearch(default=found("copper")))
    assert run.outline.hypothetical_answers == ["copper", "silver"]


def test_without_a_gap_query_topics_then_follow_ups_are_asked():
    scripted = model(gap=ModelError("dizzy"))
    rounds, _, _ = ran(scripted, FixtureSearch(default=found("copper")), "budget(rounds=3)")
    assert rounds[1] == ("silver",), "the least covered topic itself"
    assert rounds[2][0] not in ("metals", "silver"), "then a follow-up"


def test_a_round_keeps_passages_that_are_near_to_its_topic_and_new():
    other = [make_passage(f"s{n}", "silver again", "Silver", score=0.1) for n in range(2)]
    scripted = model(("copper", "silver"))
    search = FixtureSearch(
        {"metals": found("copper"), "more about silver": [*found("iron", "copper", "gold")[1:], *other]}
    )
    _, run, _ = ran(scripted, search, "budget(rounds=2)", per_round=2)
    assert [passage.id for passage in run.evidence][1:] == ["s0", "s1"], (
        "nearness to the topic outweighs the search's score"
    )


def test_a_latent_topic_joins_the_outline():
    many = [make_passage(f"{metal}{n}", f"{metal} {n}", metal.title()) for n in range(3) for metal in METALS[:4]]
    scripted = model(("copper", "silver"), label=[TextResponse("tin ware"), TextResponse("")])
    search = FixtureSearch({"metals": many}, default=many)
    _, run, _ = ran(scripted, search, "gain | budget(rounds=6)", k=12)
    assert run.outline.topics == ["copper", "silver", "tin ware"]
    gains = [reading["coverage.gain"] for reading in run.readings]
    assert gains[0] == 1.0
    assert set(gains[1:]) == {0.0}, "the first outline is no change"
    assert prompts_of(scripted, "label")[0].topics == ("copper", "silver")


def test_a_later_latent_topic_defers_the_stop():
    many = [make_passage(f"{metal}{n}", f"{metal} {n}", metal.title()) for n in range(3) for metal in METALS[:4]]
    search = FixtureSearch({"metals": many}, default=many)
    _, calm, ended = ran(model(), search, "gain | budget(rounds=9)", k=12)
    assert (len(calm.records), ended.reason) == (3, "diminished")
    late = model(
        label=[
            TextResponse(""),
            TextResponse("tin ware"),
            TextResponse(""),
        ]
    )
    _, run, ended = ran(late, search, "gain | budget(rounds=9)", k=12)
    assert (len(run.records), ended.reason) == (5, "diminished")


@pytest.mark.parametrize("label", ["copper", "Silver", "all about copper"])
def test_a_label_near_to_a_topic_is_not_added(label):
    many = [make_passage(f"{metal}{n}", f"{metal} {n}", metal.title()) for n in range(3) for metal in METALS[:4]]
    _, run, _ = ran(model(label=[TextResponse(label)]), FixtureSearch(default=many), k=12)
    assert run.outline.topics == ["copper", "silver"]


def test_an_outline_is_bounded():
    many = [make_passage(f"{n}", f"{METALS[n % 6]} {n}", "page") for n in range(200)]
    labels = [lambda prompt: TextResponse(f"label {len(prompt.topics)}")]

    class Paged:
        async def __call__(self, query, k):
            return many[:k]

    def apart(texts):
        rows = embed(texts)
        for row, text in zip(rows, texts, strict=True):
            if text.startswith("label"):
                row[:] = 0
        return rows

    _, run, _ = ran(model(label=labels), Paged(), "budget(rounds=12)", embed=apart)
    assert len(run.outline.topics) == MAX_TOPICS


def test_few_passages_are_not_grouped():
    scripted = model()
    ran(scripted, FixtureSearch(default=found("copper", "silver", "tin")))
    assert not prompts_of(scripted, "label")


def test_without_embeddings_words_are_compared_and_nothing_is_grouped():
    scripted = model(("copper", "silver"))
    many = [make_passage(f"{metal}{n}", f"{metal} {n}", metal.title()) for n in range(3) for metal in METALS[:4]]
    rounds, run, _ = ran(
        scripted, FixtureSearch({TASK: found("copper"), "metals": found("copper")}, default=many), embed=None, k=12
    )
    assert rounds[1] == ("more about silver",)
    assert not prompts_of(scripted, "label")
    assert run.readings[-1]["coverage.gain"] is None, "coverage needs embeddings"


def test_an_empty_first_round_still_gives_an_outline():
    rounds, run, ended = ran(model(), FixtureSearch(), "budget(rounds=9)")
    assert run.outline.topics == ["copper", "silver"]
    assert ended.reason == "planner_done"
    assert len(rounds) < 9


@pytest.mark.parametrize("vectors", [embed, None])
def test_without_a_language_model(vectors):
    corpus = [*found(*METALS), *(make_passage(f"n{n}", f"noise {n}", f"N{n}") for n in range(5))]
    rounds, run, _ = ran(ExtractiveModel(vectors), WordSearch(corpus), embed=vectors)
    assert {"copper0", "silver1"} <= {passage.id for passage in run.evidence}
    assert [topic.lower() for topic in run.outline.topics[:2]] == ["copper", "silver"]
    assert len(rounds) > 1
    assert not run.error_log
