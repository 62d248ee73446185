"""An experiment: data × harness × memory × gate, as command-line options or as a TOML file, and its cells.

data = ["path/to/musique"]
harness = ["ircot", "react"]
memory = ["baseline", "structured"]
gate = ["none", "exhaustion(j=0.6, u=0.3, p=2)"]
questions = 100
"""

import hashlib
import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args

from suffice.engine.presets import PRESETS
from suffice.errors import InputError
from suffice.gates.parse import parse_gate
from suffice.lab.conditions import CONDITIONS, get_condition
from suffice.lab.data import Unanswerable
from suffice.memory.base import BeliefLimits
from suffice.text.plain import read_text

HARNESSES = ("ircot", "react", "memgpt", "iterretgen")
NO_GATE = "none"
DEFAULT_K = 5
DEFAULT_LIMITS = "10/6"
# Sixteen settings of the exhaustion gate, seven discrete and nine smooth. The paper (docs/sources.md) names one of them and
# gives the range of ``u`` of the smooth ones, 0.10 to 0.15. **All other values are our choice**: one step away from the named
# setting in each direction, and for the smooth ones the grid of three ``j`` and three ``u`` with a weight of 0.5.
EXHAUSTION_SWEEP: tuple[str, ...] = (
    "exhaustion(j=0.5, u=0.3, p=2)",
    "exhaustion(j=0.6, u=0.2, p=2)",
    "exhaustion(j=0.6, u=0.3, p=1)",
    "exhaustion(j=0.6, u=0.3, p=2)",  # The one that the paper names.
    "exhaustion(j=0.6, u=0.3, p=3)",
    "exhaustion(j=0.7, u=0.3, p=2)",
    "exhaustion(j=0.8, u=0.5, p=2)",
    *(f"exhaustion(j={j}, u={u}, p=1, smooth=0.5)" for j in (0.5, 0.6, 0.7) for u in (0.1, 0.12, 0.15)),
)
PRESET_EXPERIMENTS: dict[str, dict[str, Any]] = {
    "belief": {"harness": HARNESSES, "memory": tuple(CONDITIONS), "gate": (NO_GATE, "exhaustion")},
    "gates": {
        "harness": ("ircot",),
        "memory": tuple(CONDITIONS),
        "gate": (NO_GATE, *EXHAUSTION_SWEEP, "exhaustion(d=0.1)", "judged", "judged(style=neutral)"),
    },
    "ablations": {
        "harness": ("ircot",),
        "gate": (NO_GATE, "exhaustion"),
        "alpha": (0.0, 0.5, 0.9, 1.0),
        "limits": ("5/3", DEFAULT_LIMITS, "20/12"),
        "k": (3, DEFAULT_K, 10),
    },
}


@dataclass(frozen=True, slots=True)
class Cell:
    harness: str
    memory: str
    gate: str
    k: int
    alpha: float
    limits: BeliefLimits
    rounds: int

    @property
    def variant(self) -> str:
        """What differs from the usual retrieval depth, weight of words and limits of the belief; empty if nothing does."""
        parts = [
            f"k={self.k}" if self.k != DEFAULT_K else "",
            f"alpha={self.alpha:g}" if self.alpha != get_default_alpha(self.harness) else "",
            f"K={self.limits.trigger}/{self.limits.target}" if self.limits != BeliefLimits() else "",
        ]
        return " ".join(part for part in parts if part)

    @property
    def name(self) -> str:
        """The name in rows and messages."""
        return f"{self.harness}/{self.memory}/{self.gate} {self.variant}".rstrip()


@dataclass(frozen=True, kw_only=True)
class Experiment:
    """All settings of a grid. Several values of ``k``, ``alpha`` or ``limits`` are varied one at a time (ablations)."""

    data: tuple[str, ...]
    harness: tuple[str, ...] = HARNESSES
    memory: tuple[str, ...] = tuple(CONDITIONS)
    gate: tuple[str, ...] = (NO_GATE, "exhaustion")
    model: str | None = None
    judge: str | None = None
    """The model that grades answers; ``None``: no rubric score."""
    questions: int | None = None
    seed: int = 0
    rounds: Mapping[str, int] | None = None
    """Rounds at most by harness, where they differ from the harness's own limit."""
    k: tuple[int, ...] = (DEFAULT_K,)
    alpha: tuple[float, ...] = ()
    """Weight of words in search; empty: each harness's own."""
    limits: tuple[str, ...] = (DEFAULT_LIMITS,)
    """Limits of a belief as ``TRIGGER/TARGET``."""
    unanswerable: Unanswerable = "own"
    answers_each_round: bool = False
    """Also answer after every round of a cell without a gate, outside its bill, to compare with a fixed number of rounds."""
    keep_text: bool = True
    """Whether rows hold the answer and the queries; they may quote the data set."""

    def __post_init__(self) -> None:
        for name in ("data", "harness", "memory", "gate", "k", "alpha", "limits"):
            value = getattr(self, name)
            is_list = isinstance(value, Sequence) and not isinstance(value, str)
            object.__setattr__(self, name, tuple(value) if is_list else (value,))
        object.__setattr__(self, "memory", tuple("baseline" if name == "trajectory" else name for name in self.memory))
        self._validate()

    def _validate(self) -> None:
        if not self.data:
            raise InputError("An experiment needs data; name a folder with --data ('suffice lab data' lists data sets)")
        for harness in self.harness:
            if harness not in HARNESSES:
                raise InputError(f"There is no harness {harness!r}; choose from: {', '.join(HARNESSES)}")
        for memory in self.memory:
            get_condition(memory)
        for gate in self.gate:
            if gate != NO_GATE:
                parse_gate(gate)
        for limits in self.limits:
            parse_limits(limits)
        if self.unanswerable not in get_args(Unanswerable):
            raise InputError(f"unanswerable is {self.unanswerable!r}; choose own, swap or none")
        if self.questions is not None and self.questions < 1:
            raise InputError("questions must be at least 1")
        if any(k < 1 for k in self.k) or any(not 0 <= alpha <= 1 for alpha in self.alpha):
            raise InputError("k must be at least 1, and alpha between 0 and 1")
        for harness, rounds in (self.rounds or {}).items():
            if harness not in HARNESSES or not isinstance(rounds, int) or rounds < 1:
                raise InputError(f"rounds are given by harness, such as ircot=6, not {harness}={rounds}")

    def list_cells(self) -> list[Cell]:
        """Return all cells. Iter-RetGen has no history, so it has no lobotomized cell."""
        return list(dict.fromkeys(self._generate_cells()))

    def _generate_cells(self) -> Iterator[Cell]:
        for harness in self.harness:
            rounds = (self.rounds or {}).get(harness) or PRESETS[harness].cap.rounds or 10
            own_alpha = get_default_alpha(harness)
            alphas = self.alpha or (own_alpha,)
            k = DEFAULT_K if DEFAULT_K in self.k else self.k[0]
            alpha = own_alpha if own_alpha in alphas else alphas[0]
            limits = DEFAULT_LIMITS if DEFAULT_LIMITS in self.limits else self.limits[0]
            variants = [
                (k, alpha, limits),
                *((other, alpha, limits) for other in self.k),
                *((k, other, limits) for other in alphas),
                *((k, alpha, other) for other in self.limits),
            ]
            for memory in self.memory:
                if harness == "iterretgen" and memory == "lobotomized":
                    continue
                for gate in self.gate:
                    for depth, weight, bounds in variants:
                        yield Cell(harness, memory, gate, depth, weight, parse_limits(bounds), rounds)

    def identify(self) -> str:
        """Return a digest of the settings that change what a row means. Which cells are run is not one of them."""
        names = ("model", "judge", "seed", "rounds", "unanswerable", "answers_each_round")
        values = {name: getattr(self, name) for name in names}
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()[:16]


def get_default_alpha(harness: str) -> float:
    alpha = PRESETS[harness].alpha
    assert alpha is not None, "every harness has its source's weight"
    return alpha


def parse_limits(text: str) -> BeliefLimits:
    trigger, _, target = str(text).partition("/")
    if not trigger.isdecimal() or not target.isdecimal():
        raise InputError(f"The limits of a belief are written TRIGGER/TARGET, such as 10/6, not {text!r}")
    return BeliefLimits(int(trigger), int(target))


def parse_rounds(text: str) -> dict[str, int]:
    """Parse ``6`` for all harnesses, or ``ircot=6,memgpt=8``."""
    found: dict[str, int] = {}
    for part in text.split(","):
        name, separator, number = part.strip().rpartition("=")
        if not number.isdecimal():
            raise InputError(f"Rounds are a number, or numbers by harness such as ircot=6,memgpt=8, not {text!r}")
        found |= {name.strip(): int(number)} if separator else dict.fromkeys(HARNESSES, int(number))
    return found


def load_experiment(path: Path | None, preset: str | None, options: Mapping[str, Any]) -> Experiment:
    """Return the experiment of a preset, a TOML file and options; the later ones override single values."""
    values = dict(_get_preset(preset)) if preset is not None else {}
    if path is not None:
        values |= _read_toml(path)
    values |= {name: value for name, value in options.items() if value is not None}
    values.setdefault("data", ())
    try:
        return Experiment(**values)
    except TypeError as error:
        raise InputError(f"{path}: a setting has the wrong type ({error})") from error


def _get_preset(name: str) -> dict[str, Any]:
    if name not in PRESET_EXPERIMENTS:
        raise InputError(f"There is no preset {name!r}; choose one of: {', '.join(PRESET_EXPERIMENTS)}")
    return PRESET_EXPERIMENTS[name]


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path} is not a TOML file: {error}") from error
    preset = values.pop("preset", None)
    known = {field.name for field in fields(Experiment)}
    unknown = sorted(values.keys() - known)
    if unknown:
        raise InputError(f"{path}: there is no setting {unknown[0]!r}; choose from: preset, {', '.join(sorted(known))}")
    data = values.get("data")
    if data is not None:  # Relative to the file.
        values["data"] = [str(path.parent / name) for name in ([data] if isinstance(data, str) else data)]
    return {**(_get_preset(preset) if preset is not None else {}), **values}
