"""Cost against recall: every gate as a point, constants and oracle as the lines they have to be held against."""

from collections.abc import Sequence
from pathlib import Path

from suffice.errors import InputError
from suffice.replay.compare import Row


def draw(rows: Sequence[Row], path: Path) -> None:
    """Write the chart as PNG or SVG, by the path's ending."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise InputError("Drawing needs matplotlib; install it with: pip install 'suffice[lab]'") from error
    if any(row.recall is None for row in rows):
        raise InputError("These recordings name no gold passages, so there is no recall to draw")
    figure, axes = pyplot.subplots(figsize=(8, 5.5), layout="constrained")
    constants = [row for row in rows if row.gate.startswith("fixed(")]
    axes.plot(
        [row.mean_rounds for row in constants], [row.recall for row in constants], "o-", color="0.6", label="fixed k"
    )
    for row in rows:
        if row.gate == "oracle":
            axes.plot(row.mean_rounds, row.recall, "*", color="#b8860b", markersize=14, label="oracle")
        elif not row.gate.startswith("fixed("):
            colour = "#1f6f5c" if row.lift_ci is not None and row.lift_ci[0] > 0 else "#a33b2e"
            axes.plot(row.mean_rounds, row.recall, "D", color=colour)
            axes.annotate(
                row.gate, (row.mean_rounds, row.recall or 0), xytext=(6, -3), textcoords="offset points", fontsize=8
            )
    axes.set_xlabel("mean rounds")
    axes.set_ylabel("recall of gold passages")
    axes.set_title("What a gate buys against a constant number of rounds (green: better, whole interval)", fontsize=10)
    axes.legend(loc="lower right")
    axes.grid(alpha=0.25)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
