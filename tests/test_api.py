"""The Python door: ``research`` and ``run_research``."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, serving

import suffice
from suffice import Report, budget, exhaustion, fixed, research, run_research, saturation
from suffice.errors import InputError, SufficeError
from suffice.events import Event, Finished, RoundDone, SearchStopped, Started
from suffice.search.corpus.search import CorpusSearch
from suffice.testing import FixtureSearch, WordSearch, make_passage, make_search_error

QUESTION = "Who decoded the waggle dance?"
FOUND = [
    make_passage("a", "Karl von Frisch decoded the waggle dance in 1927.", "Bees"),
    make_passage("b", "Bridges stand.", "B"),
]


@pytest.fixture(autouse=True)
def _clean_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SUFFICE_MODEL", "RESEARCH_MAX_ITERS", "RESEARCH_MAX_QUERIES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "bees.txt").write_text("Karl von Frisch decoded the waggle dance in 1927.\n")
    return folder


def answered(report: Report) -> bool:
    return report.status == "answered" and "Karl von Frisch decoded the waggle dance in 1927." in report.final_answer


@pytest.mark.parametrize("shape", [str, Path, lambda path: [str(path)], lambda path: (path, path / "bees.txt")])
def test_docs_are_a_path_or_several(docs: Path, shape: type) -> None:
    assert answered(asyncio.run(research(QUESTION, docs=shape(docs), alpha=1)))


def test_as_the_contract_writes_it(docs: Path) -> None:
    stop = exhaustion(p=2) | (saturation() & exhaustion()) | budget(rounds=2)
    report = asyncio.run(research(QUESTION, docs="handbook/", stop=stop, alpha=1))
    assert "Karl von Frisch" in report.final_answer
    assert report.stop.reason in ("planner_done", "budget_rounds")


def test_with_a_search_of_ones_own() -> None:
    search = FixtureSearch(default=FOUND)
    report = asyncio.run(research(QUESTION, search=search))
    assert answered(report)
    assert search.queries[0] == QUESTION


def test_any_async_function_is_a_search() -> None:
    async def search(query: suffice.Query, k: int) -> list[suffice.Passage]:
        return FOUND[:k]

    assert answered(asyncio.run(research(QUESTION, search=search)))


def test_the_synchronous_door() -> None:
    report = run_research(
        QUESTION, max_iters=2, max_queries=3, max_sources=1, max_execution_time_s=30, search=WordSearch(FOUND)
    )
    assert answered(report)
    assert len(report.sources) <= 1


def test_the_synchronous_door_over_docs(docs: Path) -> None:
    assert answered(run_research(QUESTION, docs=docs, alpha=1))


def test_inside_a_running_loop() -> None:
    async def many() -> list[Report]:
        return await asyncio.gather(*(research(QUESTION, search=WordSearch(FOUND)) for _ in range(5)))

    reports = asyncio.run(many())
    assert all(answered(report) for report in reports)
    assert len({report.run for report in reports}) == 5


def test_the_synchronous_door_inside_a_running_loop_says_what_to_do() -> None:
    async def wrong() -> None:
        run_research(QUESTION, search=WordSearch(FOUND))

    with pytest.raises(SufficeError, match="await research"):
        asyncio.run(wrong())


def test_events_come_in_order() -> None:
    seen: list[Event] = []
    report = asyncio.run(research(QUESTION, search=WordSearch(FOUND), on_event=seen.append))
    kinds = [type(event) for event in seen]
    assert kinds[0] is Started
    assert kinds.index(RoundDone) < kinds.index(SearchStopped) < kinds.index(Finished)
    assert seen[-1] == Finished(report)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"colour": "red"}, "colour"),
        ({"strategy": "nope"}, "nope"),
        ({"memory": "nope"}, "nope"),
        ({"model": "nope"}, "nope"),
        ({"model": "openai:gpt"}, "openai:gpt"),
        ({"tier": "nope"}, "nope"),
        ({"stop": "nope("}, "nope"),
        ({"k": 0}, "k"),
        ({"per_round": 0}, "per_round"),
        ({"max_iters": 0}, "rounds"),
        ({"max_queries": -1}, "queries"),
        ({"max_sources": 0}, "sources"),
        ({"max_execution_time_s": 0}, "seconds"),
        ({"token_budget": 0}, "tokens"),
        ({"max_cost_usd": -0.5}, "usd"),
    ],
)
def test_an_option_that_cannot_be_used(options: dict[str, object], word: str) -> None:
    search = FixtureSearch(default=FOUND)
    with pytest.raises(InputError, match=word):
        asyncio.run(research(QUESTION, search=search, **options))  # type: ignore[arg-type]
    assert search.queries == [], "nothing is spent before everything is checked"


def test_nothing_to_search() -> None:
    for docs in (None, []):
        with pytest.raises(InputError, match="docs"):
            asyncio.run(research(QUESTION, docs=docs))


@pytest.mark.parametrize("question", ["", "  \n", "?", "x" * 100_000])
def test_a_question_that_is_none(question: str) -> None:
    with pytest.raises(InputError, match="question"):
        asyncio.run(research(question, search=WordSearch(FOUND)))


def test_no_evidence_is_a_report_and_no_error() -> None:
    report = asyncio.run(research("Who painted Guernica?", search=WordSearch(FOUND)))
    assert (report.status, report.final_answer, report.sources) == ("no_evidence", "", ())


def test_a_search_that_is_down_is_no_empty_search() -> None:
    report = asyncio.run(research(QUESTION, search=FixtureSearch(default=make_search_error())))
    assert report.status == "failed"
    assert report.error_log
    assert report.final_answer == ""


def test_bounds_hold() -> None:
    report = asyncio.run(
        research("Where is Atlantis?", search=FixtureSearch(default=FOUND), max_iters=1, stop=fixed(9))
    )
    assert (report.stop.reason, report.stop.round) == ("budget_rounds", 1)


def test_a_stop_may_be_text_or_a_gate() -> None:
    for stop in ("fixed(1)", fixed(1)):
        report = asyncio.run(research(QUESTION, search=WordSearch(FOUND), stop=stop))
        assert report.stop.gate == "fixed(1)"


def test_the_bounds_of_the_environment_hold_here_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESEARCH_MAX_ITERS", "1")
    report = asyncio.run(research(QUESTION, search=WordSearch(FOUND), stop=fixed(9)))
    assert report.stop.round == 1


def test_giving_up_leaves_no_task_behind() -> None:
    async def impatient() -> set[str]:
        task = asyncio.ensure_future(research(QUESTION, search=FixtureSearch(default=FOUND, delay=30)))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait([task], timeout=2)
        assert task.done()
        return {str(left) for left in asyncio.all_tasks()} - {str(asyncio.current_task())}

    assert asyncio.run(impatient()) == set()


@pytest.mark.parametrize(
    ("strategy", "given", "used"),
    [("ircot", None, 0.9), ("ircot", 0.3, 0.3), ("react", None, 0.5), ("auto", None, 0.5)],
)
def test_a_preset_brings_its_mix_unless_one_was_given(
    docs: Path, monkeypatch: pytest.MonkeyPatch, strategy: str, given: float | None, used: float
) -> None:
    mixes = []

    async def opened(*arguments: object, alpha: float, **others: object) -> None:
        mixes.append(alpha)
        raise InputError("seen enough")

    monkeypatch.setattr(CorpusSearch, "open", opened)
    with pytest.raises(InputError, match="seen enough"):
        asyncio.run(research(QUESTION, docs=docs, strategy=strategy, alpha=given))
    assert mixes == [used]


def test_leads_beside_the_strategys_own_queries() -> None:
    found = [
        *FOUND,
        make_passage("c", "Frisch was born in Vienna.", "Karl von Frisch"),
        make_passage("d", "Rain.", "Vienna"),
    ]
    report = asyncio.run(
        research(QUESTION, search=WordSearch(found), k=1, strategy="ircot", with_leads=True, stop="fixed(2)")
    )
    assert report.metadata["interventions"] == ["leads"]
    assert len(report.stop.rounds[1].queries) == 2


@pytest.mark.parametrize("chosen", [{"web": True}, {"providers": "searxng"}, {"providers": ["searxng"]}])
def test_research_on_the_web(monkeypatch: pytest.MonkeyPatch, chosen: dict[str, Any]) -> None:
    page = {"url": "https://a.example/hive", "title": "Hive", "content": "A hive holds one queen."}
    with serving(lambda asked: Answer({"results": [page]})) as server:
        monkeypatch.setenv("SEARXNG_URL", server.url)
        report = asyncio.run(research("How many queens does a hive hold?", alpha=1, **chosen))
    assert report.sources[0].url == "https://a.example/hive"
