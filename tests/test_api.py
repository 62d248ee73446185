"""The Python interface: ``research`` and ``run_research``."""

import asyncio
import inspect
import json
import re
import stat
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from loopback import Answer, serving

import suffice
from suffice import InputError, Report, SufficeError, api, budget, exhaustion, fixed, research, run_research, saturation
from suffice.events import Event, Finished, RoundDone, SearchStopped, Started
from suffice.models.embeddings.minilm import get_minilm
from suffice.options import ALIASES, OPTIONS, RunOptions
from suffice.search.corpus.search import CorpusSearch
from suffice.testing import FixtureSearch, WordSearch, make_passage, make_search_error
from suffice.text.markdown import strip_markdown
from suffice.types import Bounds

QUESTION = "Who decoded the waggle dance?"
PASSAGES = [
    make_passage("a", "Karl von Frisch decoded the waggle dance in 1927.", "Bees"),
    make_passage("b", "Bridges stand.", "B"),
]


@pytest.fixture(autouse=True)
def _clean_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SUFFICE_MODEL", "RESEARCH_MAX_ITERS", "RESEARCH_MAX_QUERIES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SUFFICE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "bees.txt").write_text("Karl von Frisch decoded the waggle dance in 1927.\n")
    return folder


def is_answered(report: Report) -> bool:
    answer = strip_markdown(report.final_answer)
    return report.status == "answered" and "Karl von Frisch decoded the waggle dance in 1927." in answer


@pytest.mark.parametrize(
    ("question", "options", "gate"),
    [
        ("Who decoded the waggle dance?", {}, "worth | exhaustion"),
        ("Where was the man who decoded the waggle dance born?", {}, "worth(price=0.03) | exhaustion"),
        ("Where was the man who decoded the waggle dance born?", {"stop": "fixed(2)"}, "fixed(2)"),
        ("Where was the man who decoded the waggle dance born?", {"model": "openai:gpt-5"}, "worth | exhaustion"),
        ("Where was the man who decoded it born?", {"model": "openai:qwen2.5-1.5b"}, "worth(price=0.03) | exhaustion"),
        ("Where was the man who decoded the waggle dance born?", {"strategy": "reflect"}, "sufficiency"),
    ],
)
def test_a_question_in_steps_is_searched_longer_where_no_model_reads_the_rounds(
    docs: Path, question: str, options: dict[str, Any], gate: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    config = asyncio.run(api.prepare_run(question, RunOptions(docs=str(docs), **{"model": "extractive", **options})))
    assert str(config.gate) == gate


def test_a_style_of_writing_changes_nothing_without_a_model(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_WRITER", "sentence")
    assert is_answered(asyncio.run(research(QUESTION, docs=str(docs), model="extractive")))


# -- options -----------------------------------------------------------------------------------------------------------


def test_parameters_of_research_are_the_run_options() -> None:
    parameters = dict(inspect.signature(research).parameters)
    assert [name for name in parameters if name != "bounds"] == ["question", *OPTIONS, "on_event", *ALIASES]
    for field in fields(RunOptions):
        if field.name != "pictures":  # Off for servers, because pictures are local files.
            assert parameters[field.name].default == field.default, field.name


def test_research_documents_the_options_that_it_names() -> None:
    names = re.findall(r"^        (\w+): ", research.__doc__ or "", re.MULTILINE)
    assert len(names) <= 12
    assert {"docs", "model", "stop", "continues", "on_event", "options"} <= set(names)


def test_an_unknown_option_is_named() -> None:
    with pytest.raises(TypeError, match="colour"):
        run_research(QUESTION, colour="red")


def test_every_option_reaches_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give each option a value other than its default."""
    given: dict[str, Any] = {
        field.name: {bool: not field.default, int: 7, float: 0.5}.get(
            type(field.default) if field.default is not None else str, "x"
        )
        for field in fields(RunOptions)
    }
    given["pictures"] = False
    seen: list[RunOptions] = []

    async def prepare_run(question: str, options: RunOptions, *others: object) -> None:
        seen.append(options)
        raise InputError("seen enough")

    monkeypatch.setattr(api, "prepare_run", prepare_run)
    with pytest.raises(InputError, match="seen enough"):
        asyncio.run(research(QUESTION, **given))
    assert seen == [RunOptions(**given)]


@pytest.mark.parametrize(
    ("alias", "name", "value"),
    [("max_iters", "max_rounds", 2), ("max_execution_time_s", "max_seconds", 9.5), ("token_budget", "max_tokens", 500)],
)
def test_alias_is_the_same_option(alias: str, name: str, value: float) -> None:
    assert ALIASES[alias] == name
    limits = []
    for key in (alias, name):
        events: list[Event] = []
        options: dict[str, Any] = {key: value}
        asyncio.run(research(QUESTION, search=WordSearch(PASSAGES), on_event=events.append, **options))
        assert isinstance(events[0], Started)
        limits.append(events[0].bounds)
    assert limits[0] == limits[1]
    assert value in limits[0].values()
    with pytest.raises(InputError, match=alias):
        asyncio.run(research(QUESTION, search=WordSearch(PASSAGES), **{alias: value, name: value}))


def test_bounds_as_one_object(docs: Path) -> None:
    report = asyncio.run(research(QUESTION, docs=docs, model="extractive", stop="fixed(9)", bounds=Bounds(rounds=2)))
    assert len(report.stop.rounds) == 2
    report = run_research(
        QUESTION, docs=docs, model="extractive", stop="fixed(9)", bounds=Bounds(rounds=2), max_rounds=1
    )
    assert len(report.stop.rounds) == 1


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"strategy": "nope"}, "nope"),
        ({"memory": "nope"}, "nope"),
        ({"model": "nope"}, "nope"),
        ({"model": "openai:gpt"}, "openai:gpt"),
        ({"tier": "nope"}, "nope"),
        ({"bounds": 1}, "bounds.*Bounds"),
        ({"stop": "nope("}, "nope"),
        ({"stop": 3}, "gate.*not 3"),
        ({"interventions": "nope"}, "nope"),
        ({"k": 0}, "k"),
        ({"k": "five"}, "k"),
        ({"per_round": 0}, "per_round"),
        ({"alpha": 1.5}, "alpha"),
        ({"max_rounds": 0}, "max_rounds"),
        ({"max_iters": 0}, "max_rounds"),
        ({"max_queries": -1}, "max_queries"),
        ({"max_sources": 0}, "max_sources"),
        ({"max_seconds": 0}, "max_seconds"),
        ({"max_seconds": float("nan")}, "max_seconds"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_cost_usd": -0.5}, "max_cost_usd"),
    ],
)
def test_invalid_option_is_named_before_anything_is_spent(options: dict[str, Any], named: str) -> None:
    search = FixtureSearch(default=PASSAGES)
    with pytest.raises(InputError, match=named):
        asyncio.run(research(QUESTION, search=search, **options))
    assert search.queries == []


def test_one_name_is_the_same_as_a_list_of_it() -> None:
    for name in ("docs", "providers", "include", "exclude", "interventions"):
        assert RunOptions(**{name: "wikipedia"}) == RunOptions(**{name: ["wikipedia"]})


def test_follow_up_uses_the_provider_of_the_earlier_run(monkeypatch: pytest.MonkeyPatch) -> None:
    page = {"url": "https://a.example/hive", "title": "Hive", "content": "A hive holds one queen."}
    with serving(lambda request: Answer({"results": [page]})) as server:
        monkeypatch.setenv("SEARXNG_URL", server.url)
        first = asyncio.run(research("How many queens does a hive hold?", alpha=1, providers="searxng", keep=True))
        assert first.metadata["searched"]["providers"] == ["searxng"]
        again = asyncio.run(research("Where is the hive?", alpha=1, continues=first.run))
    assert again.metadata["searched"]["providers"] == ["searxng"]


def test_report_metadata_is_json(docs: Path) -> None:
    report = asyncio.run(research(QUESTION, docs=docs, alpha=1))
    assert json.loads(json.dumps(report.metadata))["searched"]["docs"] == [str(docs)]


# -- searching ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [str, Path, lambda path: [str(path)], lambda path: (path, path / "bees.txt")])
def test_docs_are_a_path_or_several(docs: Path, shape: type) -> None:
    assert is_answered(asyncio.run(research(QUESTION, docs=shape(docs), alpha=1)))


def test_stop_gate_of_combined_gates(docs: Path) -> None:
    stop = exhaustion(p=2) | (saturation() & exhaustion()) | budget(rounds=2)
    report = asyncio.run(research(QUESTION, docs="handbook/", stop=stop, alpha=1))
    assert "Karl von Frisch" in report.final_answer
    assert report.stop.reason in ("planner_done", "budget_rounds")


def test_search_of_your_own() -> None:
    search = FixtureSearch(default=PASSAGES)
    report = asyncio.run(research(QUESTION, search=search))
    assert is_answered(report)
    assert search.queries[0] == QUESTION


def test_any_async_function_is_a_search() -> None:
    async def search(query: suffice.Query, k: int) -> list[suffice.Passage]:
        return PASSAGES[:k]

    assert is_answered(asyncio.run(research(QUESTION, search=search)))


@pytest.mark.parametrize("scope", [{"web": True}, {"providers": "searxng"}, {"providers": ["searxng"]}])
def test_research_on_the_web(monkeypatch: pytest.MonkeyPatch, scope: dict[str, Any]) -> None:
    page = {"url": "https://a.example/hive", "title": "Hive", "content": "A hive holds one queen."}
    with serving(lambda request: Answer({"results": [page]})) as server:
        monkeypatch.setenv("SEARXNG_URL", server.url)
        report = asyncio.run(research("How many queens does a hive hold?", alpha=1, **scope))
    assert report.sources[0].url == "https://a.example/hive"


def test_nothing_to_search() -> None:
    for docs in (None, []):
        with pytest.raises(InputError, match="docs"):
            asyncio.run(research(QUESTION, docs=docs))


@pytest.mark.parametrize("question", ["", "  \n", "?", "x" * 100_000])
def test_empty_or_too_long_question(question: str) -> None:
    with pytest.raises(InputError, match="question"):
        asyncio.run(research(question, search=WordSearch(PASSAGES)))


@pytest.mark.parametrize(
    ("strategy", "given", "used"),
    [("ircot", None, 0.9), ("ircot", 0.3, 0.3), ("react", None, 0.5), ("auto", None, 0.2)],
)
def test_alpha_comes_from_the_preset_unless_given(
    docs: Path, monkeypatch: pytest.MonkeyPatch, strategy: str, given: float | None, used: float
) -> None:
    alphas = []

    async def open_corpus(*arguments: object, alpha: float, **others: object) -> None:
        alphas.append(alpha)
        raise InputError("seen enough")

    monkeypatch.setattr(CorpusSearch, "open", open_corpus)
    with pytest.raises(InputError, match="seen enough"):
        asyncio.run(research(QUESTION, docs=docs, strategy=strategy, alpha=given))
    assert alphas == [used]


def test_runs_of_one_process_share_one_embedding_session(docs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import onnxruntime

    made = []

    def make_session(*arguments: Any, **options: Any) -> Any:
        made.append(arguments)
        return create(*arguments, **options)

    create = onnxruntime.InferenceSession
    monkeypatch.setattr(onnxruntime, "InferenceSession", make_session)
    get_minilm.cache_clear()
    for question in (QUESTION, "Where do bees dance?"):
        asyncio.run(research(question, docs=docs, model="extractive", stop="fixed(1)"))
    assert len(made) == len({path for path, *_ in made}), "each model is loaded once"


def test_only_the_user_can_read_the_caches(docs: Path, tmp_path: Path) -> None:
    asyncio.run(research(QUESTION, docs=docs, model="extractive", stop="fixed(1)"))
    (database,) = (tmp_path / "cache" / "vectors").glob("*.sqlite")
    assert stat.S_IMODE(database.stat().st_mode) == 0o600
    for folder in (database.parent, tmp_path / "cache" / "index"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_leads_are_asked_beside_the_strategys_queries() -> None:
    passages = [
        *PASSAGES,
        make_passage("c", "Frisch was born in Vienna.", "Karl von Frisch"),
        make_passage("d", "Rain.", "Vienna"),
    ]
    report = asyncio.run(
        research(
            QUESTION, search=WordSearch(passages), k=1, strategy="iterretgen", interventions="leads", stop="fixed(2)"
        )
    )
    assert report.metadata["interventions"] == ["leads"]
    assert len(report.stop.rounds[1].queries) == 2


# -- reports and events ------------------------------------------------------------------------------------------------


def test_events_come_in_order() -> None:
    events: list[Event] = []
    report = asyncio.run(research(QUESTION, search=WordSearch(PASSAGES), on_event=events.append))
    types = [type(event) for event in events]
    assert types[0] is Started
    assert types.index(RoundDone) < types.index(SearchStopped) < types.index(Finished)
    assert events[-1] == Finished(report)


def test_question_without_evidence_gives_a_report() -> None:
    report = asyncio.run(research("Who painted Guernica?", search=WordSearch(PASSAGES)))
    assert (report.status, report.final_answer, report.sources) == ("no_evidence", "", ())


def test_failing_search_is_not_an_empty_search() -> None:
    report = asyncio.run(research(QUESTION, search=FixtureSearch(default=make_search_error())))
    assert report.status == "failed"
    assert report.error_log
    assert report.final_answer == ""


def test_limits_hold() -> None:
    report = asyncio.run(
        research("Where is Atlantis?", search=FixtureSearch(default=PASSAGES), max_rounds=1, stop=fixed(9))
    )
    assert (report.stop.reason, report.stop.round) == ("budget_rounds", 1)


def test_limits_of_the_environment_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RESEARCH_MAX_ITERS", "1")
    report = asyncio.run(research(QUESTION, search=WordSearch(PASSAGES), stop=fixed(9)))
    assert report.stop.round == 1


def test_stop_is_an_expression_or_a_gate() -> None:
    for stop in ("fixed(1)", fixed(1)):
        report = asyncio.run(research(QUESTION, search=WordSearch(PASSAGES), stop=stop))
        assert report.stop.gate == "fixed(1)"


def test_a_request_may_not_lift_limits_by_its_stop_gate() -> None:
    RunOptions(stop="worth | budget(rounds=500)").validate()
    RunOptions(stop="worth | budget(rounds=50)").validate(gate_files=False)
    with pytest.raises(InputError, match="rounds must be at most 50"):
        RunOptions(stop="worth | budget(rounds=500)").validate(gate_files=False)


# -- event loops -------------------------------------------------------------------------------------------------------


def test_run_research_is_synchronous() -> None:
    report = run_research(
        QUESTION, max_iters=2, max_queries=3, max_sources=1, max_execution_time_s=30, search=WordSearch(PASSAGES)
    )
    assert is_answered(report)
    assert len(report.sources) <= 1


def test_run_research_over_documents(docs: Path) -> None:
    assert is_answered(run_research(task=QUESTION, docs=docs, alpha=1))


def test_run_research_inside_an_event_loop_names_research() -> None:
    async def call() -> None:
        run_research(QUESTION, search=WordSearch(PASSAGES))

    with pytest.raises(SufficeError, match="await research"):
        asyncio.run(call())


def test_concurrent_runs() -> None:
    async def run_all() -> list[Report]:
        return await asyncio.gather(*(research(QUESTION, search=WordSearch(PASSAGES)) for _ in range(5)))

    reports = asyncio.run(run_all())
    assert all(is_answered(report) for report in reports)
    assert len({report.run for report in reports}) == 5


def test_cancelled_research_leaves_no_task() -> None:
    async def cancel() -> set[str]:
        task = asyncio.ensure_future(research(QUESTION, search=FixtureSearch(default=PASSAGES, delay=600)))
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.wait([task], timeout=60)
        assert task.done()
        return {str(left) for left in asyncio.all_tasks()} - {str(asyncio.current_task())}

    assert asyncio.run(cancel()) == set()


def test_of_documents_that_disagree_the_newest_comes_first_with_its_date(tmp_path: Path) -> None:
    folder = tmp_path / "minutes"
    folder.mkdir()
    names = {"minutes-2024.md": 84, "minutes-2025.md": 97}
    for name, count in names.items():
        (folder / name).write_text(f"# Staff\n\nThe company has {count} employees in Leeds.\n")
    question = "How many employees does the company have?"
    report = asyncio.run(research(question, docs=folder, model="extractive"))
    newer, older = "“The company has 97 employees in Leeds.” [", "“The company has 84 employees in Leeds.” ["
    assert report.final_answer.index(newer) < report.final_answer.index("(2025), but")
    assert (
        report.final_answer.index("(2025), but")
        < report.final_answer.index(older)
        < report.final_answer.index("(2024)")
    )
    (folder / "minutes-2024.md").rename(folder / "minutes.md")
    (folder / "minutes-2025.md").rename(folder / "notes.md")
    report = asyncio.run(research(question, docs=folder, model="extractive"))
    assert report.final_answer.count("employees in Leeds.” [") == 2, "each disagreement is listed once"
