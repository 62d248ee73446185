"""Run a small computation that a model wrote: pure Python, in a sandbox, in little time and memory.

Two walls. ``flaw`` reads the program before it runs and says what is wrong with it. The sandbox (pydantic-monty, an
interpreter of its own in a process of its own) has no files, no network, no processes and no foreign modules, whatever the
program says. It knows nothing of sources or runs.
"""

import ast
import asyncio
from dataclasses import dataclass

TIMEOUT_SECONDS = 10.0  # S4.
MAX_MEMORY_BYTES = 64_000_000  # Bytes.
MAX_CHARS = 4_000  # Characters of a program, and of what it prints.
ALLOWED_MODULES = frozenset({"math", "decimal", "datetime", "json", "re", "collections"})
_GRACE_SECONDS = 2.0  # Seconds that the sandbox has to notice its own limit before its process is ended.
_FORBIDDEN_NAMES = frozenset(
    {
        "open",
        "exec",
        "eval",
        "compile",
        "input",
        "breakpoint",
        "globals",
        "locals",
        "vars",
        "getattr",
        "setattr",
        "delattr",
    }
)


@dataclass(frozen=True, slots=True)
class ProgramResult:
    """What a program printed, or why there is nothing."""

    output: str = ""
    error: str = ""


def find_violation(code: str) -> str:
    """Why a program will not be run; empty when it may."""
    if len(code) > MAX_CHARS:
        return f"the program has {len(code):,} characters, at most {MAX_CHARS:,} are run"
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"it is no Python: {error}"
    for node in ast.walk(tree):
        modules = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom):
            modules = [node.module or "."]
        strange = [name for name in modules if name not in ALLOWED_MODULES]
        if strange:
            return f"it imports {strange[0]}; there are only {', '.join(sorted(ALLOWED_MODULES))}"
        name = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
        if name in _FORBIDDEN_NAMES or name.startswith("__"):
            return f"it uses {name}, which a computation does not need"
    return ""


async def run_program(code: str, seconds: float = TIMEOUT_SECONDS) -> ProgramResult:
    """Run a program: what it printed, and the value of its last expression when it printed nothing."""
    wrong = find_violation(code)
    if wrong:
        return ProgramResult(error=wrong)
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
    output = printed.output.strip() or ("" if value is None else str(value))
    return ProgramResult(output[:MAX_CHARS]) if output else ProgramResult(error="it printed nothing")
