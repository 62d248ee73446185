"""The run step by step as HTML: what each round asked, what it found, and what was believed after it.

Each round is a ``details`` element, so the steps open without a script, one at a time; the page's script adds buttons and
arrow keys. It knows nothing of the rest of the page.
"""

from collections.abc import Iterable
from html import escape

from suffice.types import RoundRecord, Stop
from suffice.write.plain import to_one_line
from suffice.write.rounds import describe_outcome


def render_steps(stop: Stop) -> str:
    """The section; empty when no round kept what it found or believed, as in a report of an older version."""
    if not any(record.found or record.belief or record.open for record in stop.rounds):
        return ""
    known: frozenset[str] = frozenset()
    steps: list[str] = []
    for record in stop.rounds:
        steps.append(_render_step(stop, record, known, first=not steps))
        known = frozenset(record.belief)
    return f"""<section id="steps" aria-labelledby="steps-title">
<h2 id="steps-title">Round by round: what was found and believed</h2>
<p class="stepper" hidden><button type="button" data-step="-1">← Previous</button>
<span role="status"></span>
<button type="button" data-step="1">Next →</button></p>
{"".join(steps)}
</section>"""


def _render_step(stop: Stop, record: RoundRecord, known: frozenset[str], first: bool) -> str:
    new = f"{record.new_passages} new {'passage' if record.new_passages == 1 else 'passages'}"
    return (
        f'<details class="step" name="step"{" open" if first else ""}>'
        f"<summary>Round {record.index} · {new} · {_escape_text(describe_outcome(stop, record), 200)}</summary>"
        f"{_render_part('Asked', map(_render_item, record.queries))}"
        f"{_render_part('Found', map(_render_item, record.found))}"
        f"{_render_part('Believed after it', (_render_item(note, note not in known) for note in record.belief))}"
        f"{_render_dropped_count(len(known - set(record.belief)))}"
        f"{_render_part('Still open', map(_render_item, record.open))}</details>"
    )


def _render_part(title: str, items: Iterable[str]) -> str:
    inside = "".join(items)
    return f"<h3>{title}</h3><ul>{inside}</ul>" if inside else ""


def _render_item(text: str, new: bool = False) -> str:
    mark = '<span class="handle">new</span> ' if new else ""
    return f'<li dir="auto">{mark}{_escape_text(text, 500)}</li>'


def _render_dropped_count(count: int) -> str:
    notes = "note is" if count == 1 else "notes are"
    return f'<p class="aside">{count} earlier {notes} no longer shown.</p>' if count else ""
