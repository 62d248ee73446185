"""The picture of a stop: one small panel per reading over the rounds, its thresholds, and the round that ended the run.

Pure functions from a ``Stop`` to an SVG string, and from values to a line of block characters for the terminal. Colours
are CSS variables with a fallback, set as attributes (a strict content policy forbids style attributes). It knows
nothing of pages or files.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil

from suffice.types import Stop
from suffice.write.plain import known, number, one_line
from suffice.write.rounds import chosen, fired, series, thresholds

_INK = "var(--chart-ink, currentColor)"
_MUTED = "var(--chart-muted, #767676)"
_PAPER = "var(--chart-paper, transparent)"
# Blue and vermilion of Okabe and Ito's palette: told apart with every common colour blindness.
_ACCENT = "var(--chart-accent, #0072b2)"
_LIMIT = "var(--chart-limit, #d55e00)"

# About how wide a letter of the chart's text is.
_LETTER = 7.6
_BLOCKS = "▁▂▃▄▅▆▇█"
_TOP, _BOTTOM, _PANEL, _GAP, _RIGHT = 30, 30, 48, 24, 48


def sparkline(values: Sequence[float | None]) -> str:
    """The course of a reading in one line of text; an unknown value is ``·``.

    >>> sparkline([1.0, 0.5, None, 0.0])
    '█▅·▁'
    """
    numbers = [known(value) for value in values]
    seen = [value for value in numbers if value is not None]
    low, high = min(seen, default=0.0), max(seen, default=0.0)
    step = (high - low) / (len(_BLOCKS) - 1)
    middle = _BLOCKS[len(_BLOCKS) // 2 - 1]
    blocks = ("·" if v is None else _BLOCKS[int((v - low) / step + 0.5)] if step else middle for v in numbers)
    return "".join(blocks)


def render(stop: Stop, *, width: int = 760, prefix: str = "chart") -> str:
    """The chart as an inline ``<svg>``, empty when no round has a reading.

    ``width`` is that of the view box in the units of its text, so a narrow screen wants its own, narrower drawing.
    ``prefix`` keeps the ids of several drawings on a page apart.
    """
    names = chosen(stop)
    if not names:
        return ""
    frame = _Frame(width, len(stop.rounds), len(names))
    ended_by = {name for leaf in fired(stop) for name in leaf.signals}
    body = [*_rejected(stop, frame, prefix), *_axis(stop, frame), *_rule(stop, frame)]
    for row, name in enumerate(names):
        body += _panel(stop, frame, row, name, name in ended_by)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {frame.height}" role="img" '
        f'aria-labelledby="{prefix}-title {prefix}-desc" font-family="system-ui, sans-serif" font-size="13">'
        f'<title id="{prefix}-title">Readings per round, and where the search stopped</title>'
        f'<desc id="{prefix}-desc">{escape(_description(stop, names))}</desc>'
        f'<defs><pattern id="{prefix}-hatch" width="7" height="7" patternUnits="userSpaceOnUse" '
        f'patternTransform="rotate(45)"><line x1="0" y1="0" x2="0" y2="7" stroke="{_MUTED}" stroke-opacity="0.45" '
        f'stroke-width="1.5"/></pattern></defs>{"".join(body)}</svg>'
    )


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where things stand: one column a round, one row a reading."""

    width: int
    rounds: int
    rows: int

    @property
    def gutter(self) -> int:
        """Names stand beside their panel when there is room, above it otherwise."""
        return 150 if self.width >= 560 else 8

    @property
    def pitch(self) -> int:
        return _PANEL + _GAP + (0 if self.width >= 560 else 18)

    @property
    def height(self) -> int:
        return _TOP + self.rows * self.pitch + _BOTTOM

    @property
    def column(self) -> float:
        return (self.width - self.gutter - _RIGHT) / self.rounds

    def x(self, position: int) -> float:
        return self.gutter + (position + 0.5) * self.column

    def floor(self, row: int) -> float:
        return _TOP + (row + 1) * self.pitch - 4


def _panel(stop: Stop, frame: _Frame, row: int, name: str, ended: bool) -> Iterable[str]:
    values, limits = series(stop, name), thresholds(stop, name)
    scaled = [value for value in (*values, *limits) if value is not None]
    low, top = min(0.0, *scaled), max(0.0, *scaled)
    extent = (1.0 if 0.5 < top <= 1 else top) - low or 1.0
    floor, colour = frame.floor(row), _ACCENT if ended else _INK

    def y(value: float) -> float:
        return floor - (value - low) / extent * _PANEL

    left, right = frame.gutter, frame.width - _RIGHT
    beside = frame.width >= 560
    weight = ' font-weight="600"' if ended else ""
    at = (0, floor - _PANEL / 2 + 4) if beside else (left, floor - _PANEL - 22)
    yield _text(*at, one_line(name, 22), fill=colour, extra=weight)
    yield _line(left, floor, right, floor, _MUTED, 'stroke-opacity="0.5"')
    for limit in limits:
        yield _line(left, y(limit), right, y(limit), _LIMIT, 'stroke-width="1.5" stroke-dasharray="5 4"')
        yield _text(right + 6, y(limit) + 4, _short(limit), fill=_LIMIT)
    for stretch in _stretches(values):
        points = " ".join(f"{frame.x(i):.1f},{y(value):.1f}" for i, value in stretch)
        yield f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2" stroke-linejoin="round"/>'
    labels = {i: _short(value) for i, value in enumerate(values) if value is not None}
    crowded = max(map(len, labels.values())) * _LETTER > frame.column
    for i, value in enumerate(values):
        if value is None:
            continue
        final = ended and stop.rounds[i].index == stop.round
        yield f'<circle cx="{frame.x(i):.1f}" cy="{y(value):.1f}" r="{5 if final else 3}" fill="{colour}"/>'
        if not crowded or i in (min(labels), max(labels)):
            yield _text(frame.x(i), y(value) - 9, labels[i], fill=colour, extra=_HALO + weight * final)


def _rejected(stop: Stop, frame: _Frame, prefix: str) -> Iterable[str]:
    height = frame.height - _TOP - _BOTTOM + 4
    for i, record in enumerate(stop.rounds):
        if not record.accepted:
            left, width = frame.x(i) - frame.column / 2, frame.column
            yield (
                f'<rect x="{left:.1f}" y="{_TOP}" width="{width:.1f}" height="{height}" fill="url(#{prefix}-hatch)"/>'
            )


def _axis(stop: Stop, frame: _Frame) -> Iterable[str]:
    every = ceil(26 / frame.column)
    base = frame.height - 8
    last = _position(stop)
    for i, record in enumerate(stop.rounds):
        if i == last or (i % every == 0 and (last is None or abs(i - last) >= every)):
            yield _text(frame.x(i), base, str(record.index), fill=_INK, extra=' text-anchor="middle"')
    if frame.gutter > 8:
        yield _text(0, base, "round", fill=_MUTED)


def _rule(stop: Stop, frame: _Frame) -> Iterable[str]:
    position = _position(stop)
    if position is None:
        return
    x, label = frame.x(position), f"stopped in round {stop.round}: {one_line(stop.reason.replace('_', ' '), 20)}"
    yield _line(x, 18, x, frame.height - _BOTTOM + 8, _ACCENT, 'stroke-width="1.5"')
    fits = x + (_LETTER + 1) * len(label) <= frame.width
    at, anchor = (x - 2, "start") if fits else (frame.width, "end")
    yield _text(at, 12, label, fill=_ACCENT, extra=f' font-weight="600" text-anchor="{anchor}"')


def _position(stop: Stop) -> int | None:
    return next((i for i, record in enumerate(stop.rounds) if record.index == stop.round), None)


def _short(value: float) -> str:
    return f"{value / 1000:,.0f}k" if abs(value) >= 10_000 else number(value)


def _stretches(values: Sequence[float | None]) -> Iterable[list[tuple[int, float]]]:
    """Runs of known values: the line breaks where a reading is unknown."""
    run: list[tuple[int, float]] = []
    for i, value in enumerate((*values, None)):
        if value is not None:
            run.append((i, value))
        elif run:
            yield run
            run = []


def _description(stop: Stop, names: Iterable[str]) -> str:
    lines = []
    for name in names:
        values = ", ".join("unknown" if value is None else number(value) for value in series(stop, name))
        limits = " and ".join(number(limit) for limit in thresholds(stop, name))
        lines.append(f"{name}: {values}" + (f" (threshold {limits})" if limits else ""))
    rejected = ", ".join(str(record.index) for record in stop.rounds if not record.accepted)
    lines += [f"Rejected rounds: {rejected}"] if rejected else []
    return one_line(f"{'. '.join(lines)}. Stopped in round {stop.round}: {stop.reason}.")


_HALO = f' stroke="{_PAPER}" stroke-width="3" paint-order="stroke" font-size="12" text-anchor="middle"'


def _text(x: float, y: float, text: str, *, fill: str, extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}"{extra}>{escape(text)}</text>'


def _line(x1: float, y1: float, x2: float, y2: float, colour: str, extra: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" {extra}/>'
