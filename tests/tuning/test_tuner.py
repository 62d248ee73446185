"""The tuner keeps a change only on a real gain: a better text, a lucky one, an over-fit one, noise, budget, resuming."""

import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from suffice import InputError, research
from suffice.prompts.base import load_template, override_prompts
from suffice.prompts.lab import ProposeChangeResponse
from suffice.prompts.planning import PlanResponse, ReflectionResponse
from suffice.prompts.writing import SynthesisResponse
from suffice.testing import ScriptedModel, WordSearch, make_passage
from suffice.tuning.decide import compare_paired, is_futile, sign_flip_p
from suffice.tuning.propose import Propose, propose_given, propose_with_model
from suffice.tuning.scorers import score_f1, score_support
from suffice.tuning.suite import TuningTask, load_suite
from suffice.tuning.tuner import Evaluate, RunScore, Tuner, TuningResult, TuningRules
from suffice.types import Reason, RemovedClaim

TASKS = [TuningTask(str(i), f"Question {i}?", is_held_out=i >= 12) for i in range(20)]
RULES = TuningRules(experiments=3, repeats=2)


def make_evaluate(quality: Callable[[str, TuningTask], float], noise: float = 0.05) -> tuple[Evaluate, list[str]]:
    """Return runs whose score is the text's true quality for the task, with noise, and the list of runs made."""
    made: list[str] = []

    async def evaluate(text: str, task: TuningTask, repeat: int) -> RunScore:
        made.append(text)
        shift = random.Random(f"{text}{task.id}{repeat}").gauss(0, noise)
        return RunScore(min(1.0, max(0.0, quality(text, task) + shift)), 0.01)

    return evaluate, made


def tune(
    folder: Path, evaluate: Evaluate, texts: list[str], rules: TuningRules = RULES, propose: Propose | None = None
) -> TuningResult:
    given = propose or propose_given([(text, text) for text in texts])
    return asyncio.run(Tuner("writing/prose", "base", TASKS, evaluate, given, folder, rules).run())


def test_better_text_is_kept(tmp_path: Path) -> None:
    evaluate, _ = make_evaluate(lambda text, task: {"base": 0.5, "worse": 0.3, "better": 0.7, "best": 0.9}[text])
    result = tune(tmp_path, evaluate, ["worse", "better", "best"])
    assert [one.decision for one in result.experiments] == ["futile", "kept", "kept"]
    assert (tmp_path / "best.md").read_text() == result.text == "best"
    rows = [json.loads(line) for line in (tmp_path / "tuning.jsonl").read_text().splitlines()]
    kept = [row for row in rows if row["decision"] == "kept"]
    assert [row["hypothesis"] for row in kept] == ["better", "best"]
    assert kept[1]["parent"] == kept[0]["digest"]
    assert rows[1]["diff"].splitlines()[-2:] == ["-base", "+better"]
    assert rows[1]["cost_usd"] > 0


def test_lucky_text_is_refused(tmp_path: Path) -> None:
    """Texts that are no better win now and then by chance; over many seeds nearly none may be kept."""
    kept = 0
    for seed in range(20):
        evaluate, _ = make_evaluate(lambda text, task: 0.5, noise=0.2)
        texts = [f"lucky {seed} {number}" for number in range(3)]
        result = tune(tmp_path / str(seed), evaluate, texts)
        kept += sum(one.decision == "kept" for one in result.experiments)
    assert kept == 0


def test_one_lucky_task_is_not_a_gain(tmp_path: Path) -> None:
    evaluate, _ = make_evaluate(lambda text, task: 1.0 if text == "lucky" and task.id == "3" else 0.2, noise=0.0)
    result = tune(tmp_path, evaluate, ["lucky"])
    assert [one.decision for one in result.experiments] == ["futile"]
    assert not result.improved


def test_gain_that_held_out_tasks_do_not_show_is_overfit(tmp_path: Path) -> None:
    evaluate, _ = make_evaluate(lambda text, task: 0.5 if text == "base" else (0.4 if task.is_held_out else 0.9))
    result = tune(tmp_path, evaluate, ["quotes the tasks"])
    assert [one.decision for one in result.experiments] == ["overfit"]
    assert result.experiments[0].development["gain"] > 0.3
    assert result.experiments[0].held_out is not None
    assert result.experiments[0].held_out["gain"] < 0
    assert not (tmp_path / "best.md").exists()


def test_futile_experiment_ends_early(tmp_path: Path) -> None:
    evaluate, made = make_evaluate(lambda text, task: 0.1 if text == "worse" else 0.8, noise=0.01)
    tune(tmp_path, evaluate, ["worse"])
    assert made.count("worse") < 12 * RULES.repeats


def test_budget_ends_the_tuning_and_it_can_continue(tmp_path: Path) -> None:
    evaluate, made = make_evaluate(lambda text, task: 0.5 if text == "base" else 0.9)
    result = tune(tmp_path, evaluate, ["better"], TuningRules(experiments=1, repeats=2, max_runs=30))
    assert (result.ended, result.runs, result.improved) == ("budget", 30, False)
    with (tmp_path / "scores.jsonl").open("a") as file:
        file.write('{"text": "half a li')
    result = tune(tmp_path, evaluate, ["better"], TuningRules(experiments=1, repeats=2))
    assert result.improved
    assert len(made) == result.runs == 2 * 2 * len(TASKS)
    again = tune(tmp_path, evaluate, ["better"], TuningRules(experiments=1, repeats=2))
    assert again.text == "better"
    assert len(made) == result.runs


def test_time_ends_the_tuning_and_a_run_in_progress_is_not_scored(tmp_path: Path) -> None:
    async def evaluate(text: str, task: TuningTask, repeat: int) -> RunScore:
        await asyncio.sleep(0 if int(task.id) < 3 else 60)
        return RunScore(0.5)

    result = tune(tmp_path, evaluate, ["better"], TuningRules(experiments=1, max_seconds=0.2))
    assert result.ended == "budget"
    assert len((tmp_path / "scores.jsonl").read_text().splitlines()) == result.runs == 2 * 3


def test_concurrent_runs_decide_the_same(tmp_path: Path) -> None:
    running = most = 0
    score, _ = make_evaluate(lambda text, task: {"base": 0.5, "worse": 0.3, "better": 0.7}[text])

    async def evaluate(text: str, task: TuningTask, repeat: int) -> RunScore:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return await score(text, task, repeat)

    rules = TuningRules(experiments=2, max_runs=100, concurrency=5)
    result = tune(tmp_path, evaluate, ["worse", "better"], rules)
    assert [one.decision for one in result.experiments] == ["futile", "kept"]
    assert most == 5
    again = tune(tmp_path / "short", evaluate, ["better"], TuningRules(experiments=1, max_runs=7, concurrency=5))
    assert (again.ended, again.runs) == ("budget", 7)


def test_money_ends_the_tuning(tmp_path: Path) -> None:
    evaluate, _ = make_evaluate(lambda text, task: 0.5)
    result = tune(tmp_path, evaluate, ["better"], TuningRules(experiments=1, max_cost_usd=0.1))
    assert result.ended == "budget"
    assert result.cost_usd == pytest.approx(0.1)


def test_folder_of_another_tuning_is_refused(tmp_path: Path) -> None:
    evaluate, _ = make_evaluate(lambda text, task: 0.5)
    tune(tmp_path, evaluate, ["x"])
    with pytest.raises(InputError, match="another tuning"):
        tune(tmp_path, evaluate, ["x"], TuningRules(experiments=3, repeats=3))


def test_too_few_tasks_are_refused(tmp_path: Path) -> None:
    evaluate, _ = make_evaluate(lambda text, task: 0.5)
    with pytest.raises(InputError, match="4 development tasks"):
        Tuner("writing/prose", "base", [*TASKS[:4], *TASKS[12:]], evaluate, propose_given([]), tmp_path)


def test_unscored_runs_decide_nothing(tmp_path: Path) -> None:
    async def evaluate(text: str, task: TuningTask, repeat: int) -> RunScore:
        return RunScore(None if text == "better" and int(task.id) % 2 else 0.5 if text == "base" else 0.9)

    assert tune(tmp_path, evaluate, ["better"]).experiments[0].decision == "unscored"


def test_statistics() -> None:
    assert sign_flip_p([1, 1, 1]) == pytest.approx(1 / 8)
    assert sign_flip_p([0.2] * 20) < 0.001
    assert compare_paired([0.5, 0.5], [0.6, 0.4]).gain == pytest.approx(0)
    assert is_futile([0.5] * 10, [0.4] * 5, 10, 0.05)
    assert not is_futile([0.5] * 10, [0.6] * 5, 10, 0.05)


def test_suite_is_split_and_checked(tmp_path: Path) -> None:
    path = tmp_path / "suite.jsonl"
    path.write_text("\n".join(json.dumps({"question": f"Q{i}", "answer": "x"}) for i in range(9)))
    assert sum(task.is_held_out for task in load_suite(path)) == 3
    path.write_text('{"question": "Q"}\n{"question": "Q"}')
    with pytest.raises(InputError, match="twice"):
        load_suite(path)
    path.write_text("no json")
    with pytest.raises(InputError, match="line 1"):
        load_suite(path)


def test_whole_runs_with_a_model_that_follows_the_instruction(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scripted model cites only if the instruction says so, and proposes that itself; the tuner finds it in real runs."""
    for name in ("CACHE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"SUFFICE_{name}_DIR", str(tmp_path / name.lower()))
    search = WordSearch([make_passage("a", "Karl von Frisch decoded the waggle dance in 1927.", "Bees")])
    wish = "Name the year."

    def draft(prompt: object) -> SynthesisResponse:
        year = "1927" if wish in prompt.render() else "1950"  # type: ignore[attr-defined]
        return SynthesisResponse(f"Karl von Frisch decoded the waggle dance in {year} [1].", short_answer=year)

    model = ScriptedModel(
        {
            "plan": [PlanResponse(())],
            "reflect": [ReflectionResponse(True, 0.9, (), ())],
            "draft": [draft],
            "propose_change": [
                ProposeChangeResponse("a broken text", "Write $nonsense."),
                ProposeChangeResponse("flattery helps", "You are great."),
                ProposeChangeResponse("years help", f"Write well. {wish}"),
            ],
        }
    )
    tasks = [
        TuningTask(str(i), f"Tell number {i} about the waggle dance", ("1927",), is_held_out=i >= 6) for i in range(10)
    ]

    async def evaluate(text: str, task: TuningTask, repeat: int) -> RunScore:
        with override_prompts({"writing/prose": text}):
            report = await research(task.question, search=search, model=model, review=False, strategy="reflect")
        assert score_support(report, task) is not None
        return RunScore(score_f1(report, task))

    base = load_template("writing/prose").body.template
    rules = TuningRules(experiments=2, repeats=2)
    tuner = Tuner("writing/prose", base, tasks, evaluate, propose_with_model(model), tmp_path / "out", rules)
    result = asyncio.run(tuner.run())
    assert [one.decision for one in result.experiments] == ["futile", "kept"]
    assert wish in result.text


def test_removed_claims_count_against_the_support() -> None:
    passage = make_passage("p1", "Karl von Frisch decoded the waggle dance in 1927.", "Bees", path="bees.txt")
    report = asyncio.run(
        research("Who decoded the waggle dance?", search=WordSearch([passage]), model="extractive", review=False)
    )
    assert score_support(report, TASKS[0]) == 1.0
    removed = (RemovedClaim("Bees sing.", Reason("not_stated")),) * len(report.claims)
    assert score_support(replace(report, removed=removed), TASKS[0]) == 0.5
