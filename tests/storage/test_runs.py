"""Kept runs: one line each, everything a follow-up needs, and never in the way of a run."""

import asyncio
import json
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from suffice.api import expand_follow_up, make_recorder, research
from suffice.errors import InputError
from suffice.events import Continued
from suffice.options import RunOptions
from suffice.prompts import (
    Evaluation,
    ExtractedFact,
    Extraction,
    PlannedQuery,
    PlanResponse,
    ReflectionResponse,
    SynthesisResponse,
)
from suffice.storage import runs
from suffice.testing import FixtureSearch, ScriptedModel, make_passage
from suffice.types import PriorRun

TASK = "Who directed The Silver Lamp?"
FILM = make_passage("film", "The director of The Silver Lamp was Ada Lind.", "The Silver Lamp", path="films.md")
ADA = make_passage("ada", "Ada Lind was born in Graz.", "Ada Lind")
FOUND = Extraction((ExtractedFact(FILM.text, ("[1]",)),))
SCRIPT = {
    "plan": [PlanResponse((PlannedQuery("silver lamp director"),))],
    "reflect": [ReflectionResponse(True, 0.9)],
    "extract": [FOUND],
    "draft": [SynthesisResponse("The director of The Silver Lamp was Ada Lind [1].")],
    "evaluate": [Evaluation(9, 9, 9, 9, 9, 9)],
}


@pytest.fixture(autouse=True)
def data(tmp_path, monkeypatch):
    monkeypatch.setenv("SUFFICE_DATA_DIR", str(tmp_path / "data"))
    for name in ("SUFFICE_KEEP_RUNS", "SUFFICE_MEMORY"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "data"


def ask(question=TASK, script=SCRIPT, search=None, **options):
    model, events = ScriptedModel(script), []
    search = search or FixtureSearch(default=[FILM])
    options = {"strategy": "reflect", "keep": True, **options}
    report = asyncio.run(research(question, model=model, search=search, on_event=events.append, **options))
    return report, model, events


def test_a_run_is_one_line_a_trace_and_a_report(data):
    report, _, _ = ask()
    (row,) = runs.read_log(data)
    assert (row["run"], row["task"], row["status"], row["stop"]) == (report.run, TASK, report.status, "sufficient")
    assert row["queries"] == ["silver lamp director"]
    assert row["novelty_scores"] == [10.0]
    assert row["tokens_by_stage"]["plan"]["calls"] == 1
    assert row["seconds"] >= 0
    assert row["task_type"] == "research"
    folder = runs.find_run_dir(data, report.run)
    assert runs.load_report(folder).final_answer == report.final_answer
    assert json.loads((folder / runs.EVENTS_FILE).read_text().splitlines()[0])["type"] == "started"
    for path in (data / runs.LOG_FILE, folder / runs.EVENTS_FILE, folder / runs.REPORT_FILE):
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(("keep", "setting"), [(False, ""), (True, "0")])
def test_nothing_is_kept_unless_wanted(data, monkeypatch, keep, setting):
    monkeypatch.setenv("SUFFICE_KEEP_RUNS", setting)
    ask(keep=keep)
    assert not data.exists()


def test_a_number_that_is_none(monkeypatch):
    monkeypatch.setenv("SUFFICE_KEEP_RUNS", "many")
    with pytest.raises(InputError, match="SUFFICE_KEEP_RUNS='many'"):
        ask()


def test_a_folder_that_cannot_be_written_is_said_once_and_the_run_goes_on(data):
    data.parent.mkdir(exist_ok=True)
    data.write_text("a file where the folder should be")
    said = []
    keeper = make_recorder(RunOptions(keep=True), said.append)
    _, _, events = ask(keep=False)
    for event in events:
        keeper.record_event(event)
    assert len(said) == 1
    assert "not kept" in said[0]


def test_the_oldest_folders_go_and_the_lines_stay(data, monkeypatch):
    monkeypatch.setenv("SUFFICE_KEEP_RUNS", "2")
    ids = [ask()[0].run for _ in range(4)]
    assert len(runs.read_log(data)) == 4
    assert len(list((data / runs.RUNS_DIR).iterdir())) == 2
    gone = next(run for run in ids if not (data / runs.RUNS_DIR / run).exists())
    with pytest.raises(InputError, match="only its line"):
        runs.find_run_dir(data, gone)


def test_lines_of_runs_that_end_together_never_mix(data):
    data.mkdir()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: runs._append_log_row(data, {"run": f"r{n}", "task": "x" * 5000}), range(60)))
    assert sorted(row["run"] for row in runs.read_log(data)) == sorted(f"r{n}" for n in range(60))


def test_a_damaged_line_is_passed_over(data):
    ask()
    with (data / runs.LOG_FILE).open("a") as log:
        log.write('{"run": "ha\n[1]\n')
    assert len(runs.read_log(data)) == 1


def test_a_run_is_named_by_its_beginning_or_as_the_last(data):
    first, last = sorted([ask()[0].run, ask()[0].run])
    assert runs.find_run_dir(data, "last").name == last
    assert runs.find_run_dir(data, first).name == first
    with pytest.raises(InputError, match="begins 2 runs"):
        runs.find_run_dir(data, first[:8])
    for name in ("nope", "", "../.."):
        with pytest.raises(InputError, match="no run"):
            runs.find_run_dir(data, name)


def test_deleting_leaves_nothing(data):
    kept, gone = ask()[0].run, ask()[0].run
    runs.delete_runs(data, [gone])
    assert [row["run"] for row in runs.read_log(data)] == [kept]
    assert not (data / runs.RUNS_DIR / gone).exists()


# -- going on from a run ---------------------------------------------------------------------------------------------------


def test_a_follow_up_begins_with_the_evidence_and_asks_no_query_again():
    first, _, _ = ask()
    script = SCRIPT | {
        "plan": [PlanResponse((PlannedQuery("silver lamp director"), PlannedQuery("Ada Lind birthplace")))]
    }
    search = FixtureSearch(default=[FILM, ADA])
    report, model, events = ask("Where was Ada Lind born?", script, search, continues=first.run)
    assert search.queries == ["Ada Lind birthplace"]
    assert [event.earlier.run for event in events if isinstance(event, Continued)] == [first.run]
    assert report.stop.rounds[0].new_passages == 1, "what was known is not new"
    (shown,) = [asked for asked in model.asked if asked.role == "draft"]
    assert {note.handles: note.text for note in shown.notes} == {("[1]",): FILM.text, ("[2]",): ADA.text}
    assert report.sources[0].location == "films.md:1-1"
    assert report.metadata["continues"] == first.run


def test_facts_are_believed_again_without_asking(data):
    first, _, _ = ask(memory="structured")
    assert runs.load_prior_run(runs.find_run_dir(data, first.run)).belief[0].text == FILM.text
    later = SCRIPT | {"plan": [PlanResponse((PlannedQuery("another"),))], "extract": [Extraction()]}
    for memory in ("structured", "freeform", "rolling"):
        _, model, events = ask("And where was Ada born?", later, continues=first.run, memory=memory)
        believed = next(event.belief.notes for event in events if hasattr(event, "belief"))
        assert FILM.text in [note.text for note in believed], memory
        assert sum(asked.role == "extract" for asked in model.asked) == 0, "nothing new was found"


def test_a_follow_up_of_a_follow_up_has_all_of_it(data):
    first, _, _ = ask()
    later = SCRIPT | {"plan": [PlanResponse((PlannedQuery("Ada Lind"),))]}
    second, _, _ = ask("Where was Ada Lind born?", later, FixtureSearch(default=[ADA]), continues=first.run)
    kept = runs.load_prior_run(runs.find_run_dir(data, second.run))
    assert [found.id for found in kept.evidence] == ["film", "ada"]
    assert kept.evidence == (FILM, ADA)
    assert kept.asked == ("silver lamp director", "Ada Lind")


def test_the_same_question_again_still_answers():
    first, _, _ = ask()
    report, _, _ = ask(continues=first.run)
    assert report.stop.reason == "planner_done"
    assert report.status == "answered"


def test_a_run_that_was_cut_off_can_be_continued(data):
    _, _, events = ask(keep=False)
    keeper = make_recorder(RunOptions(keep=True))
    for event in events[:-2]:
        keeper.record_event(event)
    (run,) = runs.list_unfinished_runs(data)
    with (data / runs.RUNS_DIR / run / runs.EVENTS_FILE).open("a") as trace:
        trace.write('{"type": "stop')
    assert runs.load_prior_run(runs.find_run_dir(data, run)).evidence == (FILM,)
    with pytest.raises(InputError, match="no report"):
        runs.load_report(runs.find_run_dir(data, run))


def test_a_question_that_names_nothing_is_asked_with_the_one_before():
    earlier = PriorRun("r", TASK, (), (), ())
    assert expand_follow_up("When was she born?", earlier) == f"When was she born? (after: {TASK})"
    assert expand_follow_up("When was Ada Lind born?", earlier) == "When was Ada Lind born?"


# -- what earlier runs found out ---------------------------------------------------------------------------------------------


def test_an_earlier_finding_is_looked_up_again_and_cited_only_when_found():
    ask()
    said = FILM.text.removesuffix(".")
    search = FixtureSearch({said: [FILM]})
    report, _, _ = ask("Who was the director of The Silver Lamp?", search=search)
    assert search.queries == ["silver lamp director", said]
    assert report.metadata["recalled"] == [TASK]
    assert [source.location for source in report.sources] == ["films.md:1-1"]
    lost, _, _ = ask("Who was it, the director of The Silver Lamp?", search=FixtureSearch())
    assert lost.status == "no_evidence"


def test_memory_can_be_turned_off(monkeypatch):
    monkeypatch.setenv("SUFFICE_MEMORY", "0")
    ask()
    monkeypatch.delenv("SUFFICE_MEMORY")
    search = FixtureSearch(default=[FILM])
    ask("Who was the director of The Silver Lamp?", search=search)
    assert search.queries == ["silver lamp director"]


def test_a_memory_that_cannot_be_read_is_done_without(data):
    data.mkdir()
    (data / "memory.sqlite").write_bytes(b"no database" * 100)
    assert ask()[0].status == "answered"
