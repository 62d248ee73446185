"""The tuning loop: baseline → proposal → evaluation → decision, until the experiments or the budget are used up.

docs/tuning.md says how an experiment can end. The folder holds ``scores.jsonl`` (one line a run, so that a stopped tuning
continues without paying again), ``tuning.jsonl`` (one line an experiment) and ``best.md`` (the best text).
"""

import asyncio
import hashlib
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from difflib import unified_diff
from pathlib import Path
from statistics import fmean
from typing import Any, TypeVar

from suffice.errors import InputError
from suffice.storage.runs import parse_json_lines
from suffice.tuning.decide import PairedResult, compare_paired, estimate_noise, is_futile, least_gain, smallest_p
from suffice.tuning.propose import Proposal, Propose, TuningState
from suffice.tuning.suite import TuningTask

T = TypeVar("T")

_WEAK_QUESTIONS = 5
_MIN_SCORED = 0.8  # Share of the tasks that must have a score with both texts.


@dataclass(frozen=True)
class RunScore:
    """The score of one run, from 0 to 1, ``None`` if it could not be scored, and its cost in USD if known."""

    score: float | None
    cost_usd: float | None = 0.0


Evaluate = Callable[[str, TuningTask, int], Awaitable[RunScore]]
"""Runs a task with a text of the instruction; the number is the seed of the repetition."""


@dataclass(frozen=True)
class TuningRules:
    """How experiments are judged, and what they may cost."""

    experiments: int = 5
    repeats: int = 2
    """Runs of each task with each text. The baseline is repeated as well: the differences between its runs are the noise."""
    level: float = 0.05
    """The chance to keep a change that does nothing, over all experiments together (Bonferroni)."""
    confirm_level: float = 0.1
    """The same for the held-out tasks, divided by the number of times they have been looked at."""
    max_runs: int | None = None
    max_cost_usd: float | None = None
    """Runs in progress when it is reached are still paid, so up to ``concurrency`` − 1 runs may come on top."""
    max_seconds: float | None = None
    """Runs in progress are given up when the time is over; they are made again when the tuning continues."""
    concurrency: int = 1
    """Runs at the same time. More than one task is then finished before it is checked whether an experiment is futile."""


@dataclass(frozen=True)
class TuningExperiment:
    """One experiment, as a line of ``tuning.jsonl``."""

    number: int
    prompt: str
    hypothesis: str
    decision: str
    diff: str
    digest: str
    parent: str
    development: dict[str, Any]
    held_out: dict[str, Any] | None
    noise: float
    runs: int
    cost_usd: float | None
    at: str = ""


@dataclass(frozen=True)
class TuningResult:
    """The best text, whether it differs from the first one, and all experiments."""

    text: str
    improved: bool
    experiments: tuple[TuningExperiment, ...]
    runs: int
    cost_usd: float | None
    ended: str


class _OutOfBudget(Exception):
    pass


@dataclass
class Tuner:
    """Tunes the instruction ``name``, beginning with ``text``."""

    name: str
    text: str
    tasks: Sequence[TuningTask]
    evaluate: Evaluate
    propose: Propose
    folder: Path
    rules: TuningRules = TuningRules()
    on_experiment: Callable[[TuningExperiment], None] = lambda experiment: None
    on_run: Callable[[int], None] = lambda runs: None
    _scores: dict[tuple[str, str, int], RunScore] = field(default_factory=dict)
    _started: int = 0
    _cost: float | None = 0.0

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.rules.concurrency)
        self._development = [task for task in self.tasks if not task.is_held_out]
        self._held_out = [task for task in self.tasks if task.is_held_out]
        level = self.rules.level / max(1, self.rules.experiments)
        for part, own, limit in (
            ("development", self._development, level),
            ("held-out", self._held_out, self.rules.confirm_level),
        ):
            if smallest_p(len(own)) > limit:
                raise InputError(
                    f"The suite has {len(own)} {part} tasks: with so few, no gain can be told from chance at the level "
                    f"{limit:.3g}; add tasks, or plan fewer experiments"
                )

    async def run(self) -> TuningResult:
        """Run the experiments that are left and return the best text."""
        self._load()
        done = _read_lines(self.folder / "tuning.jsonl")
        experiments = [TuningExperiment(**row) for row in done]
        kept = [one for one in experiments if one.decision == "kept"]
        first = self.text
        if kept:
            self.text = (self.folder / "best.md").read_text(encoding="utf-8")
        ended = "experiments"
        try:
            async with asyncio.timeout(self.rules.max_seconds):
                while len(experiments) < self.rules.experiments:
                    before = await self._score_all(self.text, self._development)
                    proposal = await self.propose(self._describe_state(before, experiments))
                    if proposal is None:
                        ended = "no_proposal"
                        break
                    self._add_cost(proposal.cost_usd)
                    experiments.append(await self._experiment(proposal, before, experiments))
                    self.on_experiment(experiments[-1])
        except (_OutOfBudget, TimeoutError):
            ended = "budget"
        return TuningResult(self.text, self.text != first, tuple(experiments), len(self._scores), self._cost, ended)

    async def _experiment(
        self, proposal: Proposal, before: list[list[float] | None], earlier: Sequence[TuningExperiment]
    ) -> TuningExperiment:
        runs, cost, parent = len(self._scores), self._cost, _digest(self.text)
        level = self.rules.level / self.rules.experiments
        noise = estimate_noise([own for own in before if own])
        confirmation: PairedResult | None = None
        after = await self._score_until_futile(proposal.text, before, level)
        development = compare_paired(*_pair_means(before, after))
        share = development.count / len(before)
        threshold = least_gain(noise, development.count, self.rules.repeats)
        if len(after) < len(before):
            decision = "futile"
        elif share < _MIN_SCORED:
            decision = "unscored"
        elif development.p > level or development.gain <= threshold:
            decision = "no_gain"
        else:
            looks = 1 + sum(one.held_out is not None for one in earlier)
            old = await self._score_all(self.text, self._held_out)
            confirmation = compare_paired(*_pair_means(old, await self._score_all(proposal.text, self._held_out)))
            share = confirmation.count / len(old)
            is_confirmed = confirmation.gain > 0 and confirmation.p <= self.rules.confirm_level / looks
            decision = "unscored" if share < _MIN_SCORED else "kept" if is_confirmed else "overfit"
        experiment = TuningExperiment(
            number=len(earlier) + 1,
            prompt=self.name,
            hypothesis=proposal.hypothesis,
            decision=decision,
            diff="\n".join(
                unified_diff(self.text.splitlines(), proposal.text.splitlines(), "before", "after", lineterm="")
            ),
            digest=_digest(proposal.text),
            parent=parent,
            development={**asdict(development), "level": level, "least_gain": threshold},
            held_out=None if confirmation is None else asdict(confirmation),
            noise=noise,
            runs=len(self._scores) - runs,
            cost_usd=None if self._cost is None or cost is None else self._cost - cost,
            at=datetime.now(UTC).isoformat(timespec="seconds"),
        )
        if decision == "kept":
            self.text = proposal.text
            (self.folder / "best.md").write_text(self.text, encoding="utf-8")
        _append_line(self.folder / "tuning.jsonl", asdict(experiment))
        return experiment

    async def _score_until_futile(
        self, text: str, before: Sequence[list[float] | None], level: float
    ) -> list[list[float] | None]:
        """Score the development tasks in order; return fewer scores if the experiment became futile."""
        after: list[list[float] | None] = []
        size = -(-self.rules.concurrency // self.rules.repeats)  # Tasks that keep all slots busy.
        while len(after) < len(self._development):
            after += await self._score_all(text, self._development[len(after) : len(after) + size])
            old, new = _pair_means(before, after)
            rest = [fmean(own) for own in before[len(after) :] if own]
            if is_futile([*old, *rest], new, len(old) + len(rest), level):
                break
        return after

    async def _score_all(self, text: str, tasks: Sequence[TuningTask]) -> list[list[float] | None]:
        return await _gather(*(self._score_task(text, task) for task in tasks))

    async def _score_task(self, text: str, task: TuningTask) -> list[float] | None:
        """Return the scores of all repetitions; ``None`` if one of them could not be scored."""
        runs = await _gather(*(self._score_run(text, task, repeat) for repeat in range(self.rules.repeats)))
        known = [run.score for run in runs if run.score is not None]
        return known if len(known) == len(runs) else None

    async def _score_run(self, text: str, task: TuningTask, repeat: int) -> RunScore:
        key = (_digest(text), task.id, repeat)
        if key not in self._scores:
            async with self._slots:
                self._check_budget()
                self._started += 1
                result = await self.evaluate(text, task, repeat)
            self._scores[key] = result
            self._add_cost(result.cost_usd)
            row = {"text": key[0], "task": task.id, "repeat": repeat, **asdict(result)}
            _append_line(self.folder / "scores.jsonl", row)
            self.on_run(len(self._scores))
        return self._scores[key]

    def _check_budget(self) -> None:
        rules = self.rules
        if rules.max_runs is not None and self._started >= rules.max_runs:
            raise _OutOfBudget
        if rules.max_cost_usd is not None and self._cost is not None and self._cost >= rules.max_cost_usd - 1e-9:
            raise _OutOfBudget

    def _add_cost(self, cost: float | None) -> None:
        if cost is None and self.rules.max_cost_usd is not None:
            raise InputError("The cost of a run is unknown, so --max-cost cannot be enforced; set SUFFICE_PRICES=FILE")
        self._cost = None if cost is None or self._cost is None else self._cost + cost

    def _describe_state(
        self, before: Sequence[list[float] | None], experiments: Sequence[TuningExperiment]
    ) -> TuningState:
        scored = [(fmean(own), str(task)) for own, task in zip(before, self._development, strict=True) if own]
        weak = tuple(task for _, task in sorted(scored)[:_WEAK_QUESTIONS])
        tried = tuple(f"{one.hypothesis}: {one.decision}" for one in experiments)
        return TuningState(self.name, self.text, weak, tried)

    def _load(self) -> None:
        """Read the runs of an earlier tuning in this folder, which are not paid again but count for the budget."""
        self.folder.mkdir(parents=True, exist_ok=True)
        fingerprint = {"prompt": self.name, "text": _digest(self.text), "repeats": self.rules.repeats}
        fingerprint["tasks"] = _digest(json.dumps([asdict(task) for task in self.tasks], sort_keys=True))
        about = self.folder / "about.json"
        if not about.exists():
            about.write_text(json.dumps(fingerprint, indent=2), encoding="utf-8")
        elif json.loads(about.read_text(encoding="utf-8")) != fingerprint:
            raise InputError(f"{self.folder} belongs to another tuning; name another folder with --out")
        for row in _read_lines(self.folder / "scores.jsonl"):
            self._scores[row["text"], row["task"], row["repeat"]] = RunScore(row["score"], row["cost_usd"])
            self._started += 1
            self._add_cost(row["cost_usd"])


async def _gather(*runs: Awaitable[T]) -> list[T]:
    """Wait for all runs, then raise the first error: what the others found is paid for and has been stored."""
    results = await asyncio.gather(*runs, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


def _pair_means(
    before: Sequence[list[float] | None], after: Sequence[list[float] | None]
) -> tuple[list[float], list[float]]:
    """Return the means of the tasks that have both scores."""
    pairs = [(fmean(old), fmean(new)) for old, new in zip(before, after, strict=False) if old and new]
    return [old for old, _ in pairs], [new for _, new in pairs]


def _digest(text: str) -> str:
    return hashlib.sha256(text.strip().encode()).hexdigest()[:12]


def _append_line(path: Path, row: dict[str, Any]) -> None:
    with path.open("ab+") as file:
        if file.tell():
            file.seek(-1, 2)
        is_cut_off = file.read(1) not in (b"\n", b"")  # An interruption may have left half a line.
        file.write(b"\n" * is_cut_off + json.dumps(row, ensure_ascii=False).encode() + b"\n")


def _read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the rows of a JSONL file; a line that an interruption cut off is left out."""
    return parse_json_lines(path.read_bytes()) if path.exists() else []
