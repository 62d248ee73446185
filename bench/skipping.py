"""Measure reading, skipping and stopping on recorded runs: ``python -m bench.skipping [--limit 100]``.

The output is a section of ``stopping.md``.

Weights are fitted on one set and used on the other. A round that is read costs one round, a skipped one a share of it. The
prices of the gate are not fitted: for each target the price whose runs cost nearly that much is chosen, without labels, and
the result is compared with fixed k at exactly the same mean cost. Recorded agents had read every round, so their later
queries use what a skip would have left out; the live runs (``bench.reading``) show what that is worth.
"""

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy

from bench.reading import KEPT_ROWS, format_summary, read_rows
from bench.stopping import AGENTS, DATA, MAIN, SETS, Reference, Share, average_shares
from suffice.gates.worth import worth
from suffice.lab.fit import fit_worth, follow_worth
from suffice.replay.episodes import Episode, read_corpus, read_episodes

PREVIEW_PRICES = (0.0, 0.1, 0.2, 1.0)
"""What a skipped round costs. With 1 nothing is skipped: the rule that only stops."""
GATE_PRICES = (0.01, 0.02, 0.035, 0.055, 0.08, 0.11, 0.15, 0.2, 0.27, 0.36, 0.5)
GAP_TARGET = 0.4


@dataclass(frozen=True)
class Result:
    """What weights of ``train`` close on runs of ``test``, by target cost, with the gate's price and real cost."""

    train: str
    test: str
    preview: float
    shares: dict[float, Share]
    prices: dict[float, float]
    costs: dict[float, float]


def load_set(name: str, limit: int | None = None) -> list[Episode]:
    """Return the sampled runs of all agents, of all questions or of the first ones."""
    texts = read_corpus(DATA / name / "corpus.jsonl")
    folder = DATA / "episodes"
    return [
        run for agent in AGENTS for run in read_episodes(folder / f"{name}.{agent}.sampled.jsonl.gz", texts)[:limit]
    ]


def measure_transfer(train: str, test: str, limit: int | None = None) -> list[Result]:
    """Return the results at every price of a preview."""
    episodes = load_set(test, limit)
    reference = Reference(episodes)
    results = []
    with TemporaryDirectory() as folder:
        file = str(Path(folder) / "weights.json")
        Path(file).write_text(json.dumps(fit_worth(load_set(train, limit))), encoding="utf-8")
        for preview in PREVIEW_PRICES:
            spent = [_spend(episodes, worth(price, file, preview=preview)) for price in GATE_PRICES]
            shares, prices, costs = {}, {}, {}
            for target in MAIN:
                best = min(range(len(spent)), key=lambda i: abs(spent[i][0].mean() - target))
                shares[target] = reference.share_costs(*spent[best])
                prices[target], costs[target] = GATE_PRICES[best], float(spent[best][0].mean())
            results.append(Result(train, test, preview, shares, prices, costs))
    return results


def _spend(episodes: Sequence[Episode], gate: worth) -> "tuple[numpy.ndarray, numpy.ndarray]":
    costs, recalls = [], []
    for episode in episodes:
        point = follow_worth(gate, episode)
        read = {hit.id for number in point.read_rounds for hit in episode.rounds[number - 1].raw}
        costs.append(point.rounds - (1 - gate.preview) * len(point.skipped))
        recalls.append(len(read & episode.gold) / len(episode.gold))
    return numpy.array(costs), numpy.array(recalls)


def measure_all(limit: int | None = None) -> list[Result]:
    with ProcessPoolExecutor(2) as pool:
        ways = list(pool.map(measure_transfer, SETS[::-1], SETS, (limit, limit)))
    return [result for way in ways for result in way]


def format_section(results: Sequence[Result]) -> list[str]:
    lines = [
        "## Read, skip or stop",
        "",
        "`worth` with `preview` looks at the results of a search before anything reads them, and may skip them. The default "
        "only stops.",
        "",
        *format_summary(read_rows(KEPT_ROWS)),
        "",
        "**On recorded runs**, whose agents had read every round before they asked the next query. Weights from the other "
        "set; targets of 1.5, 2, 2.5 and 3 rounds; lift in points of recall against fixed k at the same cost, gap = "
        "share of the way from fixed k to an oracle that knows when to stop (not what to skip, so more than 100 % is "
        "possible). *Stop only* is the default, `worth`.",
        "",
        "| a skipped round costs | "
        + " | ".join(f"{train} → {test}: lift, gap" for train, test in _ways())
        + " | mean gap |",
        "|---|---|---|--:|",
    ]
    for preview in PREVIEW_PRICES:
        row = [average_shares(list(_find(results, way, preview).shares.values())) for way in _ways()]
        mean = average_shares(row)
        name = "stop only" if preview == 1 else f"{preview:.0%} of a round"
        lines.append(f"| {name} | " + " | ".join(f"{share}, {share.closed}" for share in row) + f" | {mean.closed} |")
    at_tenth = [average_shares(list(_find(results, way, 0.1).shares.values())) for way in _ways()]
    mean = average_shares(at_tenth)
    reached = mean.gap >= GAP_TARGET and all(share.is_certain for share in at_tenth)
    lines += [
        "",
        f"Target: {GAP_TARGET:.0%} of the gap on average when a skipped round costs a tenth, both lifts above 0 with their "
        f"whole intervals: {mean.closed}, {'yes' if reached else '**no**'}.",
        "",
        "What did not work: to stop after 2 or 3 skips in a row instead of by the chance of the next round; to read only some "
        "passages of a round, valued by words alone (live, with the reader, it is in [reading.md](reading.md)).",
    ]
    return lines


def format_details(results: Sequence[Result]) -> list[str]:
    """Return every price and target of the recorded runs."""
    lines = [
        "## Skipping on recorded runs, price by price",
        "",
        "| weights from → runs of | skipped round | price | cost in rounds | lift | gap closed |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for result in results:
        for target, share in result.shares.items():
            lines.append(
                f"| {result.train} → {result.test} | {result.preview:g} | {result.prices[target]:g} | "
                f"{result.costs[target]:.2f} | {share} | {share.closed} |"
            )
    return lines


def _ways() -> list[tuple[str, str]]:
    return [(SETS[1], SETS[0]), (SETS[0], SETS[1])]


def _find(results: Sequence[Result], way: tuple[str, str], preview: float) -> Result:
    return next(each for each in results if (each.train, each.test) == way and each.preview == preview)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limit", type=int, help="only the first questions of each set")
    print("\n".join(format_section(measure_all(parser.parse_args().limit))))


if __name__ == "__main__":
    main()
