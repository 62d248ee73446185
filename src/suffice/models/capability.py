"""What a language model can be trusted with, by its name, by a self-test, and by what it did in earlier runs.

A small model writes one sentence and the rest of the answer is quoted; a strong one writes prose. A step whose result says
nothing about the answer is skipped for that model: a review that scores everything alike, programs that fail, a claim check
that is no better than chance, reflections that repeat the queries. That is decided by evidence, a few observations per model
that every run adds to (``EvidenceStore``), and the report says what was skipped and why. Measured in docs/writing.md.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal

from suffice.models.base import Model, is_language_model
from suffice.storage.sqlite_cache import JsonCache, SqliteCache, make_key

WriterStyle = Literal["sentence", "prose"]

SMALL_BILLIONS = 4.0  # Parameters, in billions, up to which a model is small.
MAX_AGE_SECONDS = 30 * 86_400.0  # Evidence is forgotten after a month: servers change their models behind a name.
_MAX_OBSERVATIONS = 40  # Per kind, the latest.
MIN_REVIEWS, MIN_SCORE_SPREAD = 8, 0.5  # Reviews whose scores differ by less than this do not tell answers apart.
MIN_PROGRAMS, MIN_PROGRAM_SHARE = 6, 0.3
MIN_PROBES, MIN_PROBE_SHARE = 8, 0.7
MIN_REFLECTIONS, MIN_REFLECTION_SHARE = 8, 0.5

_BILLIONS = re.compile(r"(?<![\d.])(?:(\d+)x)?(\d+(?:\.\d+)?)b(?![a-z])", re.IGNORECASE)
_MILLIONS = re.compile(r"(?<![\d.])(\d{2,4})m(?![a-z])", re.IGNORECASE)
_SMALL_WORDS = re.compile(r"(?<![a-z])(?:tiny|mini|nano|smol)", re.IGNORECASE)


def parse_size(name: str) -> float | None:
    """Return the parameters, in billions, that a model's name states; ``None`` when it states none.

    >>> parse_size("qwen2.5-coder-1.5b-instruct"), parse_size("mixtral-8x7b"), parse_size("smollm-360m"), parse_size("gpt-5")
    (1.5, 56.0, 0.36, None)
    """
    name = name.rpartition("/")[2]  # Some servers name a model by its path.
    if found := _BILLIONS.search(name):
        return float(found[2]) * int(found[1] or 1)
    if found := _MILLIONS.search(name):
        return float(found[1]) / 1000
    return None


def guess_style(name: str, *, local: bool) -> WriterStyle | None:
    """Return how a model of this name writes; ``None`` when only a self-test can tell. Cloud models write prose."""
    size = parse_size(name)
    if size is not None:
        return "sentence" if size <= SMALL_BILLIONS else "prose"
    if not local:
        return "prose"
    return "sentence" if _SMALL_WORDS.search(name) else None


@dataclass(frozen=True, slots=True)
class ModelEvidence:
    """What a model did, the latest last."""

    scores: tuple[float, ...] = ()
    """Composite scores that it gave as a reviewer."""
    programs: tuple[bool, ...] = ()
    """Whether a computation that it was asked for gave a result."""
    probes: tuple[bool, ...] = ()
    """Whether it was right about a claim whose support is known."""
    reflections: tuple[bool, ...] = ()
    """Whether a reflection said that the evidence is enough or had a query that was not asked before."""
    self_test: bool | None = None
    """Whether it passed the self-test; ``None``: not taken."""
    since: float = 0.0
    """When the first observation was made, in seconds since 1970."""

    def __add__(self, other: "ModelEvidence") -> "ModelEvidence":
        joined = {
            item.name: (*getattr(self, item.name), *getattr(other, item.name))[-_MAX_OBSERVATIONS:]
            for item in fields(self)
            if item.name not in ("self_test", "since")
        }
        self_test = self.self_test if other.self_test is None else other.self_test
        return ModelEvidence(**joined, self_test=self_test, since=self.since or other.since)

    def find_useless_steps(self) -> dict[str, str]:
        """Return the steps that this model is not worth asking for, each with the reason."""
        skipped = {}
        if len(self.scores) >= MIN_REVIEWS and (spread := max(self.scores) - min(self.scores)) < MIN_SCORE_SPREAD:
            skipped["review"] = f"its last {len(self.scores)} scores lie within {spread:.1f} points"
        for step, seen, least, share, what in (
            ("compute", self.programs, MIN_PROGRAMS, MIN_PROGRAM_SHARE, "computations gave a result"),
            ("support", self.probes, MIN_PROBES, MIN_PROBE_SHARE, "claims of known support were judged right"),
            ("reflect", self.reflections, MIN_REFLECTIONS, MIN_REFLECTION_SHARE, "reflections had a new query"),
        ):
            if len(seen) >= least and sum(seen) < share * len(seen):
                skipped[step] = f"{sum(seen)} of its last {len(seen)} {what}"
        return skipped


class EvidenceStore:
    """The evidence about one model, in the cache folder. Without a folder nothing is stored."""

    def __init__(
        self, cache_dir: Path | None, identity: str, notify: Callable[[str], None] = lambda message: None
    ) -> None:
        path = None if cache_dir is None else cache_dir / "models.sqlite"
        self._cache = JsonCache(SqliteCache(path, "model evidence", notify))
        self._key = make_key("evidence", 1, identity)

    async def load(self) -> ModelEvidence:
        found: ModelEvidence | None = await self._cache.load(self._key, ModelEvidence)
        return ModelEvidence() if found is None or time.time() - found.since > MAX_AGE_SECONDS else found

    async def add(self, seen: ModelEvidence) -> None:
        """Add what a run saw. Two runs that end at the same moment may lose one of their observations."""
        if seen != ModelEvidence():
            await self._cache.save(self._key, await self.load() + replace(seen, since=time.time()))


@dataclass(slots=True)
class ModelProfile:
    """What a run knows about its model: how it writes, what is skipped and why, and what the run has seen of it."""

    style: WriterStyle | None = "prose"
    """``None`` until the self-test has been taken."""
    skipped: dict[str, str] = field(default_factory=dict)
    store: EvidenceStore | None = None
    max_tokens: int = 8_192
    """The longest report, in tokens."""
    known: ModelEvidence = ModelEvidence()
    """What earlier runs saw."""
    seen: ModelEvidence = ModelEvidence()
    """What this run has seen."""

    async def load(self) -> None:
        """Load the evidence of earlier runs, and with it the result of an earlier self-test."""
        if self.store is None:
            return
        self.known = evidence = await self.store.load()
        for step, reason in evidence.find_useless_steps().items():
            self.skipped.setdefault(step, reason)
        if self.style is None and evidence.self_test is not None:
            self.style = "prose" if evidence.self_test else "sentence"

    @property
    def has_enough_probes(self) -> bool:
        """Whether it is known if the model can judge claims, or nothing is kept that could tell."""
        return self.store is None or len((self.known + self.seen).probes) >= MIN_PROBES

    def set_style(self, passed: bool | None) -> None:
        """Set the style by the self-test; a model that did not answer it writes prose, as an unknown model does."""
        self.style = "sentence" if passed is False else "prose"
        self.record(ModelEvidence(self_test=passed))

    def apply_style(self) -> None:
        """Skip what small models are no use for: their reviews score everything alike, their plans find less than the
        question itself, and their reflections repeat it."""
        if self.style != "sentence":
            return
        self.skipped.setdefault("review", "a small model: its scores do not tell answers apart")
        self.skipped.setdefault("plan", "a small model: the question itself finds more than its queries")
        self.skipped.setdefault("reflect", "a small model: its reflections repeat the queries")

    def record(self, seen: ModelEvidence) -> None:
        self.seen = self.seen + seen

    async def save(self) -> None:
        if self.store is not None:
            await self.store.add(self.seen)
        self.seen = ModelEvidence()


def find_model(model: Model, role: str) -> Model:
    """Return the model that answers a role: through wrappers, a router's model for the role, the first of a fallback list."""
    while True:
        by_role = getattr(model, "get_model", None)
        inner = by_role(role) if by_role is not None else getattr(model, "wrapped", None)
        if inner is None:
            return model
        model = inner


def make_profile(
    model: Model,
    style: str | None,
    cache_dir: Path | None,
    *,
    max_tokens: int,
    notify: Callable[[str], None] = lambda message: None,
) -> ModelProfile:
    """Return the profile of a run's writer. ``style`` is the user's choice; ``None`` leaves it to the model's name.

    Models without an endpoint, such as test doubles and plug-ins, write prose and leave no evidence.
    """
    chosen: WriterStyle | None = "sentence" if style == "sentence" else "prose" if style == "prose" else None
    writer = find_model(model, "draft")
    endpoint = getattr(writer, "endpoint", None)
    if not is_language_model(writer):
        return ModelProfile("prose", max_tokens=max_tokens)
    if endpoint is None:
        return ModelProfile(chosen or "prose", max_tokens=max_tokens)
    return ModelProfile(
        chosen or guess_style(endpoint.model, local=endpoint.local),
        store=EvidenceStore(cache_dir, f"{endpoint.name}@{endpoint.url}", notify),
        max_tokens=max_tokens,
    )
