"""Reading recorded runs: episodes, traces and corpora, gzipped or not; missing data stays unknown."""

import asyncio
import gzip
import json
from pathlib import Path

import pytest

from suffice.api import research
from suffice.errors import InputError
from suffice.events import serialize_event
from suffice.gates.parse import parse_gate
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
from suffice.prompts.writing import SynthesisResponse
from suffice.replay.compare import compute_recall_curve
from suffice.replay.episodes import build_trace, read_corpus, read_episodes, read_trace
from suffice.replay.judge import find_stop, measure_readings
from suffice.testing import FixtureSearch, ScriptedModel, make_passage
from suffice.types import Report, Usage


def round_of(*ids, queries=("q",), **rest):
    return {"queries": list(queries), "passages": [{"id": id} for id in ids], **rest}


def episode(*rounds, **rest):
    return {
        "id": "e",
        "question": "Who built the bridge?",
        "answer": "Ida",
        "gold": ["a"],
        "rounds": list(rounds),
        **rest,
    }


def write(path, *items):
    text = "\n".join(json.dumps(item) for item in items) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def test_a_passage_is_new_in_its_first_round(tmp_path):
    [read] = read_episodes(write(tmp_path / "e.jsonl", episode(round_of("a", "b"), round_of("b", "c"))))
    assert [[hit.id for hit in round.raw] for round in read.rounds] == [["a", "b"], ["b", "c"]]
    assert [[hit.id for hit in round.new] for round in read.rounds] == [["a", "b"], ["c"]]
    assert (read.gold, read.answers) == ({"a"}, ("Ida",))


def test_a_round_that_an_older_version_skipped_counts_as_one_without_new_passages(tmp_path):
    skipped = round_of("b", "c", accepted=False, skipped=True, readings={"preview.skipped": 1.0, "spend.rounds": 1.0})
    recorded = episode(
        round_of("a", readings={"spend.rounds": 1.0}),
        skipped,
        round_of("b", readings={"spend.rounds": 2.0}),
        gold=["c"],
    )
    [read] = read_episodes(write(tmp_path / "e.jsonl", recorded))
    assert [[hit.id for hit in round.new] for round in read.rounds] == [["a"], [], ["b"]]
    assert all(round.accepted for round in read.rounds)
    assert [readings["spend.rounds"] for readings in measure_readings(read, frozenset())] == [1, 2, 3]
    assert compute_recall_curve(read) == [0, 0, 0]  # What was not read was not found.
    found = find_stop(parse_gate("budget(rounds=2)"), measure_readings(read, frozenset()))
    assert (found.rounds, found.fired) == (2, True)


def test_a_gzipped_file_reads_the_same(tmp_path):
    items = [
        episode(round_of("a"), aliases=["I. Halloran"], agent="subq"),
        episode(round_of("b"), gold=[], answer=None),
    ]
    plain, zipped = (read_episodes(write(tmp_path / name, *items)) for name in ("e.jsonl", "e.jsonl.gz"))
    assert plain == zipped
    assert plain[0].answers == ("Ida", "I. Halloran")
    assert plain[1].answers == ()


@pytest.mark.parametrize("name", ["e.jsonl", "e.jsonl.gz"])
def test_a_full_episode(tmp_path, name):
    hit = {"id": "a", "title": "Bridge", "text": "Ida built it.", "score": 0.5}
    full = {"queries": ["q"], "passages": [hit], "tokens": 12, "readings": {"sufficiency.model": 0.5}, "answer": "Ida"}
    [read] = read_episodes(write(tmp_path / name, episode(full, agent="react")))
    [only] = read.rounds
    assert (read.id, read.question, read.agent) == ("e", "Who built the bridge?", "react")
    assert (only.index, only.queries, only.tokens, only.answer) == (1, ("q",), 12, "Ida")
    assert (only.raw[0].title, only.raw[0].text, only.raw[0].score) == ("Bridge", "Ida built it.", 0.5)
    assert only.readings == {"sufficiency.model": 0.5}


def test_blank_lines_are_skipped(tmp_path):
    path = write(tmp_path / "e.jsonl", episode(round_of("a")))
    path.write_text("\n" + path.read_text() + "\n\n", encoding="utf-8")
    assert len(read_episodes(path)) == 1


def test_unknown_keys_are_ignored(tmp_path):
    # HotpotQA episodes have a "type" like the events of a trace.
    path = write(tmp_path / "e.jsonl", episode(round_of("a", extra={"note": 1}), type="bridge", level="hard"))
    [read] = read_episodes(path)
    assert len(read.rounds) == 1


def test_a_corpus_adds_texts_that_the_recording_lacks(tmp_path):
    corpus = write(
        tmp_path / "corpus.jsonl", {"id": "a", "title": "A", "text": "From the corpus."}, {"id": "b", "text": "B."}
    )
    own = {"queries": ["q"], "passages": [{"id": "a"}, {"id": "b", "text": "Its own."}, {"id": "z"}]}
    [read] = read_episodes(write(tmp_path / "e.jsonl", episode(own)), read_corpus(corpus))
    assert [(hit.title, hit.text) for hit in read.rounds[0].raw] == [
        ("A", "From the corpus."),
        ("", "Its own."),
        (None, None),
    ]


def test_missing_texts_are_unknown_not_zero(tmp_path):
    [read] = read_episodes(write(tmp_path / "e.jsonl", episode(round_of("a"), round_of("b"))))
    for readings in measure_readings(read, frozenset()):
        assert readings["novelty.words"] is None
        assert readings["worth.pair_cover"] is None
        assert readings["bridges.open"] is None
        assert readings["overlap.upr"] == 1.0  # ids suffice


def test_missing_tokens_stay_unknown_once_one_round_lacks_them(tmp_path):
    rounds = [round_of("a", tokens=100), round_of("b"), round_of("c", tokens=100)]
    [read] = read_episodes(write(tmp_path / "e.jsonl", episode(*rounds)))
    assert [now["spend.tokens"] for now in measure_readings(read, frozenset())] == [100.0, None, None]


def test_recorded_readings_replace_measured_ones(tmp_path):
    recorded = {"overlap.upr": 0.25, "sufficiency.model": 0.8, "novelty.words": None}
    passage = {"id": "a", "text": "A bridge."}
    [read] = read_episodes(
        write(tmp_path / "e.jsonl", episode({"queries": ["q"], "passages": [passage], "readings": recorded}))
    )
    [now] = measure_readings(read, frozenset())
    assert {name: now[name] for name in recorded} == recorded
    assert now["spend.rounds"] == 1.0


def test_a_trace_cut_off_within_a_line_is_still_an_episode(tmp_path):
    events = [
        {"type": "started", "run": "r1", "at": "", "task": "Who?", "seed": 3},
        {"type": "round", "run": "r1", "at": "", "index": 1, "accepted": True, **round_of("a", tokens=5)},
    ]
    path = write(tmp_path / "t.jsonl", *events)
    path.write_text(path.read_text() + '{"type": "round", "run": "r', encoding="utf-8")
    [read] = read_episodes(path)
    assert (read.id, read.question, read.seed, len(read.rounds)) == ("r1", "Who?", 3, 1)


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
def test_a_trace_may_be_gzipped(tmp_path, name):
    started = {"type": "started", "run": "r1", "at": "", "task": "Who?", "seed": 3}
    path = write(tmp_path / name, started, {"type": "round", "run": "r1", "at": "", **round_of("a")})
    [read] = read_episodes(path)
    assert (read.id, len(read.rounds)) == ("r1", 1)


def test_half_a_last_episode_is_an_error(tmp_path):
    path = write(tmp_path / "e.jsonl", episode(round_of("a")), episode(round_of("b")))
    path.write_text(path.read_text()[:-20], encoding="utf-8")
    with pytest.raises(InputError, match="line 2"):
        read_episodes(path)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("", "no episodes"),
        ("\n\n", "no episodes"),
        ("nonsense", "line 1"),
        ("[1]", "line 1"),
        ('{"id": "e", "question": "Q"}', "rounds"),
        ('{"id": "e", "question": "Q", "rounds": []}', "rounds"),
        ('{"id": "e", "question": "Q", "rounds": 3}', "episode 1"),
        ('{"id": "e", "question": "Q", "rounds": [{"queries": ["q"]}]}', "passages"),
        ('{"id": "e", "question": "Q", "rounds": [{"passages": []}]}', "queries"),
        ('{"question": "Q", "rounds": [{"queries": [], "passages": []}]}', "id"),
        ('{"id": "e", "question": "Q", "rounds": [{"queries": "who", "passages": []}]}', "queries"),
        ('{"id": "e", "question": "Q", "rounds": [{"queries": [], "passages": [{"title": "T"}]}]}', "id"),
        ('{"id": "e", "question": "Q", "rounds": [{"queries": [], "passages": [], "tokens": "many"}]}', "tokens"),
        ('{"id": "e", "question": "Q", "rounds": [{"queries": [], "passages": [], "readings": [1]}]}', "readings"),
        (
            '{"id": "e", "question": "Q", "rounds": [{"queries": [], "passages": [{"id": "a", "score": "high"}]}]}',
            "score",
        ),
    ],
)
def test_the_error_names_the_file_and_what_is_wrong(tmp_path, text, hint):
    path = tmp_path / "bad.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=hint) as rejected:
        read_episodes(path)
    assert "bad.jsonl" in str(rejected.value)


def test_other_files_are_rejected(tmp_path):
    whole = gzip.compress(json.dumps(episode(round_of(*map(str, range(500))))).encode())
    damaged = bytearray(whole)
    damaged[len(whole) // 2] ^= 0xFF
    for name, content in (
        ("not.jsonl.gz", b"plain text"),
        ("half.jsonl.gz", whole[: len(whole) // 2]),
        ("damaged.jsonl.gz", bytes(damaged)),
        ("binary.jsonl", b"\xff\xfe\x00"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=name):
            read_episodes(tmp_path / name)
    with pytest.raises(InputError, match=r"none\.jsonl"):
        read_episodes(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match=r"none\.jsonl"):
        read_corpus(tmp_path / "none.jsonl")
    with pytest.raises(InputError, match="text"):
        read_corpus(write(tmp_path / "corpus.jsonl", {"id": "a"}))


# -- traces of real runs -------------------------------------------------------------------------------------------------

MODEL = {
    "plan": [PlanResponse((PlannedQuery("first"),))],
    "reflect": [ReflectionResponse(False, 0.2, ("x",), (PlannedQuery("second"),)), ReflectionResponse(True, 0.9)],
    "draft": [SynthesisResponse("Bees dance [1].")],
}
FOUND = {
    "first": [make_passage("a", "Bees dance.", "Bees"), make_passage("b", "Old\u2028news.", "B")],
    "second": [make_passage("a", "Bees dance.", "Bees"), make_passage("c", "Hives hum.", "C")],
}


@pytest.fixture
def recorded(tmp_path: Path) -> tuple[Path, Report]:
    path = tmp_path / "trace.jsonl"
    lines: list[str] = []
    model = ScriptedModel(MODEL, usage=Usage(1, 100, 10))
    report = asyncio.run(
        research(
            "Do bees dance?",
            search=FixtureSearch(FOUND),
            model=model,
            strategy="reflect",
            seed=7,
            on_event=lambda event: lines.append(json.dumps(serialize_event(event, "r1"), ensure_ascii=False)),
        )
    )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path, report


def test_a_trace_holds_the_run(recorded: tuple[Path, Report]) -> None:
    trace = read_trace(recorded[0])
    assert (trace.id, trace.question, trace.seed) == ("r1", "Do bees dance?", 7)
    assert [round.queries for round in trace.rounds] == [("Do bees dance?", "first"), ("second",)]
    assert [[hit.id for hit in round.new] for round in trace.rounds] == [["a", "b"], ["c"]]
    assert trace.stop is not None
    assert trace.stop["reason"] == recorded[1].stop.reason == "sufficient"
    assert trace.report is not None


def test_a_recorded_hit_has_text_and_location(recorded: tuple[Path, Report]) -> None:
    hit = read_trace(recorded[0]).rounds[0].raw[0]
    assert (hit.id, hit.title, hit.text, hit.location) == ("a", "Bees", "Bees dance.", "notes.txt:1-1")


def test_a_trace_is_an_episode(recorded: tuple[Path, Report]) -> None:
    [episode] = read_episodes(recorded[0])
    assert (episode.question, episode.gold, episode.seed) == ("Do bees dance?", frozenset(), 7)
    assert [len(round.new) for round in episode.rounds] == [2, 1]


def test_the_tokens_of_a_trace_are_those_of_each_round(recorded: tuple[Path, Report]) -> None:
    """Plan and reflection cost 110 tokens each: 220 in the first round, 110 in the second."""
    [episode] = read_episodes(recorded[0])
    assert sum(round.tokens or 0 for round in episode.rounds) == 330


@pytest.mark.parametrize("cut", [1, 15, 40])
def test_half_a_last_line_is_skipped(recorded: tuple[Path, Report], cut: int) -> None:
    path, _ = recorded
    path.write_bytes(path.read_bytes()[:-cut])
    assert len(read_trace(path).rounds) == 2
    assert len(read_episodes(path)[0].rounds) == 2


def test_a_damaged_line_is_named_by_its_number(recorded: tuple[Path, Report]) -> None:
    path, _ = recorded
    lines = path.read_bytes().split(b"\n")
    lines[1] = lines[1][:20]
    path.write_bytes(b"\n".join(lines))
    with pytest.raises(InputError, match="line 2"):
        read_trace(path)


@pytest.mark.parametrize("content", [b"", b"{}\n", b"no\n", b'{"type": "started"}\n', b'{"type": 3}\n', b"\xff\xfe\n"])
def test_a_file_without_rounds_is_no_trace(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"x\.jsonl"):
        read_trace(path)


def test_a_run_without_rounds_says_so():
    with pytest.raises(InputError, match="without rounds of search"):
        build_trace([{"type": "started", "run": "r1", "at": "", "task": "Who?", "seed": 3}], "The run r1")
