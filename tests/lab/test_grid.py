"""A grid: rows that survive any interruption, calls that are not repeated, limits, and errors as rows."""

import asyncio
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from suffice import settings
from suffice.errors import InputError, ModelError
from suffice.lab.experiment import (
    EXHAUSTION_SWEEP,
    PRESET_EXPERIMENTS,
    Experiment,
    load_experiment,
    parse_rounds,
)
from suffice.lab.grid import Grid, make_key, read_rows, trim_partial_line
from suffice.models.base import ModelWrapper, Reply
from suffice.models.extractive import ExtractiveModel
from suffice.types import Usage

PROCESS = Path(__file__).parent / "grid_process.py"


def run_process(*arguments):
    return subprocess.run([sys.executable, PROCESS, *map(str, arguments)], capture_output=True, text=True, timeout=300)


def comparable(folder):
    return sorted(json.dumps({**row, "seconds": 0}, sort_keys=True) for row in read_rows(folder))


def test_killed_and_started_again_it_has_the_same_rows_and_repeats_no_call(tiny, tmp_path):
    whole, log = tmp_path / "whole", tmp_path / "whole.log"
    assert run_process(tiny, whole, tmp_path, log).returncode == 0
    calls = log.read_text().splitlines()
    out, log = tmp_path / "killed", tmp_path / "killed.log"
    for kill_after in (5, 7, 11):
        assert run_process(tiny, out, tmp_path, log, kill_after).returncode == -9
    if (rows := out / "rows.jsonl").exists():  # As if it was killed while it wrote a row.
        with rows.open("a") as file:
            file.write('{"data": "tiny", "quest')
    assert run_process(tiny, out, tmp_path, log).returncode == 0
    assert comparable(out) == comparable(whole)
    assert log.read_text().splitlines() == calls, "every call once, in the same order"
    assert len(comparable(out)) == 3 * 2 * 2 * 2
    before = (out / "rows.jsonl").read_bytes()
    assert run_process(tiny, out, tmp_path, log).returncode == 0
    assert (out / "rows.jsonl").read_bytes() == before, "nothing is left to do"


class PaidModel(ModelWrapper):
    """An extractive model with a price of one cent a call."""

    def __init__(self, fail=()):
        super().__init__(ExtractiveModel())
        self.local, self._fail, self.calls = False, fail, 0

    async def __call__(self, prompt):
        self.calls += 1
        if prompt.role in self._fail:
            raise self._fail[prompt.role]
        reply = await self.wrapped(prompt)
        return Reply(reply.answer, Usage(1, 100, 10, 0.01))


@pytest.fixture
def grid(tiny, tmp_path):
    def make(model=None, judge=None, **changes):
        values = {"data": (str(tiny),), "harness": ("ircot",), "memory": ("baseline",), "alpha": (1.0,), **changes}
        config = replace(settings.load(), cache_dir=tmp_path)
        return Grid(Experiment(**values), tmp_path / "out", (model or PaidModel(), judge), config)

    return make


def run(grid, **limits):
    return asyncio.run(grid.run(**limits))


def test_a_row_has_what_was_spent_and_found(grid, tmp_path):
    progress = run(grid())
    rows = read_rows(tmp_path / "out")
    assert (progress.done, progress.errors) == (6, 0)
    row = next(row for row in rows if row["question"] == "q1" and row["gate"] == "none")
    assert row["calls"] == sum(used[0] for used in row["by_role"].values())
    assert row["input_tokens"] == 100 * row["calls"]
    assert row["cost_usd"] == pytest.approx(0.01 * row["calls"])
    assert len(row["recall_by_round"]) == row["rounds"] == len(row["query_texts"])
    assert {row["answerable"] for row in rows if row["question"] == "q3"} == {False}


def test_the_cost_limit_ends_it_and_needs_a_price(grid, tmp_path):
    progress = run(grid(), max_usd=0.05, concurrency=1)
    assert 0 < progress.done < 6
    unpriced = PaidModel()
    unpriced.has_price = False
    with pytest.raises(InputError, match="price"):
        run(grid(unpriced), max_usd=1)


def test_the_time_limit_ends_it_and_it_continues(grid, tmp_path):
    class Slow(PaidModel):
        async def __call__(self, prompt):
            await asyncio.sleep(0.05)
            return await super().__call__(prompt)

    progress = run(grid(Slow()), max_seconds=0.2, concurrency=1)
    assert progress.done < 6
    assert run(grid()).done == 6


def test_a_failed_question_is_a_row_with_its_error(grid, tmp_path):
    progress = run(grid(PaidModel({"answer_from_memory": ModelError("the server is gone")})))
    assert (progress.done, progress.errors) == (6, 6)
    assert all("the server is gone" in row["error"] for row in read_rows(tmp_path / "out"))
    broken = PaidModel({"thought": RuntimeError("a bug")})
    other = replace(grid().experiment, gate=("fixed(2)",))
    config = replace(settings.load(), cache_dir=tmp_path)
    progress = asyncio.run(Grid(other, tmp_path / "broken", (broken, None), config).run())
    assert progress.errors == 3
    assert "RuntimeError" in read_rows(tmp_path / "broken")[0]["error"]


def test_a_folder_keeps_to_one_experiment_but_takes_further_cells(grid, tmp_path):
    run(grid())
    assert run(grid(gate=("none", "exhaustion", "fixed(1)"))).done == 9
    with pytest.raises(InputError, match="another --out"):
        run(grid(seed=5))


def test_parts_of_the_questions_add_up(tiny, tmp_path):
    experiment = Experiment(data=(str(tiny),), harness=("ircot",), memory=("baseline",), gate=("none",))
    config = replace(settings.load(), cache_dir=tmp_path)
    parts = [Grid(experiment, tmp_path, (PaidModel(), None), config, part=(n, 2)).list_jobs() for n in (1, 2)]
    keys = [job.key for jobs in parts for job in jobs]
    assert len(keys) == len(set(keys)) == 3


def test_an_estimate_counts_runs_calls_and_tokens(grid):
    many = grid(memory=("baseline", "structured"))
    estimate = many.estimate(many.list_jobs())
    assert estimate.runs == 12
    assert estimate.calls > 12 * 10
    assert estimate.usd is None, "no price is known"


def test_a_partial_line_is_trimmed(tmp_path):
    path = tmp_path / "rows.jsonl"
    for content, kept in ((b"a\nb", b"a\n"), (b"a\n", b"a\n"), (b"ab", b""), (b"", b"")):
        path.write_bytes(content)
        trim_partial_line(path)
        assert path.read_bytes() == kept


def test_cells_and_presets():
    belief = Experiment(data=("d",), **PRESET_EXPERIMENTS["belief"])
    assert len(belief.list_cells()) == 15 * 2, "Iter-RetGen has no lobotomized cell"
    gates = Experiment(data=("d",), **PRESET_EXPERIMENTS["gates"])
    assert len(gates.list_cells()) == 4 * (1 + 16 + 3)
    ablations = Experiment(data=("d",), **PRESET_EXPERIMENTS["ablations"]).list_cells()
    assert {cell.variant for cell in ablations} == {
        *("", "k=3", "k=10", "alpha=0", "alpha=0.5", "alpha=1", "K=5/3", "K=20/12")
    }
    assert (len(EXHAUSTION_SWEEP), sum("smooth" in gate for gate in EXHAUSTION_SWEEP)) == (16, 9)
    assert "exhaustion(j=0.6, u=0.3, p=2)" in EXHAUSTION_SWEEP  # The one that the paper names.


def test_an_experiment_file_and_its_overrides(tmp_path):
    path = tmp_path / "experiment.toml"
    path.write_text('preset = "belief"\ndata = ["musique"]\nquestions = 7\nrounds = {ircot = 3}\n')
    experiment = load_experiment(path, None, {"questions": 9, "seed": None})
    assert experiment.data == (str(tmp_path / "musique"),)
    assert (experiment.questions, experiment.seed, experiment.rounds) == (9, 0, {"ircot": 3})
    assert {cell.rounds for cell in experiment.list_cells() if cell.harness == "ircot"} == {3}


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("question = 3", "question"),
        ('harness = "loop"', "loop"),
        ('memory = ["amnesia"]', "amnesia"),
        ('gate = ["exhaustion(j=7)"]', "exhaustion"),
        ('preset = "all"', "all"),
        ("= 3", "TOML"),
        ('limits = "6"', "10/6"),
    ],
)
def test_a_wrong_experiment_file_is_explained(tmp_path, text, named):
    path = tmp_path / "experiment.toml"
    path.write_text(f'data = "x"\n{text}\n')
    with pytest.raises(InputError, match=named):
        load_experiment(path, None, {})


def test_rounds_by_harness():
    assert parse_rounds("ircot=6, memgpt=8") == {"ircot": 6, "memgpt": 8}
    assert set(parse_rounds("5").values()) == {5}
    with pytest.raises(InputError):
        parse_rounds("many")


def test_something_else_than_rows_is_refused(tmp_path):
    (tmp_path / "rows.jsonl").write_text('{"a": 1}\n')
    with pytest.raises(InputError, match="row"):
        [make_key(row) for row in read_rows(tmp_path / "rows.jsonl")]
    with pytest.raises(InputError, match="holds no rows"):
        read_rows(_empty(tmp_path))


def _empty(path):
    folder = path / "empty"
    folder.mkdir()
    return folder
