"""Run a small computation that a model wrote: pure Python, in a sandbox, with limits on time and memory.

There are two independent protections. ``find_violation`` reads the program before it runs. The sandbox (pydantic-monty, a
separate interpreter in a separate process) has no files, network, processes or third-party modules, whatever the program
does. This module does not know about sources or runs.
"""

import ast
import asyncio
from dataclasses import dataclass

TIMEOUT_SECONDS = 10.0  # Seconds for one program (value of the source system, see docs/sources.md).
MAX_MEMORY_BYTES = 64_000_000
MAX_CHARS = 4_000  # Characters of a program, and of its output.
ALLOWED_MODULES = frozenset({"math", "decimal", "datetime", "json", "re", "collections"})
_GRACE_SECONDS = 2.0  # Seconds that the sandbox has to enforce its own time limit before its process is killed.
_FORBIDDEN_NAMES = frozenset(
    "open exec eval compile input breakpoint globals locals vars getattr setattr delattr".split()
)


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """The output of a program, or the reason why there is none."""

    output: str = ""
    error: str = ""


async def run_program(code: str, seconds: float = TIMEOUT_SECONDS) -> ProgramResult:
    """Run a program and return what it printed, or the value of its last expression if it printed nothing."""
    violation = find_violation(code)
    if violation:
        return ProgramResult(error=violation)
    import pydantic_monty as monty

    printed = monty.CollectString(max_bytes=10 * MAX_CHARS)
    limits = monty.ResourceLimits(max_feed_duration_secs=seconds, max_memory=MAX_MEMORY_BYTES, max_total_sleep_secs=0.0)
    try:
        async with (
            asyncio.timeout(seconds + 2 * _GRACE_SECONDS),
            monty.AsyncMonty(max_processes=1, request_timeout=seconds + _GRACE_SECONDS) as pool,
            pool.checkout(limits=limits) as session,
        ):
            value = await session.feed_run(code, print_callback=printed)
    except TimeoutError:
        return ProgramResult(error=f"it took longer than {seconds:g} s")
    except monty.MontyError as error:
        return ProgramResult(error=" ".join(str(error).split())[:300])
    except (OSError, RuntimeError) as error:  # Its program is not installed, or cannot be run.
        return ProgramResult(error=f"the sandbox could not be started: {' '.join(str(error).split())[:300]}")
    output = printed.output.strip() or ("" if value is None else str(value))
    return ProgramResult(output[:MAX_CHARS]) if output else ProgramResult(error="it printed nothing")


def find_violation(code: str) -> str:
    """Return why a program may not run; empty if it may."""
    if len(code) > MAX_CHARS:
        return f"the program has {len(code):,} characters; the limit is {MAX_CHARS:,}"
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"it is not valid Python: {error}"
    for node in ast.walk(tree):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            modules = [node.module or "."]
        for module in modules:
            if module not in ALLOWED_MODULES:
                return f"it imports {module}; allowed are only {', '.join(sorted(ALLOWED_MODULES))}"
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name in _FORBIDDEN_NAMES or name.startswith("__"):
            return f"it uses {name}, which is not allowed in a computation"
    return ""
