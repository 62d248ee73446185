"""``suffice replay`` and ``suffice lab``: gates over recorded runs, output formats, fitting, and bad input."""

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

EPISODE = {
    "id": "q",
    "question": "Who?",
    "gold": ["a", "c"],
    "rounds": [{"queries": [f"q{n}"], "passages": [{"id": id, "text": id}], "tokens": 5} for n, id in enumerate("abc")],
}
COLUMNS = {
    "gate", "mean_rounds", "mean_tokens", "recall", "all_gold", "answer_f1", "fire_rate", "abstained", "lift", "lift_ci",
    "gap_closed", "stops",
}  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "episodes.jsonl"
    path.write_text(f"{json.dumps(EPISODE)}\n" * 3)
    return path


def test_as_json(suffice: Callable, file: Path) -> None:
    result = suffice("replay", file, "--stop", "fixed(2)", "--stop", "exhaustion | budget(rounds=1)", "--json")
    rows = json.loads(result.out)["gates"]
    assert (result.status, result.err) == (0, "")
    assert all(set(row) == COLUMNS for row in rows)
    assert rows[0]["gate"] == "fixed(2)"
    assert rows[0]["stops"] == [2, 2, 2]
    assert rows[1]["stops"] == [1, 1, 1]
    assert {"fixed(1)", "fixed(2)", "fixed(3)", "oracle"} <= {row["gate"] for row in rows}


def test_as_a_table(suffice: Callable, file: Path) -> None:
    result = suffice("replay", file, "--stop", "fixed(2)")
    assert result.status == 0
    assert "oracle" in result.out
    assert "fixed(2)" in result.out


def test_a_trace_can_be_replayed(suffice: Callable, docs: Path, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    suffice("ask", "Who decoded the waggle dance?", "--docs", docs, "--alpha", 1, "--trace", trace)
    result = suffice("replay", trace, "--stop", "fixed(1)", "--json")
    assert result.status == 0, result.err
    assert json.loads(result.out)["gates"][0]["stops"] == [1]


@pytest.mark.parametrize(
    "arguments",
    [
        ("missing.jsonl", "--stop", "fixed(1)"),
        (".", "--stop", "fixed(1)"),
        ("episodes.jsonl",),
        ("episodes.jsonl", "--stop", "nope"),
        ("episodes.jsonl", "--stop", "fixed(1)", "--corpus", "missing.jsonl"),
    ],
)
def test_invalid_arguments(suffice: Callable, file: Path, arguments: tuple[str, ...]) -> None:
    result = suffice("replay", *arguments)
    assert result.status == 2, result.err
    assert result.err.count("\n") == 1
    assert "this is a bug" not in result.err


def episode(number, rounds=6):
    """Build a run that finds its two gold passages early or late."""
    draw = random.Random(number)
    when = sorted(draw.sample(range(rounds), 2))
    recorded = []
    for index in range(rounds):
        ids = [f"{number}-{index}"] + ([f"{number}-gold{when.index(index)}"] if index in when else [])
        hits = [{"id": id, "score": draw.random()} for id in ids]
        readings = {"sufficiency.model": draw.uniform(0.1, 0.9)}
        recorded.append(
            {"queries": [f"query {index}"], "passages": hits, "tokens": 10, "answer": "Ida", "readings": readings}
        )
    gold = [f"{number}-gold0", f"{number}-gold1"]
    return {
        "id": f"q{number}",
        "question": "Who is Ida?",
        "answer": "Ida",
        "gold": gold,
        "agent": "x",
        "rounds": recorded,
    }


@pytest.fixture
def runs(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(json.dumps(episode(number)) for number in range(40)), encoding="utf-8")
    return path


def gates(result):
    assert result.status == 0, result.err
    return json.loads(result.out)["gates"]


def test_the_table_has_a_row_for_each_gate(suffice, runs):
    result = suffice("replay", runs, "--stop", "sufficiency(p=0.8)", "--stop", "worth | fixed(3)")
    lines = result.out.splitlines()
    assert result.status == 0
    assert all(word in lines[0] for word in ("rounds", "tokens", "recall", "answer F1", "lift", "gap closed"))
    assert len(lines) == 2 + 2 + 6 + 1
    # A pipe within a gate must not end its cell.
    assert len({line.replace("\\|", "").count("|") for line in lines}) == 1


def test_json_holds_the_published_columns(suffice, runs):
    rows = gates(suffice("replay", runs, "--stop", "sufficiency(p=0.8)", "--json"))
    assert [row["gate"] for row in rows] == ["sufficiency(p=0.8)", *(f"fixed({k})" for k in range(1, 7)), "oracle"]
    for row in rows:
        assert row.keys() == COLUMNS
        assert len(row["stops"]) == 40
        assert all(isinstance(stop, int) for stop in row["stops"])
        assert row["lift_ci"][0] <= row["lift"] + 1e-9
    assert rows[-1]["gap_closed"] == pytest.approx(1.0)
    assert rows[0]["mean_rounds"] == pytest.approx(sum(rows[0]["stops"]) / 40)


def test_sweep_adds_sixteen_gates(suffice, runs):
    rows = gates(suffice("replay", runs, "--sweep", "--json"))
    names = [row["gate"] for row in rows if row["gate"].startswith("exhaustion")]
    assert len(names) == len(set(names)) == 16
    assert sum("smooth" in name for name in names) == 9
    assert len(gates(suffice("replay", runs, "--sweep", "--stop", "worth", "--json"))) == len(rows) + 1


def test_episodes_and_traces_together_and_gzipped(suffice, runs, docs, tmp_path):
    trace, zipped = tmp_path / "trace.jsonl", tmp_path / "runs.jsonl.gz"
    zipped.write_bytes(gzip.compress(runs.read_bytes()))
    asked = suffice(
        "ask", "Who decoded the waggle dance?", "--docs", docs, "--model", "extractive", "--alpha", 1, "--trace", trace
    )
    assert asked.status == 0, asked.err
    [row, *_] = gates(suffice("replay", zipped, trace, "--stop", "fixed(1)", "--json"))
    assert row["stops"] == [1] * 41
    alone = gates(suffice("replay", trace, "--stop", "fixed(1)", "--json"))[0]
    for name in ("recall", "all_gold", "answer_f1", "lift", "lift_ci", "gap_closed"):
        assert alone[name] is None


def test_a_corpus_adds_the_texts(suffice, tmp_path):
    run = episode(1)
    path, corpus = tmp_path / "one.jsonl", tmp_path / "corpus.jsonl"
    path.write_text(json.dumps(run), encoding="utf-8")
    ids = {hit["id"] for round in run["rounds"] for hit in round["passages"]}
    corpus.write_text("\n".join(json.dumps({"id": id, "text": "always the same"}) for id in ids), encoding="utf-8")
    without = gates(suffice("replay", path, "--stop", "saturation", "--json"))[0]
    joined = gates(suffice("replay", path, "--stop", "saturation", "--corpus", corpus, "--json"))[0]
    assert (without["abstained"], without["stops"]) == (1, [6])
    assert (joined["abstained"], joined["stops"]) == (0, [2])


def test_fit_then_calibrate_then_replay(suffice, runs, tmp_path):
    weights = tmp_path / "own weights.json"
    fitted = suffice("lab", "fit", runs, "--out", weights, "--price", 0.2)
    assert fitted.status == 0, fitted.err
    assert "40 episodes" in fitted.out
    data = json.loads(weights.read_text(encoding="utf-8"))
    assert (data["price"], data["episodes"], data["files"]) == (0.2, 40, ["runs.jsonl"])
    calibrated = suffice("lab", "calibrate", runs, "--rounds", 2.5, "--file", weights)
    assert calibrated.status == 0, calibrated.err
    gate = calibrated.out.split('--stop "')[1].split('"')[0]  # The printed option works as printed.
    [row, *_] = gates(suffice("replay", runs, "--stop", gate, "--json"))
    assert row["mean_rounds"] == pytest.approx(2.5, abs=0.15)


def test_calibrate_with_the_built_in_weights(suffice, runs):
    result = suffice("lab", "calibrate", runs, "--rounds", 2)
    assert result.status == 0, result.err
    assert "worth(price=" in result.out


@pytest.fixture
def bad(tmp_path):
    lines = {
        "empty.jsonl": "",
        "prose.jsonl": "These are no episodes.\n",
        "bare.jsonl": '{"id": "q", "question": "Who?"}\n',
        "norounds.jsonl": '{"id": "q", "question": "Who?", "rounds": []}\n',
        "nogold.jsonl": json.dumps({**episode(1), "gold": []}),
    }
    for name, text in lines.items():
        (tmp_path / name).write_text(text, encoding="utf-8")


@pytest.mark.usefixtures("bad", "runs")
@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("replay", "none.jsonl", "--stop", "worth"), "none.jsonl"),
        (("replay", "empty.jsonl", "--stop", "worth"), "empty.jsonl"),
        (("replay", "prose.jsonl", "--stop", "worth"), "line 1"),
        (("replay", "bare.jsonl", "--stop", "worth"), "rounds"),
        (("replay", "norounds.jsonl", "--stop", "worth"), "rounds"),
        (("replay", "runs.jsonl"), "--stop"),
        (("replay", "runs.jsonl", "--stop", "wurth"), "worth"),
        (("replay", "runs.jsonl", "--stop", "worth("), "worth("),
        (("replay", "runs.jsonl", "--stop", "worth(price=2)"), "between 0 and 1"),
        (("replay", "runs.jsonl", "--stop", "worth(file='none.json')"), "suffice lab fit"),
        (("replay", "runs.jsonl", "--stop", "worth", "--corpus", "prose.jsonl"), "prose.jsonl"),
        (("replay",), "FILE"),
        (("lab", "fit", "runs.jsonl"), "--out"),
        (("lab", "fit", "nogold.jsonl", "--out", "w.json"), "too little"),
        (("lab", "fit", "none.jsonl", "--out", "w.json"), "none.jsonl"),
        (("lab", "fit", "runs.jsonl", "--out", "nowhere/w.json"), "nowhere"),
        (("lab", "calibrate", "runs.jsonl", "--rounds", "99"), "between 1 and 6"),
        (("lab", "calibrate", "runs.jsonl", "--rounds", "2", "--file", "none.json"), "none.json"),
        (("lab", "calibrate", "runs.jsonl", "--rounds", "2", "--file", "prose.jsonl"), "prose.jsonl"),
    ],
)
def test_bad_input_is_one_line_that_names_the_problem(suffice, arguments, hint):
    result = suffice(*arguments)
    assert result.status == 2, result.err
    assert result.out == ""
    assert result.err.count("\n") == 1
    assert hint in result.err
    assert "bug" not in result.err
