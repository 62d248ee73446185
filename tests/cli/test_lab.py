"""``suffice replay`` and ``suffice lab`` as typed: files written, formats, joined corpora, and one line for what is wrong."""

import gzip
import json
import random

import pytest

COLUMNS = {
    "gate", "mean_rounds", "mean_tokens", "recall", "all_gold", "answer_f1", "fire_rate", "abstained", "lift", "lift_ci",
    "gap_closed", "stops",
}  # fmt: skip


def episode(number, rounds=6):
    """A run that finds its two gold passages early or late."""
    draw = random.Random(number)
    when = sorted(draw.sample(range(rounds), 2))
    made = []
    for index in range(rounds):
        ids = [f"{number}-{index}"] + ([f"{number}-gold{when.index(index)}"] if index in when else [])
        hits = [{"id": id, "score": draw.random()} for id in ids]
        sure = {"sufficiency.model": draw.uniform(0.1, 0.9)}
        made.append({"queries": [f"query {index}"], "passages": hits, "tokens": 10, "answer": "Ida", "readings": sure})
    gold = [f"{number}-gold0", f"{number}-gold1"]
    return {"id": f"q{number}", "question": "Who is Ida?", "answer": "Ida", "gold": gold, "agent": "x", "rounds": made}


@pytest.fixture
def runs(tmp_path):
    path = tmp_path / "runs.jsonl"
    path.write_text("\n".join(json.dumps(episode(number)) for number in range(40)), encoding="utf-8")
    return path


def gates(ended):
    assert ended.status == 0, ended.err
    return json.loads(ended.out)["gates"]


def test_the_table_names_its_columns(suffice, runs):
    ended = suffice("replay", runs, "--stop", "sufficiency(p=0.8)", "--stop", "worth | fixed(3)")
    lines = ended.out.splitlines()
    assert ended.status == 0
    assert all(word in lines[0] for word in ("rounds", "tokens", "recall", "answer F1", "lift", "gap closed"))
    assert len(lines) == 2 + 2 + 6 + 1
    # A pipe within a gate must not end its cell.
    assert len({line.replace("\\|", "").count("|") for line in lines}) == 1


def test_json_by_the_contract(suffice, runs):
    rows = gates(suffice("replay", runs, "--stop", "sufficiency(p=0.8)", "--json"))
    assert [row["gate"] for row in rows] == ["sufficiency(p=0.8)", *(f"fixed({k})" for k in range(1, 7)), "oracle"]
    for row in rows:
        assert row.keys() == COLUMNS
        assert len(row["stops"]) == 40
        assert all(isinstance(stop, int) for stop in row["stops"])
        assert row["lift_ci"][0] <= row["lift"] + 1e-9
    assert rows[-1]["gap_closed"] == pytest.approx(1.0)
    assert rows[0]["mean_rounds"] == pytest.approx(sum(rows[0]["stops"]) / 40)


def test_sweep_adds_the_sixteen(suffice, runs):
    rows = gates(suffice("replay", runs, "--sweep", "--json"))
    names = [row["gate"] for row in rows if row["gate"].startswith("exhaustion")]
    assert len(names) == len(set(names)) == 16
    assert sum("smooth" in name for name in names) == 9
    assert len(gates(suffice("replay", runs, "--sweep", "--stop", "worth", "--json"))) == len(rows) + 1


def test_out_writes_every_format(suffice, runs, tmp_path):
    names = [tmp_path / f"table.{ending}" for ending in ("md", "json", "svg", "png")]
    ended = suffice("replay", runs, "--stop", "worth", *(word for name in names for word in ("--out", name)))
    assert ended.status == 0, ended.err
    md, js, svg, png = names
    assert md.read_text(encoding="utf-8").strip() == ended.out.strip()
    assert json.loads(js.read_text(encoding="utf-8"))["gates"][0]["gate"] == "worth"
    assert "<svg" in svg.read_text(encoding="utf-8")
    assert png.read_bytes().startswith(b"\x89PNG")


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


def test_the_corpus_gives_the_texts(suffice, tmp_path):
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
    gate = calibrated.out.split('--stop "')[1].split('"')[0]  # what it says to type works as typed
    [row, *_] = gates(suffice("replay", runs, "--stop", gate, "--json"))
    assert row["mean_rounds"] == pytest.approx(2.5, abs=0.15)


def test_calibrate_with_the_shipped_weights(suffice, runs):
    ended = suffice("lab", "calibrate", runs, "--rounds", 2)
    assert ended.status == 0, ended.err
    assert "worth(price=" in ended.out


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
        (("replay", "runs.jsonl", "--stop", "worth", "--out", "table.doc"), ".svg"),
        (("replay", "nogold.jsonl", "--stop", "worth", "--out", "table.svg"), "gold"),
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
def test_bad_input_is_one_line_and_status_2(suffice, arguments, hint):
    ended = suffice(*arguments)
    assert ended.status == 2, ended.err
    assert ended.out == ""
    assert ended.err.count("\n") == 1
    assert hint in ended.err
    assert "bug" not in ended.err
