"""The figures of a grid: quality against tokens with its frontier, one file for each data set."""

from collections.abc import Sequence
from pathlib import Path

from suffice.errors import InputError, describe_install
from suffice.lab.episode import Row
from suffice.lab.experiment import NO_GATE
from suffice.lab.rows import group_rows, select_usual
from suffice.lab.tables import find_frontier, measure_cells

_COLOURS = {"baseline": "0.35", "lobotomized": "#a33b2e", "structured": "#1f6f5c", "freeform": "#2b5fa8"}
_MARKERS = {"ircot": "o", "react": "s", "memgpt": "^", "iterretgen": "D"}


def draw_figures(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Write ``frontier-DATA.svg`` for each data set and return the paths."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise InputError(f"Drawing needs matplotlib; install it with: {describe_install('lab')}") from error
    matplotlib.rcParams["svg.hashsalt"] = "suffice"  # The same rows give the same file.
    paths = []
    good = select_usual([row for row in rows if not row.get("error")])
    for (data,), own in group_rows(good, "data"):
        figure, axes = pyplot.subplots(figsize=(8, 5.5), layout="constrained")
        for point in measure_cells(own):
            harness, memory, gate = point.cell
            colour = _COLOURS.get(memory, "black")
            face = colour if gate == NO_GATE else "none"
            axes.plot(point.tokens, point.score, _MARKERS.get(harness, "x"), color=colour, markerfacecolor=face)
        frontier = find_frontier(own)
        axes.step(
            *zip(*((one.tokens, one.score) for one in frontier), strict=True), where="post", color="0.7", zorder=0
        )
        memories = [(name, "o", colour) for name, colour in _COLOURS.items()]
        for name, marker, colour in (*memories, *((name, marker, "0.5") for name, marker in _MARKERS.items())):
            axes.plot([], [], marker, color=colour, label=name)
        if all(point.tokens > 0 for point in measure_cells(own)):
            axes.set_xscale("log")
        axes.set_xlabel("mean tokens of a run")
        axes.set_ylabel("token F1")
        axes.set_title(f"{data}: quality against tokens (hollow: with a gate; line: frontier)", fontsize=10)
        axes.legend(fontsize=8, ncols=2)
        axes.grid(alpha=0.25)
        path = folder / f"frontier-{data}.svg"
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)
        paths.append(path)
    return paths
