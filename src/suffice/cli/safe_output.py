"""Keep escape sequences of documents away from the terminal, in every command.

A document can contain sequences that recolour the terminal, rename its window, write to the clipboard or hide text. Commands
print through ``print`` and through rich. ``clean_streams`` filters the first, ``terminal.SafeConsole`` the second, whose own
colours must pass.
"""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

ESCAPE_SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor movements
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # window title, clipboard, links
    r"|\x1b[ -/]*[0-~]?"
    r"|\r(?!\n)|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]"
)


def strip_escape_sequences(text: str) -> str:
    r"""Return the text without escape sequences and control characters, other than line ends and tabs.

    >>> strip_escape_sequences("\x1b[31mred\x1b[0m \x1b]0;title\x07 and\tplain\n")
    'red  and\tplain\n'
    """
    return ESCAPE_SEQUENCE.sub("", text)


class _CleanStream:
    """A text stream that strips escape sequences from what is written. Rich writes past it, to ``rich_proxied_file``."""

    def __init__(self, stream: TextIO) -> None:
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        self.rich_proxied_file.write(strip_escape_sequences(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


@contextmanager
def clean_streams() -> Iterator[None]:
    """Strip escape sequences from everything that is printed inside the block."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (stream and _CleanStream(stream) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
