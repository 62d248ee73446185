"""A rich console that shows no escape sequences of documents."""

from collections.abc import Iterator

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from suffice.cli.safe_output import ESCAPE_SEQUENCE, strip_escape_sequences


class SafeConsole(Console):
    """A console that strips escape sequences from the texts it shows."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterator[Segment]:
        for segment in super().render(renderable, options):
            is_clean = segment.control or not ESCAPE_SEQUENCE.search(segment.text)
            yield segment if is_clean else Segment(strip_escape_sequences(segment.text), segment.style)
