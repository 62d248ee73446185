"""What a run will probably cost, before its first paid call: calls, tokens, searches and price, from recorded runs.

Runs of this machine count if there are enough with the same model, strategy and tier. Otherwise the runs that come with the
package count (``recorded_costs.json``, made by ``python -m bench.costs``; it says with which model and questions). Tokens are
taken as they were; the price is that of the model at hand.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any

from suffice import settings
from suffice.engine.bounds import resolve_limits
from suffice.engine.config import RunConfig
from suffice.models.base import Model, is_language_model
from suffice.models.prices import find_price

MIN_RUNS = 5  # Runs of this machine from which they are preferred to those of the package.
MAX_RUNS = 50  # The latest runs that count.
_REVIEW_ROLES = ("evaluate", "revise")
# Roles that do not become fewer when there are fewer rounds.
_ONCE_ROLES = ("plan", "look", "self_test", "compute", "draft", "answer", "rewrite", "check_draft", "support")


@dataclass(frozen=True, slots=True)
class Range:
    """A tenth of the recorded runs needed less than ``low``, half of them less than ``typical``, a tenth more than ``high``."""

    low: float
    typical: float
    high: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a run will probably take. ``usd`` is ``None`` if the price of the model is unknown; ``limits`` end the search."""

    model: str
    strategy: str
    tier: str
    calls: Range
    input_tokens: Range
    output_tokens: Range
    searches: Range
    usd: Range | None
    limits: Mapping[str, float]
    basis: str


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """What one run took: rounds, searches, and by role its calls, input tokens and output tokens."""

    rounds: int
    searches: int
    roles: Mapping[str, tuple[float, float, float]]

    def count(self, index: int) -> float:
        """Return the sum over the roles: 0 calls, 1 input tokens, 2 output tokens."""
        return sum(numbers[index] for numbers in self.roles.values())


def estimate_run(config: RunConfig, log: Iterable[Mapping[str, Any]] = ()) -> Estimate:
    """Estimate a run that was prepared; ``log`` are the recorded runs of this machine (``storage.runs.read_log``)."""
    strategy = str(config.metadata.get("strategy") or config.preset.strategy)
    tier = "deep" if config.tier == "auto" else config.tier  # The plan may choose any tier.
    is_strong = is_language_model(config.model) and config.profile.style == "prose"
    bounds, _ = resolve_limits(config, tier, is_strong=is_strong)
    limits = replace(bounds, sources=None, seconds=None).known
    recorded, basis = _choose_runs(config, strategy, log)
    runs = [_apply_limits(run, config, limits) for run in recorded]
    costs = [_compute_cost(run, config.model) for run in runs]
    known = [min(cost, limits.get("usd", cost)) for cost in costs if cost is not None]
    return Estimate(
        model=config.model.name,
        strategy=strategy,
        tier=config.tier,
        calls=_make_range([run.count(0) for run in runs]),
        input_tokens=_make_range([run.count(1) for run in runs]),
        output_tokens=_make_range([run.count(2) for run in runs]),
        searches=_make_range([min(run.searches, limits.get("queries", run.searches)) for run in runs]),
        usd=_make_range(known, digits=6) if len(known) == len(costs) else None,
        limits=limits,
        basis=basis,
    )


def describe_estimate(estimate: Estimate) -> str:
    """Return the estimate in two or three sentences."""
    calls = estimate.calls
    if not calls.high:
        return f"No model call is paid: {estimate.basis}."
    price = "the price is unknown" if estimate.usd is None else _format_usd(estimate.usd)
    text = (
        f"About {_format_range(calls, 'call')}, {_format_range(estimate.input_tokens, 'token')} in and "
        f"{_format_range(estimate.output_tokens, 'token')} out, {_format_range(estimate.searches, 'search', 'searches')}; "
        f"{price}. From {estimate.basis}."
    )
    formats = {"tokens": "{:,.0f} tokens", "usd": "{:g} US dollars"}
    caps = [text.format(estimate.limits[kind]) for kind, text in formats.items() if kind in estimate.limits]
    return f"{text} The search ends at {' or '.join(caps)}; what was found until then is reported." if caps else text


# -- the runs it is based on -------------------------------------------------------------------------------------------


def _choose_runs(config: RunConfig, strategy: str, log: Iterable[Mapping[str, Any]]) -> tuple[list[RecordedRun], str]:
    """Return the recorded runs that are most like this one, and what they are."""
    if not is_language_model(config.model):
        return [], "no language model is used"
    own = [
        run
        for row in log
        if (row.get("model"), row.get("preset"), row.get("tier")) == (config.model.name, strategy, config.tier)
        if (run := parse_log_row(row)) is not None
    ][-MAX_RUNS:]
    if len(own) >= MIN_RUNS:
        return own, f"{len(own)} runs of this machine with {strategy} and {config.model.name}"
    style = config.profile.style or "prose"
    tiers = settings.TIERS if config.tier == "auto" else (config.tier,)
    groups = [group for group in load_figures()["groups"] if group["tier"] in tiers and group["writer"] == style]
    same = [group for group in groups if group["strategy"] == strategy]
    runs = [RecordedRun(*run) for group in same or groups for run in group["runs"]]
    which = f"with {strategy}" if same else "with any strategy, because none is recorded with this one"
    return runs, f"{len(runs)} recorded runs {which} ({load_figures()['made']})"


def parse_log_row(row: Mapping[str, Any]) -> RecordedRun | None:
    """Return what a run of the log took; ``None`` for a run without paid calls, and for a line that another version wrote."""
    try:
        roles = {
            str(role): (int(used["calls"]), int(used["input"]), int(used["output"]))
            for role, used in row["tokens_by_stage"].items()
        }
        run = RecordedRun(int(row["rounds"]), int(row["searches"]), roles)
    except (KeyError, TypeError, ValueError, AttributeError):
        return None
    return run if run.count(1) else None


@cache
def load_figures() -> Mapping[str, Any]:
    """Return the runs that come with the package: ``made`` says how, ``groups`` are runs by strategy, tier and writer."""
    text = files("suffice.engine").joinpath("recorded_costs.json").read_text(encoding="utf-8")
    figures: Mapping[str, Any] = json.loads(text)
    return figures


# -- from recorded runs to this one ------------------------------------------------------------------------------------


def _apply_limits(run: RecordedRun, config: RunConfig, limits: Mapping[str, float]) -> RecordedRun:
    """Return the run as if these limits had held: fewer rounds, no review, fewer tokens."""
    rounds = min(run.rounds, int(limits.get("rounds", run.rounds)))
    share = rounds / run.rounds if run.rounds else 1.0
    roles = {
        role: _scale(numbers, 1.0 if role in _ONCE_ROLES or role in _REVIEW_ROLES else share)
        for role, numbers in run.roles.items()
        if config.review is not None or role not in _REVIEW_ROLES
    }
    limited = RecordedRun(rounds, max(1, round(run.searches * share)), roles)
    total = limited.count(1) + limited.count(2)
    if total > limits.get("tokens", total):
        share = limits["tokens"] / total
        limited = RecordedRun(rounds, limited.searches, {role: _scale(used, share) for role, used in roles.items()})
    return limited


def _scale(numbers: tuple[float, float, float], share: float) -> tuple[float, float, float]:
    calls, tokens_in, tokens_out = numbers
    return calls * share, tokens_in * share, tokens_out * share


def _compute_cost(run: RecordedRun, model: Model) -> float | None:
    """Return the price of a run with this model, role by role; ``None`` if the price of one is unknown."""
    total = 0.0
    for role, (calls, tokens_in, tokens_out) in run.roles.items():
        price = find_price(model, role)
        if price is None:
            return None
        whole = max(1.0, calls)  # The price of a token may depend on the length of the prompt.
        total += whole * price.cost(round(tokens_in / whole), round(tokens_out / whole))
    return total


def _make_range(values: Sequence[float], digits: int = 0) -> Range:
    ordered = sorted(values) or [0.0]
    low, typical, high = (ordered[round(share * (len(ordered) - 1))] for share in (0.1, 0.5, 0.9))
    return Range(round(low, digits), round(typical, digits), round(high, digits))


def _format_range(found: Range, noun: str, plural: str = "") -> str:
    word = noun if found.typical == 1 else plural or f"{noun}s"
    spread = "" if found.low == found.high else f" ({found.low:,.0f} to {found.high:,.0f})"
    return f"{found.typical:,.0f} {word}{spread}"


def _format_usd(found: Range) -> str:
    if not found.high:
        return "it costs nothing, because the model runs on this machine"
    return f"{found.typical:.2g} US dollars ({found.low:.2g} to {found.high:.2g})"
