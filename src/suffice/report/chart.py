"""Draw the readings of a run over its rounds: one small panel per reading, its thresholds, and the round that stopped.

The functions are pure: from a ``Stop`` to an SVG string. Colours are CSS variables with a fallback and are set as attributes,
because a strict content security policy forbids style attributes. This module does not know about pages or files.
"""

from collections.abc import Iterable, Sequence
from html import escape
from math import ceil

from suffice.report.timeline import get_reading_series, get_reading_thresholds, list_stopping_verdicts, select_readings
from suffice.report.wording import describe_reading, describe_threshold, format_reading
from suffice.text.plain import to_one_line
from suffice.types import Stop

_TEXT_COLOR = "var(--chart-ink, currentColor)"
_MUTED_COLOR = "var(--chart-muted, #767676)"
_BACKGROUND_COLOR = "var(--chart-paper, transparent)"
# Blue and vermilion of the Okabe-Ito palette, which people with any common colour blindness can distinguish.
_ACCENT_COLOR = "var(--chart-accent, #0072b2)"
_THRESHOLD_COLOR = "var(--chart-limit, #d55e00)"

_CHAR_WIDTH = 7.6  # Approximate width of a character of the chart's text.
_WIDE = 560  # From this width on, names stand beside their panel instead of above it.
_LABEL_STYLE = (
    f' stroke="{_BACKGROUND_COLOR}" stroke-width="3" paint-order="stroke" font-size="12" text-anchor="middle"'
)
_TOP_MARGIN, _BOTTOM_MARGIN, _PANEL_HEIGHT, _PANEL_GAP, _RIGHT_MARGIN = 30, 30, 48, 26, 24


def render_chart(stop: Stop, *, width: int = 760, prefix: str = "chart", limit: int = 6) -> str:
    """Return the chart as an inline ``<svg>``, empty if no round has a reading or there is only one round.

    ``width`` is the width of the view box in units of its text, so a narrow screen needs its own, narrower chart.
    ``prefix`` makes the element ids unique if a page contains several charts. ``limit`` is the number of readings.
    """
    names = select_readings(stop, limit)
    if not names or len(stop.rounds) < 2:
        return ""
    layout = _ChartLayout(width, len(stop.rounds), len(names))
    stopping = {name for leaf in list_stopping_verdicts(stop) for name in leaf.signals}
    body = [*_draw_axis(stop, layout), *_draw_stop_line(stop, layout)]
    for row, name in enumerate(names):
        body += _draw_panel(stop, layout, row, name, name in stopping)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {layout.height}" role="img" '
        f'aria-labelledby="{prefix}-title {prefix}-desc" font-family="system-ui, sans-serif" font-size="13">'
        f'<title id="{prefix}-title">What was measured in each round, and where the search stopped</title>'
        f'<desc id="{prefix}-desc">{escape(_describe_chart(stop, names))}</desc>{"".join(body)}</svg>'
    )


class _ChartLayout:
    """Positions of the chart's elements: one column per round, one row per reading."""

    def __init__(self, width: int, rounds: int, rows: int) -> None:
        self.width = width
        self.is_wide = width >= _WIDE
        self.label_width = 256 if self.is_wide else 8
        self.row_height = _PANEL_HEIGHT + _PANEL_GAP + (0 if self.is_wide else 44)
        self.height = _TOP_MARGIN + rows * self.row_height + _BOTTOM_MARGIN
        self.column_width = (width - self.label_width - _RIGHT_MARGIN) / rounds

    def column_x(self, position: int) -> float:
        return self.label_width + (position + 0.5) * self.column_width


def _draw_panel(stop: Stop, layout: _ChartLayout, row: int, name: str, is_stopping: bool) -> Iterable[str]:
    values, thresholds = get_reading_series(stop, name), get_reading_thresholds(stop, name)
    scaled = [value for value in (*values, *thresholds) if value is not None]
    low, top = min(0.0, *scaled), max(0.0, *scaled)
    extent = (1.0 if 0.5 < top <= 1 else top) - low or 1.0
    floor, color = _TOP_MARGIN + (row + 1) * layout.row_height - 4, _ACCENT_COLOR if is_stopping else _TEXT_COLOR

    def y(value: float) -> float:
        return floor - (value - low) / extent * _PANEL_HEIGHT

    left, right = layout.label_width, layout.width - _RIGHT_MARGIN
    weight = ' font-weight="600"' if is_stopping else ""
    label_x, label_y = (0, floor - _PANEL_HEIGHT / 2) if layout.is_wide else (left, floor - _PANEL_HEIGHT - 44)
    yield _draw_text(label_x, label_y, to_one_line(describe_reading(name), 34), fill=color, extra=weight)
    if thresholds:
        words = " or ".join(describe_threshold(name, threshold) for threshold in thresholds[:2])
        yield _draw_text(label_x, label_y + 17, to_one_line(words, 40), fill=_THRESHOLD_COLOR, extra=' font-size="12"')
    yield _draw_line(left, floor, right, floor, _MUTED_COLOR, 'stroke-opacity="0.5"')
    for threshold in thresholds:
        height = y(threshold)
        yield _draw_line(left, height, right, height, _THRESHOLD_COLOR, 'stroke-width="1.5" stroke-dasharray="5 4"')
    for segment in _split_known_segments(values):
        points = " ".join(f"{layout.column_x(i):.1f},{y(value):.1f}" for i, value in segment)
        yield f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2" stroke-linejoin="round"/>'
    known = {i: value for i, value in enumerate(values) if value is not None}
    short = {i: f"{value / 1000:,.0f}k" for i, value in known.items() if abs(value) >= 10_000}
    labels = {i: format_reading(name, value).removesuffix(" of 10") for i, value in known.items()} | short
    is_crowded = max(map(len, labels.values())) * _CHAR_WIDTH > layout.column_width
    for i, value in enumerate(values):
        if value is None:
            continue
        is_final = is_stopping and stop.rounds[i].index == stop.round
        yield f'<circle cx="{layout.column_x(i):.1f}" cy="{y(value):.1f}" r="{5 if is_final else 3}" fill="{color}"/>'
        if not is_crowded or i in (min(labels), max(labels)):
            yield _draw_text(
                layout.column_x(i), y(value) - 9, labels[i], fill=color, extra=_LABEL_STYLE + weight * is_final
            )


def _draw_axis(stop: Stop, layout: _ChartLayout) -> Iterable[str]:
    interval = ceil(26 / layout.column_width)
    base = layout.height - 8
    last = _find_stop_index(stop)
    for i, record in enumerate(stop.rounds):
        if i == last or (i % interval == 0 and (last is None or abs(i - last) >= interval)):
            yield _draw_text(
                layout.column_x(i), base, str(record.index), fill=_TEXT_COLOR, extra=' text-anchor="middle"'
            )
    if layout.label_width > 8:
        yield _draw_text(0, base, "round", fill=_MUTED_COLOR)


def _draw_stop_line(stop: Stop, layout: _ChartLayout) -> Iterable[str]:
    position = _find_stop_index(stop)
    if position is None:
        return
    x = layout.column_x(position)
    label = f"stopped after round {stop.round}"
    yield _draw_line(x, 18, x, layout.height - _BOTTOM_MARGIN + 8, _ACCENT_COLOR, 'stroke-width="1.5"')
    fits = x + (_CHAR_WIDTH + 1) * len(label) <= layout.width
    label_x, anchor = (x - 2, "start") if fits else (layout.width, "end")
    yield _draw_text(label_x, 12, label, fill=_ACCENT_COLOR, extra=f' font-weight="600" text-anchor="{anchor}"')


def _find_stop_index(stop: Stop) -> int | None:
    return next((i for i, record in enumerate(stop.rounds) if record.index == stop.round), None)


def _split_known_segments(values: Sequence[float | None]) -> Iterable[list[tuple[int, float]]]:
    """Split the values where one is unknown, so that the line has a gap there."""
    segment: list[tuple[int, float]] = []
    for i, value in enumerate((*values, None)):
        if value is not None:
            segment.append((i, value))
        elif segment:
            yield segment
            segment = []


def _describe_chart(stop: Stop, names: Iterable[str]) -> str:
    """Describe the chart in words, for screen readers."""
    lines = []
    for name in names:
        values = ", ".join(
            "unknown" if value is None else format_reading(name, value) for value in get_reading_series(stop, name)
        )
        thresholds = " or ".join(describe_threshold(name, value) for value in get_reading_thresholds(stop, name))
        lines.append(f"{describe_reading(name)}: {values}" + (f" ({thresholds})" if thresholds else ""))
    rejected = ", ".join(str(record.index) for record in stop.rounds if not record.accepted)
    lines += [f"Rejected rounds: {rejected}"] if rejected else []
    return to_one_line(f"{'. '.join(lines)}. Stopped in round {stop.round}: {stop.reason}.")


def _draw_text(x: float, y: float, text: str, *, fill: str, extra: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{fill}"{extra}>{escape(text)}</text>'


def _draw_line(x1: float, y1: float, x2: float, y2: float, color: str, extra: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{color}" {extra}/>'
