"""suffice: deep research that knows when it knows enough.

The names below are the public face. They are loaded when first used, so that ``import suffice`` costs next to nothing.
"""

TYPE_CHECKING = False  # Type checkers know the name; importing typing would cost as much as everything else here.

__version__ = "0.1.0"

if TYPE_CHECKING:
    from suffice.api import research, run_research
    from suffice.gates import (
        Gate,
        budget,
        exhaustion,
        fixed,
        gain,
        judged,
        predicates,
        recall,
        saturation,
        sufficiency,
        unseen,
        worth,
    )
    from suffice.gates.parse import parse_gate as parse_gate
    from suffice.monitor import StopMonitor
    from suffice.types import Passage, Place, Query, Report, Verdict

_HOME = {
    "Gate": "suffice.gates",
    "StopMonitor": "suffice.monitor",
    "Passage": "suffice.types",
    "Place": "suffice.types",
    "Query": "suffice.types",
    "Report": "suffice.types",
    "Verdict": "suffice.types",
    "budget": "suffice.gates",
    "exhaustion": "suffice.gates",
    "fixed": "suffice.gates",
    "gain": "suffice.gates",
    "judged": "suffice.gates",
    "parse_gate": "suffice.gates.parse:parse_gate",
    "predicates": "suffice.gates",
    "recall": "suffice.gates",
    "research": "suffice.api:research",
    "run_research": "suffice.api:run_research",
    "saturation": "suffice.gates",
    "sufficiency": "suffice.gates",
    "unseen": "suffice.gates",
    "worth": "suffice.gates",
}

__all__ = sorted([*_HOME, "__version__"])


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _HOME:
        raise AttributeError(f"module 'suffice' has no attribute {name!r}")
    module, _, attribute = _HOME[name].partition(":")
    value = getattr(import_module(module), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
