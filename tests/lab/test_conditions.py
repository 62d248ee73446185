"""The prompts of every harness and memory: a step sees what its condition allows and nothing else."""

import pytest

from suffice.errors import InputError, ModelError
from suffice.lab.conditions import CONDITIONS, get_condition
from suffice.lab.experiment import HARNESSES
from suffice.memory.base import BeliefLimits
from suffice.prompts.agents import MemGPTStepResponse, ReActStepResponse

from .conftest import PASSAGES, QUESTION, STEPS, TASK, make_cell, play_model

STEP_ROLE = {"ircot": "thought", "react": "act", "memgpt": "step", "iterretgen": "short_answer"}
CELLS = [
    (harness, memory)
    for harness in HARNESSES
    for memory in CONDITIONS
    if (harness, memory) != ("iterretgen", "lobotomized")
]


def steps_of(model, harness):
    return [prompt.render() for prompt in model.prompts if prompt.role == STEP_ROLE[harness]]


def seen_passages(text):
    return [passage.id for passage in PASSAGES if passage.text in text]


@pytest.mark.parametrize(("harness", "memory"), CELLS)
def test_a_step_sees_what_its_memory_allows(episode, harness, memory):
    row, model, _ = episode(make_cell(harness, memory))
    prompts = steps_of(model, harness)
    assert row["rounds"] == 4
    assert all(TASK in prompt for prompt in prompts)
    last = prompts[-1]
    # IRCoT and Iter-RetGen search the question first, so their nth step follows the nth search; the others act first.
    searches = len(prompts) if harness in ("ircot", "iterretgen") else len(prompts) - 1
    current = PASSAGES[searches - 1]
    earlier = [passage.id for passage in PASSAGES[: searches - 1]]
    own_words = [step for step in STEPS[: len(prompts) - 1] if step in last]
    if memory == "baseline" and harness != "iterretgen":
        assert seen_passages(last) == [*earlier, current.id]
        assert own_words == STEPS[: len(prompts) - 1], "its own steps so far"
    elif memory in ("baseline", "lobotomized"):
        assert seen_passages(last) == [current.id], "the current observation only"
        assert own_words == []
    elif memory == "structured":
        assert '{"facts": [' in last
        assert seen_passages(last) == [*earlier, current.id], "each fact is a sentence of its passage"
        assert f'"open_questions": ["open question {PASSAGES[0].title}"' in last
        assert own_words == []
    else:
        assert f"Notes {searches}: " in last
        assert seen_passages(last) == [current.id], "the notes were rewritten from the last observation"
        assert f"- open question {current.title}" in last
        assert own_words == []


@pytest.mark.parametrize(("harness", "memory"), CELLS)
def test_the_answer_is_made_from_the_memory_condition_alone(episode, harness, memory):
    _, model, _ = episode(make_cell(harness, memory))
    (prompt,) = [prompt for prompt in model.prompts if prompt.role == "answer_from_memory"]
    text = prompt.render()
    assert TASK in text
    assert not any(step in text for step in STEPS)
    every, last = [passage.id for passage in PASSAGES], [PASSAGES[-1].id]
    held = {"baseline": every, "lobotomized": last, "structured": every, "freeform": last}
    assert seen_passages(text) == held[memory]
    if memory in ("structured", "freeform"):
        assert len(prompt.notes) == 1, "the belief, without the observation beside it"
        assert "[4]\n<<<" not in text


@pytest.mark.parametrize("memory", ["structured", "freeform"])
def test_extraction_sees_the_belief_and_the_observation_only(episode, memory):
    _, model, _ = episode(make_cell("ircot", memory))
    prompts = [prompt for prompt in model.prompts if prompt.role in ("extract", "notes")]
    assert {prompt.role for prompt in prompts} == {"extract" if memory == "structured" else "notes"}
    assert [seen_passages(" ".join(note.text for note in prompt.observation)) for prompt in prompts] == [
        [passage.id] for passage in PASSAGES
    ]
    assert not any(step in prompt.render() for prompt in prompts for step in STEPS)


def test_iterretgen_reads_the_belief(episode):
    queries = {}
    for memory in ("baseline", "structured", "freeform"):
        _, model, _ = episode(make_cell("iterretgen", memory))
        queries[memory] = tuple(steps_of(model, "iterretgen"))
    assert len(set(queries.values())) == 3, "the three memories give three different prompts"


@pytest.mark.parametrize("memory", ["lobotomized", "structured", "freeform"])
def test_between_two_searches_an_agent_keeps_what_it_just_did(episode, memory):
    actions = [
        ReActStepResponse("first", "Search", "bridge"),
        ReActStepResponse("look", "Lookup", "built"),
        ReActStepResponse("second", "Search", "works"),
        ReActStepResponse("look again", "Lookup", "built"),
        ReActStepResponse("third", "Finish", "x"),
    ]
    _, model, _ = episode(make_cell("react", memory), model=play_model(act=actions))
    prompts = [prompt for prompt in model.prompts if prompt.role == "act"]
    assert prompts[1].steps == ()
    assert [note.text for note in prompts[2].looked_up] == ["The Meridian bridge was built by Halloran Works."]
    assert "Lookup[built]" in prompts[2].steps[-1]
    assert prompts[3].steps == (), "wiped after the search"
    assert prompts[4].looked_up[0].text == "built: no more results", "an earlier observation cannot be looked up"


@pytest.mark.parametrize("memory", ["lobotomized", "structured", "freeform"])
def test_memgpt_loses_its_core_memory_and_its_recall(episode, memory):
    calls = [
        MemGPTStepResponse("go", "archival_search", {"query": "bridge"}),
        MemGPTStepResponse("keep", "core_memory_append", {"content": "the bridge is by Halloran"}),
        MemGPTStepResponse("go on", "archival_search", {"query": "works"}),
        MemGPTStepResponse("what was it", "recall", {"query": "Meridian bridge"}),
        MemGPTStepResponse("done", "send_message", {"message": "x"}),
    ]
    row, model, _ = episode(make_cell("memgpt", memory), model=play_model(step=calls))
    prompts = [prompt for prompt in model.prompts if prompt.role == "step"]
    assert prompts[2].core[0].text == "the bridge is by Halloran"
    assert prompts[3].core == ()
    assert prompts[4].page == (), "only the last observation can be recalled"
    assert row["stop"] == "planner_done"


def test_memgpt_keeps_its_core_memory_in_the_baseline(episode):
    calls = [
        MemGPTStepResponse("keep", "core_memory_append", {"content": "kept for good"}),
        MemGPTStepResponse("go", "archival_search", {"query": "bridge"}),
        MemGPTStepResponse("go on", "archival_search", {"query": "works"}),
        MemGPTStepResponse("done", "send_message", {"message": "x"}),
    ]
    _, model, _ = episode(make_cell("memgpt"), model=play_model(step=calls))
    assert all("kept for good" in text for text in steps_of(model, "memgpt")[1:])


def test_a_faithful_harness_asks_its_own_queries_only_and_may_repeat_them(episode):
    same = ReActStepResponse("again", "Search", "Meridian bridge")
    row, _, search = episode(make_cell("react", rounds=6), model=play_model(act=[same]))
    assert search.queries == ["Meridian bridge"] * 6
    assert row["similarity_by_round"][1:] == [1.0] * 5


def test_stagnation_can_occur_and_the_gate_fires(episode):
    class Same:
        queries = ()

        async def __call__(self, query, k):
            assert k == 1, "it does not dig deeper behind seen passages"
            return PASSAGES[:1]

    same = ReActStepResponse("again", "Search", "Meridian bridge")
    row, _, _ = episode(make_cell("react", gate="exhaustion", rounds=6), model=play_model(act=[same]), search=Same())
    assert (row["stop"], row["fired"], row["fire_round"]) == ("exhausted", True, 3)
    assert row["new_by_round"] == [1.0, 0.0, 0.0]


def test_a_harness_without_a_query_ends_the_search(episode):
    row, _, _ = episode(make_cell("ircot"), model=play_model(thought=[ModelError("dizzy")]))
    assert (row["rounds"], row["stop"]) == (1, "planner_done")
    assert row["failures"] == 1


def test_the_limits_of_a_belief_are_a_setting(episode):
    _, model, _ = episode(make_cell("ircot", "structured", limits=BeliefLimits(2, 1)))
    assert next(prompt.most for prompt in model.prompts if prompt.role == "curate") == 1
    with pytest.raises(InputError, match="target"):
        BeliefLimits(3, 4)


def test_model_judged_gates_see_the_state_and_the_last_rounds_in_two_prompts(episode):
    row, model, _ = episode(make_cell("ircot", "structured", "judged(window=2)"))
    judged = [prompt for prompt in model.prompts if prompt.role == "judge"]
    assert row["fired"] is False
    assert '{"facts"' in judged[-1].state[0].text
    assert judged[-1].open == tuple(f"open question {passage.title}" for passage in PASSAGES)
    assert [note.handles[0] for note in judged[-1].rounds] == ["Round 3", "Round 4"]
    row, model, _ = episode(make_cell("ircot", "structured", "judged(style=neutral)"))
    assert (row["fired"], row["fire_round"]) == (True, 1)
    assert "judge_neutral" in row["by_role"]


def test_the_state_difference_is_a_reading_and_an_option_of_exhaustion(episode):
    row, _, _ = episode(make_cell("ircot", "structured", "exhaustion(j=0, u=1, p=1, d=0)"))
    assert row["fired"] is False, "every round changes the belief"
    row, _, _ = episode(make_cell("ircot", "structured", "exhaustion(j=0, u=1, p=1, d=1)"))
    assert row["fire_round"] == 1
    row, _, _ = episode(make_cell("ircot", "baseline", "exhaustion(j=0, u=1, p=1, d=1)"))
    assert row["fired"] is False, "without a belief the difference is unknown"


def test_an_unknown_condition_is_named():
    with pytest.raises(InputError, match="amnesia"):
        get_condition("amnesia")
    assert get_condition("trajectory") is get_condition("baseline")


def test_the_row_scores_the_answer(episode):
    row, _, _ = episode(make_cell("ircot"), judge=play_model())
    assert row["scores"] == {"em": 1, "f1": 1, "rouge1": 1, "meteor": 0.5, "cosine": None, "judge": 80}
    assert row["recall_by_round"] == [0.3333, 0.6667, 1.0, 1.0]
    assert row["question"] == QUESTION.id
    assert row["error"] is None
