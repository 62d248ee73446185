"""Recorded runs are read as they are: gzipped or not, with texts joined, and what is missing stays unknown."""

import gzip
import json

import pytest

from suffice.errors import InputError
from suffice.replay.episodes import read_corpus, read_episodes
from suffice.replay.judge import measure_readings


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


def test_a_round_knows_what_it_was_the_first_to_bring(tmp_path):
    [read] = read_episodes(write(tmp_path / "e.jsonl", episode(round_of("a", "b"), round_of("b", "c"))))
    assert [[hit.id for hit in round.raw] for round in read.rounds] == [["a", "b"], ["b", "c"]]
    assert [[hit.id for hit in round.new] for round in read.rounds] == [["a", "b"], ["c"]]
    assert (read.gold, read.answers) == ({"a"}, ("Ida",))


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


def test_blank_lines_are_passed_over(tmp_path):
    path = write(tmp_path / "e.jsonl", episode(round_of("a")))
    path.write_text("\n" + path.read_text() + "\n\n", encoding="utf-8")
    assert len(read_episodes(path)) == 1


def test_unknown_keys_do_no_harm(tmp_path):
    # HotpotQA calls the kind of a question its type; a trace's events have a type, too.
    path = write(tmp_path / "e.jsonl", episode(round_of("a", extra={"note": 1}), type="bridge", level="hard"))
    [read] = read_episodes(path)
    assert len(read.rounds) == 1


def test_the_corpus_joins_texts_that_the_recording_lacks(tmp_path):
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
        assert readings["unseen.mass.entities"] is None
        assert readings["overlap.upr"] == 1.0  # ids suffice


def test_missing_tokens_stay_unknown_once_one_round_lacks_them(tmp_path):
    rounds = [round_of("a", tokens=100), round_of("b"), round_of("c", tokens=100)]
    [read] = read_episodes(write(tmp_path / "e.jsonl", episode(*rounds)))
    assert [now["spend.tokens"] for now in measure_readings(read, frozenset())] == [100.0, None, None]


def test_recorded_readings_beat_measured_ones(tmp_path):
    recorded = {"overlap.upr": 0.25, "sufficiency.model": 0.8, "novelty.words": None}
    passage = {"id": "a", "text": "A bridge."}
    [read] = read_episodes(
        write(tmp_path / "e.jsonl", episode({"queries": ["q"], "passages": [passage], "readings": recorded}))
    )
    [now] = measure_readings(read, frozenset())
    assert {name: now[name] for name in recorded} == recorded
    assert now["spend.rounds"] == 1.0


def test_a_trace_that_was_cut_off_in_the_middle_of_a_line_is_still_an_episode(tmp_path):
    events = [
        {"type": "started", "run": "r1", "at": "", "task": "Who?", "seed": 3},
        {"type": "round", "run": "r1", "at": "", "index": 1, "accepted": True, **round_of("a", tokens=5)},
    ]
    path = write(tmp_path / "t.jsonl", *events)
    path.write_text(path.read_text() + '{"type": "round", "run": "r', encoding="utf-8")
    [read] = read_episodes(path)
    assert (read.id, read.question, read.seed, len(read.rounds)) == ("r1", "Who?", 3, 1)


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
def test_what_cannot_be_read_is_named(tmp_path, text, hint):
    path = tmp_path / "bad.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=hint) as refused:
        read_episodes(path)
    assert "bad.jsonl" in str(refused.value)


def test_files_that_are_no_recordings(tmp_path):
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
