"""suffice: deep research that knows when it knows enough.

The public names are listed in ``__all__``. Each is imported when it is first used, so that ``import suffice`` stays fast.
"""

import os

TYPE_CHECKING = False  # Type checkers treat this name as true. Importing typing would double the import time.

__version__ = "0.2.0"

# onnxruntime sends usage data from version 1.29 on. The package asks for an older one; this silences a newer one that another
# package brought along. It counts only before the first import of onnxruntime, and every process of suffice passes here.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

if TYPE_CHECKING:
    from suffice.api import research, run_research
    from suffice.belief import BeliefState
    from suffice.errors import *
    from suffice.events import *
    from suffice.gates.base import Gate
    from suffice.gates.coverage import coverage
    from suffice.gates.diminishing_returns import exhaustion, gain, recall, saturation, unseen
    from suffice.gates.judgement import judged, predicates, stable, sufficiency
    from suffice.gates.limits import budget, fixed
    from suffice.gates.parse import parse_gate
    from suffice.gates.worth import worth
    from suffice.monitor import StopMonitor
    from suffice.options import RunOptions
    from suffice.types import Passage, Place, Query, Report, Verdict

# fmt: off
__all__ = [  # A literal list, because type checkers read it.
    "Asked", "BeliefState", "CheckingClaim", "Continued", "Drafting", "Event", "Failed", "Finished", "Gate",
    "InjectionsStripped", "InputError", "ModelError", "ModelOutputError", "PageError", "PageRead", "PageRefused",
    "Passage", "Place", "Planned",
    "PromptCompacted", "Query", "Recalled", "Reflected", "Report", "ReviewRound", "RoundDone", "RunOptions", "SearchError",
    "SearchRefused", "SearchStopped", "Searching", "Started", "StopMonitor", "SufficeError", "TopicsCovered",
    "Unavailable", "Verdict", "Writing", "__version__", "budget", "coverage", "exhaustion", "fixed", "gain", "judged",
    "parse_gate", "predicates", "recall", "research", "run_research", "saturation", "stable", "sufficiency", "unseen",
    "worth",
]
# fmt: on

_MODULES = {
    "suffice.api": "research run_research",
    "suffice.belief": "BeliefState",
    "suffice.errors": """InputError ModelError ModelOutputError PageError PageRefused SearchError SearchRefused SufficeError
        Unavailable""",
    "suffice.events": """Asked CheckingClaim Continued Drafting Event Failed Finished InjectionsStripped PageRead Planned
        PromptCompacted Recalled Reflected ReviewRound RoundDone SearchStopped Searching Started TopicsCovered Writing""",
    "suffice.gates.base": "Gate",
    "suffice.gates.coverage": "coverage",
    "suffice.gates.diminishing_returns": "exhaustion gain recall saturation unseen",
    "suffice.gates.judgement": "judged predicates stable sufficiency",
    "suffice.gates.limits": "budget fixed",
    "suffice.gates.parse": "parse_gate",
    "suffice.gates.worth": "worth",
    "suffice.monitor": "StopMonitor",
    "suffice.options": "RunOptions",
    "suffice.types": "Passage Place Query Report Verdict",
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name not in _MODULE_OF:
        raise AttributeError(f"module 'suffice' has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
