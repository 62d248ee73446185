"""``suffice tune``: improve one instruction by experiments on a suite of tasks."""

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from suffice.cli.options import JSON, OUTPUT, QUIET, argument, build_options, flag, takes_options
from suffice.errors import InputError, SufficeError
from suffice.options import LIMITS, SEARCH, RunOptions

if TYPE_CHECKING:
    from suffice.tuning.tuner import Evaluate, TuningExperiment, TuningResult


@takes_options("docs", "model")
def tune(
    name: str = argument(..., "The prompt to tune, such as writing/prose ('suffice prompts list').", "PROMPT"),
    suite: Path = flag(..., "The tasks: JSONL with question, answer and gold.", metavar="FILE", show_default=False),
    scorer: Literal["review", "support", "recall", "f1"] = flag(
        "support", "What counts: review, support, recall or f1.", SEARCH, metavar="NAME"
    ),
    candidates: list[Path] | None = flag(
        None,
        "Try the text of this file instead of asking the model for changes. Repeatable.",
        SEARCH,
        "--candidate",
        "FILE",
    ),
    experiments: int = flag(5, "Experiments at most.", LIMITS, metavar="N", min=1),
    repeats: int = flag(2, "Runs of each task with each text.", LIMITS, metavar="N", min=2),
    max_runs: int | None = flag(None, "Runs at most.", LIMITS, metavar="N", min=1),
    max_cost: float | None = flag(None, "US dollars at most.", LIMITS, metavar="USD", min=0),
    max_seconds: float | None = flag(None, "Seconds at most.", LIMITS, metavar="S", min=1),
    concurrency: int = flag(1, "Runs at the same time.", LIMITS, metavar="N", min=1),
    out: Path = flag(
        Path("tuning"),
        "The folder for the log and the best text. Started again with it, a tuning continues.",
        OUTPUT,
        metavar="DIR",
    ),
    as_json: bool = JSON,
    quiet: bool = QUIET,
    **given: Any,
) -> int:
    """Improve one prompt by experiments: keep a change only if it is a real gain.

    Each change is compared with the present text on the same tasks, tested for significance, and confirmed on tasks that were
    held out. The best text is written to DIR/best.md; to use it, copy it to the folder that 'suffice prompts list' names.
    """
    from suffice.cli.terminal import Terminal, run_interruptible
    from suffice.prompts.base import list_own_templates, read_built_in
    from suffice.text.plain import read_text
    from suffice.tuning.propose import propose_given, propose_with_model
    from suffice.tuning.scorers import SCORERS
    from suffice.tuning.suite import load_suite
    from suffice.tuning.tuner import Tuner, TuningRules

    text, own = read_built_in(name), list_own_templates().get(name)
    if own is not None:
        text = own.read_text(encoding="utf-8")
    tasks = load_suite(suite)
    texts = [(path.name, read_text(path)) for path in candidates or ()]
    planned = min(experiments, len(texts)) if texts else experiments
    with Terminal(quiet=quiet).live_display() as terminal:
        evaluate = _make_evaluate(name, build_options(**given), SCORERS[scorer], terminal.notify)
        propose = propose_given(texts) if texts else propose_with_model(_choose_model(given["model"], terminal.notify))

        def report_experiment(experiment: "TuningExperiment") -> None:
            gain = experiment.development["gain"]
            terminal.notify(
                f"Experiment {experiment.number}: {experiment.decision} ({gain:+.3f}). {experiment.hypothesis}"
            )

        rules = TuningRules(
            planned, repeats, max_runs=max_runs, max_cost_usd=max_cost, max_seconds=max_seconds, concurrency=concurrency
        )
        tuner = Tuner(
            *(name, text, tasks, evaluate, propose, out, rules),
            on_experiment=report_experiment,
            on_run=lambda runs: terminal.show_progress("tuning", runs, max_runs or 0),
        )
        result = run_interruptible(tuner.run())
    _print_result(result, out, as_json)
    return 0


def _make_evaluate(name: str, options: RunOptions, score: Any, notify: Any) -> "Evaluate":
    import asyncio

    from suffice.api import prepare_run
    from suffice.engine.pipeline import run_to_report
    from suffice.models.choose import notify_once
    from suffice.prompts.base import override_prompts
    from suffice.tuning.suite import TuningTask
    from suffice.tuning.tuner import RunScore

    preparing = asyncio.Lock()  # Runs that start together would wait for each other's update of the index.
    notify = notify_once(notify)

    async def evaluate(text: str, task: TuningTask, repeat: int) -> RunScore:
        # Not kept: findings of the earlier runs of a task would make its later runs better.
        own = replace(options, seed=repeat, auto_skills=False, keep=False)
        with override_prompts({name: text}):
            try:
                async with preparing:
                    config = await prepare_run(task.question, own, notify)
                report = await run_to_report(config)
            except InputError:
                raise
            except SufficeError:
                return RunScore(None)
        if report.stop.reason == "cancelled":  # A run that was cut short says nothing about the text.
            raise asyncio.CancelledError
        cost = report.usage.cost_usd if report.usage.calls else 0.0
        return RunScore(score(report, task), 0.0 if report.usage.model == "extractive" else cost)

    return evaluate


def _choose_model(name: str | None, notify: Any) -> Any:
    from suffice import settings
    from suffice.models.base import is_language_model
    from suffice.models.choose import choose_model

    model = choose_model(name, settings.load(), notify)(None)
    if not is_language_model(model):
        raise InputError(
            "Only a language model can propose changes; choose one with --model or give texts with --candidate"
        )
    return model


def _print_result(result: "TuningResult", out: Path, as_json: bool) -> None:
    if as_json:
        print(json.dumps(asdict(result), ensure_ascii=False, indent=2))
        return
    for one in result.experiments:
        held_out = "" if one.held_out is None else f"  held-out {one.held_out['gain']:+.3f} (p {one.held_out['p']:.3g})"
        development = one.development
        print(
            f"{one.number:>3}  {one.decision:<9} {development['gain']:+.3f} "
            f"(p {development['p']:.3g}){held_out}  {one.hypothesis}"
        )
    cost = "unknown cost" if result.cost_usd is None else f"${result.cost_usd:.4f}"
    ending = {"budget": "the budget is used up", "no_proposal": "nothing is left to try"}.get(result.ended, "done")
    print(f"\n{result.runs} runs, {cost}; {ending}.")
    print(f"Best text: {out / 'best.md'}" if result.improved else "No change was a real gain; the text stays as it is.")
