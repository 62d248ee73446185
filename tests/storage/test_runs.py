"""Recorded runs: the log, what a follow-up needs, and failures that do not stop a run."""

import asyncio
import json
import stat
from concurrent.futures import ThreadPoolExecutor

import pytest

from suffice.api import expand_follow_up, make_recorder, research
from suffice.errors import InputError
from suffice.events import Continued
from suffice.options import RunOptions
from suffice.prompts.belief import ExtractedFact, Extraction
from suffice.prompts.judging import Evaluation
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
from suffice.prompts.writing import SynthesisResponse
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


def test_run_is_recorded_as_log_line_trace_and_report(data):
    report, _, _ = ask()
    (row,) = runs.read_log(data)
    assert (row["run"], row["task"], row["status"], row["stop"]) == (report.run, TASK, report.status, "sufficient")
    assert row["queries"] == [TASK, "silver lamp director"]
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
def test_nothing_is_recorded_when_turned_off(data, monkeypatch, keep, setting):
    monkeypatch.setenv("SUFFICE_KEEP_RUNS", setting)
    ask(keep=keep)
    assert not data.exists()


def test_invalid_number_of_runs_raises_input_error(monkeypatch):
    monkeypatch.setenv("SUFFICE_KEEP_RUNS", "many")
    with pytest.raises(InputError, match="SUFFICE_KEEP_RUNS='many'"):
        ask()


def test_unwritable_folder_is_reported_once_and_does_not_stop_the_run(data):
    data.parent.mkdir(exist_ok=True)
    data.write_text("a file where the folder should be")
    messages = []
    recorder = make_recorder(RunOptions(keep=True), messages.append)
    _, _, events = ask(keep=False)
    for event in events:
        recorder.record_event(event)
    assert len(messages) == 1
    assert str(data) in messages[0]


def test_old_run_folders_are_deleted_but_log_lines_stay(data, monkeypatch):
    monkeypatch.setenv("SUFFICE_KEEP_RUNS", "2")
    ids = [ask()[0].run for _ in range(4)]
    assert len(runs.read_log(data)) == 4
    assert len(list((data / runs.RUNS_DIR).iterdir())) == 2
    gone = next(run for run in ids if not (data / runs.RUNS_DIR / run).exists())
    with pytest.raises(InputError, match=gone):
        runs.find_run_dir(data, gone)


def test_concurrent_log_lines_do_not_mix(data):
    data.mkdir()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: runs._append_log_row(data, {"run": f"r{n}", "task": "x" * 5000}), range(60)))
    assert sorted(row["run"] for row in runs.read_log(data)) == sorted(f"r{n}" for n in range(60))


def test_corrupt_log_line_is_skipped(data):
    ask()
    with (data / runs.LOG_FILE).open("a") as log:
        log.write('{"run": "ha\n[1]\n')
    assert len(runs.read_log(data)) == 1


def test_run_is_found_by_prefix_or_as_last(data):
    first, last = sorted([ask()[0].run, ask()[0].run])
    assert runs.find_run_dir(data, "last").name == last
    assert runs.find_run_dir(data, first).name == first
    with pytest.raises(InputError, match="2 runs"):
        runs.find_run_dir(data, first[:8])
    for name in ("nope", "", "../.."):
        with pytest.raises(InputError, match="no run"):
            runs.find_run_dir(data, name)


def test_deleted_run_leaves_nothing_behind(data):
    kept, gone = ask()[0].run, ask()[0].run
    runs.delete_runs(data, [gone])
    assert [row["run"] for row in runs.read_log(data)] == [kept]
    assert not (data / runs.RUNS_DIR / gone).exists()


# -- follow-up runs -------------------------------------------------------------------------------------------------------


def test_follow_up_starts_with_the_evidence_and_repeats_no_query():
    first, _, _ = ask()
    script = SCRIPT | {
        "plan": [PlanResponse((PlannedQuery("silver lamp director"), PlannedQuery("Ada Lind birthplace")))]
    }
    search = FixtureSearch(default=[FILM, ADA])
    report, model, events = ask("Where was Ada Lind born?", script, search, continues=first.run)
    assert search.queries == ["Where was Ada Lind born?", "Ada Lind birthplace"]
    assert [event.earlier.run for event in events if isinstance(event, Continued)] == [first.run]
    assert report.stop.rounds[0].new_passages == 1, "what was known is not new"
    (draft,) = [prompt for prompt in model.prompts if prompt.role == "draft"]
    assert {note.handles: note.text for note in draft.notes} == {("[1]",): FILM.text, ("[2]",): ADA.text}
    assert report.sources[0].location == "films.md:1-1"
    assert report.metadata["continues"] == first.run


def test_follow_up_keeps_the_belief_without_extracting_again(data):
    first, _, _ = ask(memory="structured")
    assert runs.load_prior_run(runs.find_run_dir(data, first.run)).belief[0].text == FILM.text
    later = SCRIPT | {"plan": [PlanResponse((PlannedQuery("another"),))], "extract": [Extraction()]}
    for memory in ("structured", "freeform", "rolling"):
        _, model, events = ask("And where was Ada born?", later, continues=first.run, memory=memory)
        believed = next(event.belief.notes for event in events if hasattr(event, "belief"))
        assert FILM.text in [note.text for note in believed], memory
        assert sum(prompt.role == "extract" for prompt in model.prompts) == 0, "nothing new was found"


def test_follow_up_of_a_follow_up_has_all_evidence(data):
    first, _, _ = ask()
    later = SCRIPT | {"plan": [PlanResponse((PlannedQuery("Ada Lind"),))]}
    second, _, _ = ask("Where was Ada Lind born?", later, FixtureSearch(default=[ADA]), continues=first.run)
    prior = runs.load_prior_run(runs.find_run_dir(data, second.run))
    assert [found.id for found in prior.evidence] == ["film", "ada"]
    assert prior.evidence == (FILM, ADA)
    assert prior.asked == (TASK, "silver lamp director", "Where was Ada Lind born?", "Ada Lind")


def test_repeating_the_same_question_still_answers():
    first, _, _ = ask()
    report, _, _ = ask(continues=first.run)
    assert report.stop.reason == "planner_done"
    assert report.status == "answered"


def test_interrupted_run_can_be_continued(data):
    _, _, events = ask(keep=False)
    recorder = make_recorder(RunOptions(keep=True))
    for event in events[:-2]:
        recorder.record_event(event)
    (run,) = runs.list_unfinished_runs(data)
    with (data / runs.RUNS_DIR / run / runs.EVENTS_FILE).open("a") as trace:
        trace.write('{"type": "stop')
    assert runs.load_prior_run(runs.find_run_dir(data, run)).evidence == (FILM,)
    with pytest.raises(InputError, match="no report"):
        runs.load_report(runs.find_run_dir(data, run))


def test_follow_up_without_a_name_is_expanded_with_the_earlier_question():
    prior = PriorRun("r", TASK, (), (), ())
    assert expand_follow_up("When was she born?", prior) == f"When was she born? (after: {TASK})"
    assert expand_follow_up("When was Ada Lind born?", prior) == "When was Ada Lind born?"


# -- findings of earlier runs -----------------------------------------------------------------------------------------------


def test_earlier_finding_is_searched_again_and_cited_only_if_found():
    ask()
    fact = FILM.text
    search = FixtureSearch({fact: [FILM]})
    report, _, _ = ask("Who was the director of The Silver Lamp?", search=search)
    assert search.queries[1:] == ["silver lamp director", fact]
    assert report.metadata["recalled"] == [TASK]
    assert [source.location for source in report.sources] == ["films.md:1-1"]
    lost, _, _ = ask("Who was it, the director of The Silver Lamp?", search=FixtureSearch())
    assert lost.status == "no_evidence"


def test_findings_can_be_turned_off(monkeypatch):
    monkeypatch.setenv("SUFFICE_MEMORY", "0")
    ask()
    monkeypatch.delenv("SUFFICE_MEMORY")
    search = FixtureSearch(default=[FILM])
    ask("Who was the director of The Silver Lamp?", search=search)
    assert search.queries[1:] == ["silver lamp director"]


def test_run_goes_on_without_unreadable_findings(data):
    data.mkdir()
    (data / "memory.sqlite").write_bytes(b"no database" * 100)
    assert ask()[0].status == "answered"
