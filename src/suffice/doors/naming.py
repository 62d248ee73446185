"""A file named in the task itself: "… and save it to notes/bridge.md" (S4).

A task may be pasted from elsewhere, so such a file lies below the working directory and is never one that is there already;
``--out`` is free of both rules. Only an instruction at the end of a task counts, not a question about writing files.
"""

import re
from pathlib import Path

from suffice.errors import InputError

_SAVE_INSTRUCTION = re.compile(
    r"""(?:^|[.,;:!?]|\s(?:and|then))\s*(?:and\s+|then\s+|please\s+)*
        (?:save|write|output|export)\s+(?:(?:it|this|that|the\s+(?:\w+\s+)?\w+)\s+)?(?:to|into|in|as)\s+
        (?:(?:the|a)\s+file\s+)?["'`“]?(?P<path>[^\s"'`”“]+\.(?:md|html|json))["'`”]?\s*\.?\s*$""",
    re.IGNORECASE | re.VERBOSE,
)


def extract_output_file(task: str) -> tuple[str, Path | None]:
    """The task without the instruction to save it, and the file; the task as it is when it names none.

    >>> named_file("Who built the bridge? Save it to bridge.md")
    ('Who built the bridge?', PosixPath('bridge.md'))
    """
    found = _SAVE_INSTRUCTION.search(task)
    if found is None:
        return task, None
    kept = task[: found.start()] + (task[found.start()] if task[found.start()] in ".!?" else "")
    if not any(character.isalnum() for character in kept):
        return task, None  # Nothing but the instruction: there is no question before it.
    path = Path(found["path"])
    inside = Path.cwd().resolve()
    if not path.expanduser().resolve().is_relative_to(inside):
        raise InputError(
            f"The task says to save to {path}, which is not below the working directory; use --out for that"
        )
    if path.exists() or path.is_symlink():
        raise InputError(
            f"The task says to save to {path}, which is there already; remove it, or overwrite it with --out"
        )
    return kept.strip(), path
