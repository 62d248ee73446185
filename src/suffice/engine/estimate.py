"""What a run will probably cost, before its first paid call: calls, tokens, searches and price.

A run is a few prompts with known wording, and each shows a known part of the documents: all of them where they are read at
once, what was found, what an answer cites. The figures are those of three courses that a run may take. The sizes of the
files say how much there is to read, so nothing is asked and no document opened.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from suffice.engine.bounds import resolve_limits
from suffice.engine.config import RunConfig
from suffice.engine.scope import CONTEXT_SHARE, MAX_LISTED
from suffice.models.base import Model, get_context, is_language_model
from suffice.models.prices import find_price
from suffice.prompts.base import load_template
from suffice.report.draft import MAX_SENTENCE_SOURCES
from suffice.review.revise import SOURCE_TOKENS
from suffice.search.files.read import PACKED_FORMATS, guess_format
from suffice.state.prompting import MAX_EVIDENCE_TOKENS
from suffice.state.run import DEFAULT_REPORT_TOKENS
from suffice.text.plain import count
from suffice.text.tokens import estimate_tokens

_TOKENS_PER_FILE = 12  # In a list of files.
_TOKENS_PER_PASSAGE = 250
_MARKUP_TOKENS = 250  # Of a prompt around what it shows: the writing instruction, the schema of the answer.
# By strategy: the queries of a round, and the prompts after it.
_ROUNDS: Mapping[str, tuple[int, tuple[str, ...]]] = {
    "reflect": (4, ("reflect",)),
    "saturate": (2, ("gap", "compress")),
    "predicates": (2, ("extract",)),
    "outline": (3, ("gap", "hypothetical")),
    "survey": (4, ()),
    "ircot": (1, ("thought",)),
    "react": (1, ("act",)),
    "memgpt": (1, ("step", "step", "step")),
    "iterretgen": (1, ("short_answer",)),
}

Used = tuple[float, float, float]  # Calls, input tokens and output tokens.


@dataclass(frozen=True, slots=True)
class Range:
    """What the cheapest, the usual and the most expensive course of a run need."""

    low: float
    typical: float
    high: float


@dataclass(frozen=True, slots=True)
class _Course:
    """How a run may go."""

    text: float  # Tokens for each byte of a file, of one that is packed a tenth.
    rounds: int
    answer: int
    cited: float  # The share of what is shown.
    doubted: float  # The share of the answer.
    extra: int = 0  # Programs and revisions.


# As in the runs of bench/strong.md: the cheapest, what is usual, and one with a program and a revision.
_COURSES = (_Course(0.15, 1, 300, 0.15, 0.0), _Course(0.25, 2, 900, 0.35, 0.15), _Course(0.35, 5, 2_000, 0.7, 0.4, 1))


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


def estimate_run(config: RunConfig, scope: Sequence[Path] = ()) -> Estimate:
    """Estimate a run that was prepared; ``scope`` are the files that it searches."""
    tier = "deep" if config.tier == "auto" else config.tier  # The plan may choose any tier.
    is_paid, is_strong = is_language_model(config.model), config.profile.style != "sentence"
    bounds, _ = resolve_limits(config, tier, is_strong=is_paid and is_strong)
    limits = replace(bounds, sources=None, seconds=None).known
    runs = [_expect(config, scope, limits, course, is_strong=is_strong) for course in _COURSES if is_paid]
    costs = [_compute_cost(roles, config.model) for _, roles in runs]
    known = [min(cost, limits.get("usd", cost)) for cost in costs if cost is not None]
    calls, sent, written = (_make_range([sum(one[n] for one in roles.values()) for _, roles in runs]) for n in range(3))
    sizes = f"the sizes of {count(len(scope), 'file')} and " if scope else ""
    return Estimate(
        model=config.model.name,
        strategy=str(config.metadata.get("strategy") or config.preset.strategy),
        tier=config.tier,
        calls=calls,
        input_tokens=sent,
        output_tokens=written,
        searches=_make_range([searches for searches, _ in runs]),
        usd=_make_range(known, digits=6) if len(known) == len(costs) else None,
        limits=limits,
        basis=f"{sizes}what each prompt shows" if is_paid else "no language model is used",
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


def _expect(
    config: RunConfig, scope: Sequence[Path], limits: Mapping[str, float], course: _Course, *, is_strong: bool
) -> tuple[float, dict[str, Used]]:
    """Return the searches of a run on this course, and by role what it takes."""
    context = get_context(config.model)
    in_scope = _count_scope(scope, course)
    share = CONTEXT_SHARE * min(context or 0, limits.get("tokens", context or 0))
    reads_all = is_strong and config.may_read_all and bool(scope) and in_scope <= share
    rounds = 0 if reads_all else min(course.rounds, limits.get("rounds", course.rounds))
    per_round, after = _ROUNDS.get(config.preset.strategy, (2, ()))
    searches = min(rounds * per_round, limits.get("queries", math.inf))
    found = in_scope if reads_all else min(in_scope or math.inf, searches * config.k * _TOKENS_PER_PASSAGE)
    shown = min(found, context or MAX_EVIDENCE_TOKENS)
    listed = _TOKENS_PER_FILE * min(len(scope), MAX_LISTED)
    # By role: how often it is asked, what its prompts show together, and what is answered.
    asked: dict[str, Used] = {"answer": (1, min(shown, MAX_SENTENCE_SOURCES * _TOKENS_PER_PASSAGE), 60)}
    if is_strong:
        asked = _expect_writing(config, shown, course) | {"plan": (1, listed, 130)}
    drafts = ("answer_from_memory",) if config.gate is not None and "answer.stable" in config.gate.needs else ()
    for role in (*drafts, *(after if is_strong or not config.preset.adapts else ())):
        calls, seen, said = asked.get(role, (0, 0, 0))
        again = 1 if role == "reflect" else rounds / 2  # A reflection is shown each passage once.
        asked[role] = calls + rounds, seen + again * shown + rounds * listed, said + 150 * rounds
    fixed = {role: estimate_tokens(load_template(role).body.template) + _MARKUP_TOKENS for role in asked}
    roles = {role: (calls, calls * fixed[role] + seen, said) for role, (calls, seen, said) in asked.items() if calls}
    cut = min(1.0, limits.get("tokens", math.inf) / sum(seen + said for _, seen, said in roles.values()))
    return searches, {role: (calls * cut, seen * cut, said * cut) for role, (calls, seen, said) in roles.items()}


def _expect_writing(config: RunConfig, shown: float, course: _Course) -> dict[str, Used]:
    """Return what writing, check and review take, from what the writer is shown."""
    answer = min(course.answer if config.length is None else 1.5 * config.length, DEFAULT_REPORT_TOKENS)
    judged, doubted = answer + course.cited * shown, course.doubted
    readers = 0 if config.review is None else 3 if config.review.panel else 1
    revisions = course.extra if readers else 0
    reviews = readers * (1 + revisions)
    return {
        "compute": (min(course.extra, config.python_rounds), 0.2 * shown, 200),
        "draft": (1, shown, answer),
        "check_draft": (1 + bool(doubted) + revisions, (1 + doubted + revisions / 2) * judged, 1.6 * answer),
        "mend": (bool(doubted), doubted * judged, doubted * answer),
        "evaluate": (reviews, (reviews - revisions * readers / 2) * judged, reviews * 150),
        "revise": (revisions, revisions * (answer + SOURCE_TOKENS), revisions * answer),
    }


def _count_scope(scope: Sequence[Path], course: _Course) -> float:
    """Return about how many tokens files have, by their sizes; of files with the same name but for the suffix one counts."""
    tokens: dict[Path, float] = {}
    for path in scope:
        share = course.text / (10 if guess_format(path.name) in PACKED_FORMATS else 1)
        tokens[path.with_suffix("")] = max(tokens.get(path.with_suffix(""), 0.0), share * path.stat().st_size)
    return sum(tokens.values())


def _compute_cost(roles: Mapping[str, Used], model: Model) -> float | None:
    """Return the price of a run with this model, role by role; ``None`` if the price of one is unknown."""
    total = 0.0
    for role, (calls, sent, written) in roles.items():
        if (price := find_price(model, role)) is None:
            return None
        whole = max(1.0, calls)  # The price of a token may depend on the length of the prompt.
        total += whole * price.cost(round(sent / whole), round(written / whole))
    return total


def _make_range(values: Sequence[float], digits: int = 0) -> Range:
    return Range(*(round(value, digits) for value in sorted(values) or (0.0, 0.0, 0.0)))


def _format_range(found: Range, noun: str, plural: str = "") -> str:
    word = noun if found.typical == 1 else plural or f"{noun}s"
    spread = "" if found.low == found.high else f" ({found.low:,.0f} to {found.high:,.0f})"
    return f"{found.typical:,.0f} {word}{spread}"


def _format_usd(found: Range) -> str:
    if not found.high:
        return "it costs nothing, because the model runs on this machine"
    return f"{found.typical:.2g} US dollars ({found.low:.2g} to {found.high:.2g})"
