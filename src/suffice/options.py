"""Every option of a run, declared once: name, type, default, meaning, valid range and aliases.

``research()``, the command line, the HTTP and MCP servers and stored jobs all build a ``RunOptions``. They differ only in
which options they let a caller set. ``research()`` repeats the options as parameters with the same defaults, which a test
checks. ``pictures`` alone differs: it is on in ``research()`` and off here, because servers must not read local files.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

from suffice import plugins, settings
from suffice.engine.interventions import validate_interventions
from suffice.engine.presets import get_preset
from suffice.errors import InputError
from suffice.gates.base import Gate
from suffice.gates.parse import resolve_gate
from suffice.models.base import Model
from suffice.models.breadth import BREADTHS
from suffice.search.base import Search
from suffice.search.open import SearchScope
from suffice.types import Bounds, PriorRun

Docs = str | Path | Sequence[str | Path]


@dataclass(frozen=True)
class Option:
    """The meaning of one option, the values it takes and its other names."""

    doc: str
    minimum: float | None = None
    above: float | None = None
    """The value must be greater than this; used where no smallest value exists."""
    maximum: float | None = None
    request_maximum: float | None = None
    """The largest value that a request to the service may name; local callers are not limited."""
    aliases: tuple[str, ...] = ()

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


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The choices a user has about a run. An option that is ``None`` takes its value from the preset, tier or settings."""

    docs: Annotated[
        Docs | None, Option("Files, folders and addresses of corpora to search; '-' is standard input.")
    ] = None
    web: Annotated[bool, Option("Search the web with the configured providers.")] = False
    providers: Annotated[str | Sequence[str], Option("Search the web with these providers; several are merged.")] = ()
    search: Annotated[Search | None, Option("A search of your own, used in place of docs and web.")] = None
    model: Annotated[str | Model | None, Option("The model as PROVIDER:NAME, 'extractive' or a Model object.")] = None
    strategy: Annotated[str, Option("How to search.")] = "auto"
    memory: Annotated[str | None, Option("What to remember of earlier rounds.")] = None
    stop: Annotated[str | Gate | None, Option("The stop gate, as an expression or a Gate object.")] = None
    breadth: Annotated[
        str,
        Option(
            "How broad the question is: auto, narrow (one answer), list (everything of a kind) or broad (research)."
        ),
    ] = "auto"
    tier: Annotated[str, Option("How much to spend: auto, simple, standard or deep.")] = "standard"
    max_rounds: Annotated[
        int | None, Option("Search rounds at most.", minimum=1, request_maximum=50, aliases=("max_iters",))
    ] = None
    max_queries: Annotated[int | None, Option("Queries at most.", minimum=1, request_maximum=200)] = None
    max_sources: Annotated[
        int | None, Option("Sources that the writer sees at most.", minimum=1, request_maximum=200)
    ] = None
    max_seconds: Annotated[
        float | None, Option("Seconds at most.", above=0, request_maximum=3600, aliases=("max_execution_time_s",))
    ] = None
    max_tokens: Annotated[
        int | None, Option("Model tokens at most.", minimum=1, request_maximum=5_000_000, aliases=("token_budget",))
    ] = None
    max_cost_usd: Annotated[
        float | None, Option("US dollars at most. The price of the model must be known.", above=0, request_maximum=1000)
    ] = None
    k: Annotated[int, Option("Passages per query.", minimum=1, request_maximum=50)] = 5
    per_round: Annotated[
        int | None, Option("Passages per round, the best over all its queries.", minimum=1, request_maximum=200)
    ] = None
    alpha: Annotated[
        float | None, Option("Weight of words against meaning: 1 is words only, 0 meaning only.", minimum=0, maximum=1)
    ] = None
    include: Annotated[str | Sequence[str], Option("Read only files that match one of these globs.")] = ()
    exclude: Annotated[str | Sequence[str], Option("Skip files that match one of these globs.")] = ()
    with_leads: Annotated[bool, Option("Also ask the best open lead in each round.")] = False
    interventions: Annotated[str | Sequence[str], Option("Remedies for known failures of a search, by name.")] = ()
    review: Annotated[bool, Option("Review and revise the answer.")] = True
    length: Annotated[int | None, Option("Words that the report has, about.", minimum=20, request_maximum=20_000)] = (
        None
    )
    panel: Annotated[bool, Option("Review with three readers in place of one.")] = False
    strict: Annotated[bool, Option("Remove claims that no source supports; otherwise mark them.")] = True
    continues: Annotated[
        str | PriorRun | None,
        Option("An earlier run to start from; its search scope is reused unless another is given."),
    ] = None
    keep: Annotated[bool, Option("Store the run on this machine and recall findings of stored runs.")] = False
    pictures: Annotated[
        bool, Option("Read images that the question names. They are local files, so servers leave this off.")
    ] = False
    auto_skills: Annotated[bool, Option("Activate skills that the words of the question ask for.")] = True
    seed: Annotated[int, Option("Seed of everything random.", minimum=0, request_maximum=2**31 - 1)] = 0

    def __post_init__(self) -> None:
        """Store lists as tuples of strings, so that equal options compare and serialize equally."""
        docs = (self.docs,) if isinstance(self.docs, str | Path) else self.docs or ()
        object.__setattr__(self, "docs", tuple(str(path) for path in docs) or None)
        for name in ("providers", "include", "exclude", "interventions"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value or ()))

    def validate(self, *, gate_files: bool = True) -> None:
        """Raise ``InputError`` for the first option that cannot be used.

        ``gate_files=False`` also refuses a stop gate that reads a file; servers use it for their callers' gates.
        """
        for name, option in OPTIONS.items():
            option.check(name, getattr(self, name))
        if self.breadth not in ("auto", *BREADTHS):
            raise InputError(f"There is no breadth {self.breadth!r}; choose one of: auto, {', '.join(BREADTHS)}")
        if self.tier != "auto":
            settings.resolve_bounds(self.tier)
        plugins.load_plugin("memories", self.memory or get_preset(self.strategy).memory)
        validate_interventions(self.interventions)
        if self.stop is not None:
            resolve_gate(self.stop, files=gate_files)

    @property
    def bounds(self) -> Bounds:
        """The limits on what the run may spend."""
        return Bounds(
            self.max_rounds, self.max_queries, self.max_sources, self.max_seconds, self.max_tokens, self.max_cost_usd
        )

    @property
    def scope(self) -> SearchScope:
        """What the run searches."""
        names: dict[str, Any] = {name: getattr(self, name) for name in ("include", "exclude", "providers")}
        docs: Any = self.docs or ()
        return SearchScope(docs=docs, web=self.web, alpha=self.alpha, **names)


OPTIONS: Mapping[str, Option] = {
    field.name: get_type_hints(RunOptions, include_extras=True)[field.name].__metadata__[0]
    for field in fields(RunOptions)
}
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
