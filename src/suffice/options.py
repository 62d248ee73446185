"""Every option of a run, declared once: name, type, default, meaning, valid range, flag of the command line and aliases.

``research()``, the command line, the HTTP and MCP servers and stored jobs all build a ``RunOptions`` and take names, defaults
and help texts from its fields. They differ only in which options they let a caller set. ``pictures`` alone has two defaults:
it is on in ``research()`` and off here, because servers must not read local files.

The command line reads this module to print its help, so what is slow to import is imported where it is used.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.errors import InputError
from suffice.types import BREADTHS, Bounds

if TYPE_CHECKING:
    from suffice.gates.base import Gate
    from suffice.models.base import Model
    from suffice.search.base import Search
    from suffice.search.open import SearchScope
    from suffice.types import PriorRun

Docs = str | Path | Sequence[str | Path]

# Groups of options in the help of the command line.
SOURCES = "What to search"
SEARCH = "How to search"
LIMITS = "Limits"
ANSWER = "The answer"


@dataclass(frozen=True)
class Option:
    """The meaning of one option, the values it takes, its other names and how the command line shows it."""

    doc: str
    minimum: float | None = None
    above: float | None = None
    """The value must be greater than this; used where no smallest value exists."""
    maximum: float | None = None
    request_maximum: float | None = None
    """The largest value that a request to the service may name; local callers are not limited."""
    aliases: tuple[str, ...] = ()
    group: str = ""
    """The group in the help of the command line; empty: the command line does not have the option."""
    flags: tuple[str, ...] = ()
    """The flags of the command line; empty: ``--name``. A flag ``--no-…`` switches the option off."""
    metavar: str | None = None

    def check(self, name: str, value: Any) -> None:
        """Raise ``InputError`` if the value is outside the range. ``None`` is always inside."""
        if value is None or (self.minimum, self.above, self.maximum) == (None, None, None):
            return
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise InputError(f"{name} must be a number, not {value!r}")
        if self.minimum is not None and value < self.minimum:
            raise InputError(f"{name} must be at least {self.minimum:g}, not {value:g}")
        if self.above is not None and value <= self.above:
            raise InputError(f"{name} must be greater than {self.above:g}, not {value:g}")
        if self.maximum is not None and value > self.maximum:
            raise InputError(f"{name} must be at most {self.maximum:g}, not {value:g}")


def _option(default: Any, doc: str, group: str = "", flags: str = "", metavar: str | None = None, **rest: Any) -> Any:
    option = Option(doc, group=group, flags=tuple(flags.split()), metavar=metavar, **rest)
    return field(default=default, metadata={"option": option})


def _limit(doc: str, metavar: str, request_maximum: float, **rest: Any) -> Any:
    return _option(None, doc, LIMITS, metavar=metavar, request_maximum=request_maximum, **rest)


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The choices a user has about a run. An option that is ``None`` takes its value from the preset, tier or settings."""

    docs: Docs | None = _option(
        None,
        "Search this file or folder; '-' reads standard input. Also an address: postgres://HOST/DATABASE/COLLECTION (made "
        "with 'suffice index --to'), elasticsearch://HOST/INDEX or opensearch://HOST/INDEX.",
        *(SOURCES, "--docs", "PATH|ADDRESS"),
    )
    web: bool = _option(False, "Search the web with the services that 'suffice doctor' lists.", SOURCES)
    providers: str | Sequence[str] = _option(
        (), "Search the web with this service; results of several are merged.", SOURCES, "--provider", "NAME"
    )
    include: str | Sequence[str] = _option(
        (), "Search only files that match this pattern, such as '*.md'.", SOURCES, "--include", "GLOB"
    )
    exclude: str | Sequence[str] = _option((), "Skip files that match this pattern.", SOURCES, "--exclude", "GLOB")
    continues: "str | PriorRun | None" = _option(
        None,
        "Ask a follow-up question: start from what this earlier run found and where it searched. "
        "'last' is the newest run.",
        *(SOURCES, "--continue", "RUN"),
    )
    search: "Search | None" = _option(None, "A search of your own, used in place of docs and web.")
    strategy: str = _option("auto", "How to choose the next queries.", SEARCH, metavar="NAME")
    memory: str | None = _option(
        None, "What to carry from round to round. Default: set by the strategy.", SEARCH, metavar="NAME"
    )
    stop: "str | Gate | None" = _option(
        None,
        "When to stop searching: a rule such as 'exhaustion(p=2) | budget(rounds=5)'; see docs/stopping.md. Default: set by "
        "the strategy.",
        *(SEARCH, "--stop", "EXPR"),
    )
    k: int = _option(5, "Passages to fetch for each query.", SEARCH, "-k", "N", minimum=1, request_maximum=50)
    per_round: int | None = _option(
        None,
        "Passages to keep from each round: the best ones over all its queries. Default: all.",
        *(SEARCH, "--per-round", "N"),
        minimum=1,
        request_maximum=200,
    )
    alpha: float | None = _option(
        None,
        "Balance of keywords and meaning: 1 compares words only (BM25), 0 compares meaning only (English embeddings). "
        "Default: 0.25, unless the strategy sets another value.",
        *(SEARCH, "--alpha", "0..1"),
        minimum=0,
        maximum=1,
    )
    interventions: str | Sequence[str] = _option(
        (), "Add a remedy for a common failure of searches.", SEARCH, "--with", "NAME"
    )
    seed: int = _option(0, "Seed of all random choices.", SEARCH, "--seed", "N", minimum=0, request_maximum=2**31 - 1)
    breadth: str = _option(
        "auto",
        "How broad the question is: auto, narrow (one answer), list (everything of a kind) or broad (research).",
        *(SEARCH, "--breadth", "BREADTH"),
    )
    tier: str | None = _option(
        None,
        "How much to spend: auto, simple, standard or deep. 'auto' chooses by the question. Default: standard, or what suits a "
        "strong model. The limits below override it.",
        *(LIMITS, "--tier", "TIER"),
    )
    max_rounds: int | None = _limit("Search at most this many rounds.", "N", 50, minimum=1, aliases=("max_iters",))
    max_queries: int | None = _limit("Send at most this many queries.", "N", 200, minimum=1)
    max_sources: int | None = _limit("Write the answer from at most this many sources.", "N", 200, minimum=1)
    max_seconds: float | None = _limit(
        "Search at most this long.", "SECONDS", 3600, above=0, aliases=("max_execution_time_s",)
    )
    max_tokens: int | None = _limit(
        "Use at most this many model tokens.", "N", 5_000_000, minimum=1, aliases=("token_budget",)
    )
    max_cost_usd: float | None = _limit(
        "Spend at most this many US dollars on models. The price of the model must be known.",
        *("USD", 1000),
        above=0,
        flags="--max-cost",
    )
    model: "str | Model | None" = _option(
        None,
        "Language model of openai, ollama, anthropic, google or openrouter. 'extractive' quotes the "
        "sources without a language model. In a list with commas, the next one is tried when one fails. Default: "
        "$SUFFICE_MODEL, or a model that is set up on this machine, or extractive.",
        *(ANSWER, "--model", "PROVIDER:NAME"),
    )
    length: int | None = _option(
        None,
        "Words that the report has, about. Default: as the findings and the question need.",
        *(ANSWER, "--length", "WORDS"),
        minimum=20,
        request_maximum=20_000,
    )
    strict: bool = _option(
        True, "Remove claims that no source supports, or keep and mark them.", ANSWER, "--strict/--lenient"
    )
    review: bool = _option(True, "Review and revise the answer.", ANSWER, "--no-review --no-wiggum")
    panel: bool = _option(False, "Let three reviewers judge the answer instead of one.", ANSWER)
    auto_skills: bool = _option(True, "Use skills that the words of the question ask for.", ANSWER, "--no-auto-skills")
    keep: bool = _option(False, "Store the run on this machine and recall findings of stored runs.")
    pictures: bool = _option(
        False, "Read images that the question names. They are local files, so servers leave this off."
    )

    def __post_init__(self) -> None:
        """Store lists as tuples of strings, so that equal options compare and serialize equally."""
        docs = (self.docs,) if isinstance(self.docs, str | Path) else self.docs or ()
        object.__setattr__(self, "docs", tuple(str(path) for path in docs) or None)
        for name in LIST_OPTIONS[1:]:
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value or ()))

    def validate(self, *, gate_files: bool = True) -> None:
        """Raise ``InputError`` for the first option that cannot be used.

        ``gate_files=False`` also refuses a stop gate that reads a file or allows more than a request may; for servers.
        """
        from suffice import plugins, settings
        from suffice.engine.bounds import BOUND_OPTIONS
        from suffice.engine.interventions import validate_interventions
        from suffice.engine.presets import get_preset
        from suffice.gates.parse import resolve_gate

        for name, option in OPTIONS.items():
            option.check(name, getattr(self, name))
        if self.breadth not in ("auto", *BREADTHS):
            raise InputError(f"There is no breadth {self.breadth!r}; choose one of: auto, {', '.join(BREADTHS)}")
        if self.tier not in (None, "auto"):
            settings.resolve_bounds(self.tier)
        plugins.load_plugin("memories", self.memory or get_preset(self.strategy).memory)
        validate_interventions(self.interventions)
        if self.stop is not None:
            limits = resolve_gate(self.stop, files=gate_files).bounds
            for kind, value in {} if gate_files else limits.items():
                option = OPTIONS[BOUND_OPTIONS[kind]]
                replace(option, maximum=option.request_maximum).check(f"stop: {kind}", value)

    @property
    def bounds(self) -> Bounds:
        """The limits on what the run may spend."""
        return Bounds(
            self.max_rounds, self.max_queries, self.max_sources, self.max_seconds, self.max_tokens, self.max_cost_usd
        )

    @property
    def scope(self) -> "SearchScope":
        """What the run searches."""
        from suffice.search.open import SearchScope

        names: dict[str, Any] = {name: getattr(self, name) for name in ("include", "exclude", "providers")}
        docs: Any = self.docs or ()
        return SearchScope(docs=docs, web=self.web, alpha=self.alpha, **names)


LIST_OPTIONS = ("docs", "providers", "include", "exclude", "interventions")
OPTIONS: Mapping[str, Option] = {each.name: each.metadata["option"] for each in fields(RunOptions)}
ALIASES: Mapping[str, str] = {alias: name for name, option in OPTIONS.items() for alias in option.aliases}


def resolve_aliases(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the given values under the options' own names, without those that are ``None``.

    An option that is given under two names raises ``InputError``.
    """
    resolved: dict[str, Any] = {}
    for given, value in values.items():
        name = ALIASES.get(given, given)
        if value is None:
            continue
        if name in resolved:
            raise InputError(f"{name} and {' and '.join(OPTIONS[name].aliases)} are the same option; give one of them")
        resolved[name] = value
    return resolved
