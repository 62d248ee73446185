"""All parts of one run, chosen before anything is spent (``api.prepare_run``)."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from suffice import settings
from suffice.engine.presets import Preset
from suffice.gates.base import Gate
from suffice.memory.evidence import Evidence
from suffice.models.base import Model
from suffice.models.capability import ModelProfile
from suffice.search.base import RankedScope, Reader, ScopeSearch, Search
from suffice.skills.activate import ActiveSkills
from suffice.state.survey import DEFAULT_TARGET
from suffice.storage.findings import StoredFinding
from suffice.types import Bounds, Breadth, Embed, Image, PriorRun


@dataclass(frozen=True)
class RunConfig:
    """All parts of a run. ``bounds`` are those that the user set; they override the preset's cap, which overrides the tier."""

    task: str
    """The question; a follow-up that names nothing has the question before it too."""
    search: Search
    model: Model
    preset: Preset
    gate: Gate | None
    """Says when to stop. ``None``: the strategy ends by itself, or a bound ends it."""
    tier: str = "standard"
    names_tier: bool = True
    """Whether the user named the tier; else a strong model has limits of its own."""
    bounds: Bounds = Bounds()
    environment_bounds: Bounds = Bounds()
    """Those of ``bounds`` that come from environment variables."""
    embed: Embed | None = None
    language: str | None = None
    """The language of the question, in which words are stemmed; ``None``: it does not tell."""
    page_reader: Reader | None = None
    """Reads the whole pages that web results link to. The pipeline closes it."""
    k: int = 5
    """Passages per query."""
    may_read_all: bool = False
    """Whether everything in scope may be read at once: it is where it fits a strong model's context.

    A small scope that was found whole then ends the search, with any model.
    """
    per_round: int | None = None
    """New passages that a round keeps; ``None``: all."""
    images: tuple[Image, ...] = ()
    interventions: tuple[str, ...] = ()
    review: settings.ReviewRules | None = None
    """``None``: the answer is not reviewed."""
    strict: bool = True
    """Whether an unsupported claim is removed; otherwise it is marked."""
    profile: ModelProfile = field(default_factory=ModelProfile)
    """How the model writes, and what is skipped for it."""
    python_rounds: int = 0
    """Attempts that the model has to write a computation; 0: none."""
    question: str = ""
    """What the user asked, where ``task`` says more."""
    prior_run: PriorRun | None = None
    """The run that this one continues."""
    recalled_findings: tuple[StoredFinding, ...] = ()
    """Findings of earlier runs to look up again."""
    skills: ActiveSkills = ActiveSkills()
    """The skills that act in this run."""
    seed: int = 0
    metadata: dict[str, Any] = field(default_factory=dict)
    run_id: str | None = None
    """The id to use; ``None`` makes one."""
    breadth: Breadth = "narrow"
    names_breadth: bool = True
    """Whether the user or a skill decides the breadth; else a strong model's plan does where everything is read."""
    documents: ScopeSearch | None = None
    """The files that ``search`` finds, if it searches only files on this machine."""
    ranked_scope: RankedScope | None = None
    """Everything in scope by its similarity to the question, if the run surveys it."""
    coverage_target: float = DEFAULT_TARGET
    """The share of what is relevant that a broad question is to read."""
    length: int | None = None
    """About how many words the report is to have; ``None``: as many as it needs."""
    evidence: Evidence | None = None
    """An empty record for a caller who wants to read afterwards what this run admitted; ``None``: the run has its own."""
    clock: Callable[[], float] = time.monotonic
    today: date = field(default_factory=date.today)
    """The day on which the run began; it stays the same when the run is resumed."""
