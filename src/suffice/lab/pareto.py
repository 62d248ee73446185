"""Draw cost against recall: every gate as a point, with the fixed numbers of rounds and the oracle for reference."""

from collections.abc import Sequence
from pathlib import Path

from suffice.errors import InputError, describe_install
from suffice.replay.compare import GateComparison


def draw_pareto_chart(rows: Sequence[GateComparison], path: Path) -> None:
    """Write the chart to ``path``; its suffix (``.png`` or ``.svg``) sets the format."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError as error:
        raise InputError(f"Drawing needs matplotlib; install it with: {describe_install('lab')}") from error
    points = [(row, row.recall) for row in rows if row.recall is not None]
    if not points:
        raise InputError("These recordings name no gold passages, so there is no recall to draw")
    figure, axes = pyplot.subplots(figsize=(8, 5.5), layout="constrained")
    fixed_points = [(row.mean_rounds, recall) for row, recall in points if row.gate.startswith("fixed(")]
    axes.plot([x for x, _ in fixed_points], [y for _, y in fixed_points], "o-", color="0.6", label="fixed k")
    for row, recall in points:
        if row.gate == "oracle":
            axes.plot(row.mean_rounds, recall, "*", color="#b8860b", markersize=14, label="oracle")
        elif not row.gate.startswith("fixed("):
            colour = "#1f6f5c" if row.lift_ci is not None and row.lift_ci[0] > 0 else "#a33b2e"
            axes.plot(row.mean_rounds, recall, "D", color=colour)
            axes.annotate(row.gate, (row.mean_rounds, recall), xytext=(6, -3), textcoords="offset points", fontsize=8)
    axes.set_xlabel("mean rounds")
    axes.set_ylabel("recall of gold passages")
    axes.set_title(
        "Gates against a fixed number of rounds (green: better, by the whole confidence interval)", fontsize=10
    )
    axes.legend(loc="lower right")
    axes.grid(alpha=0.25)
    figure.savefig(path, dpi=150)
    pyplot.close(figure)
