"""Compare every stop gate with a fixed number of rounds, over recorded runs of a real model.

    python -m bench.stopping                                      writes the tables of bench/stopping.md
    python -m bench.stopping --embeddings                         also gates that need embeddings (slow the first time)
    python -m bench.stopping --fit src/suffice/gates/worth.json   refits the shipped weights and writes no page

The runs are in ``../shared/data``. Each set is joined with its own corpus, because their passage ids collide; so
``suffice lab fit``, which takes one corpus, cannot fit on both at once. Every run is measured once; all gates share the
readings.
"""

import argparse
import json
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy

from suffice.cli.replay import format_table
from suffice.gates.parse import parse_gate
from suffice.lab.experiment import EXHAUSTION_SWEEP
from suffice.lab.fit import calibrate_price, fit_worth
from suffice.measure.frontier import interpolate, oracle_envelope, upper_concave_hull
from suffice.replay.compare import GateComparison, compare_gates, compute_recall_curve
from suffice.replay.episodes import Episode, read_corpus, read_episodes
from suffice.replay.judge import find_stop, measure_readings

if TYPE_CHECKING:
    from numpy.typing import NDArray

DATA = Path(__file__).parents[2] / "shared" / "data"
OUT = Path(__file__).with_suffix(".md")
SETS = ("musique", "hotpotqa")
AGENTS = ("ircot", "subq", "react")
WORTH_GATES = (
    "worth",
    "worth(price=0.05)",
    "worth(price=0.15)",
    "worth(price=0.2)",
    "worth(price=0.15) | fixed(2)",
)
OTHER_GATES = (
    "exhaustion",
    "saturation.after(2)",
    "saturation.after(2).epsilon(0.15)",
    "sufficiency",
    "sufficiency(p=0.7)",
    "sufficiency(p=0.9)",
    "unseen",
    "unseen(mass=0.5)",
    "unseen(mass=0.35)",
    "unseen(mass=0.1)",
    "judged",
    "predicates",
)
EMBEDDING_GATES = ("saturation(by=embedding).after(2)", "gain")
MAIN = (1.5, 2.0, 2.5, 3.0)
CHEAP = (1.25, 1.5, 1.75)
PRICES = (0.05, 0.1, 0.15, 0.2)
TARGET, CHEAP_TARGET = 0.25, 0.35
DRAWS = 500


# -- the runs ----------------------------------------------------------------------------------------------------------


def load_file(job: tuple[str, str, str, bool]) -> list[Episode]:
    """Read one file of episodes with its corpus, measure the readings, and drop the texts."""
    name, agent, kind, embeddings = job
    texts = read_corpus(DATA / name / "corpus.jsonl")
    episodes = read_episodes(DATA / "episodes" / f"{name}.{agent}.{kind}.jsonl.gz", texts)
    needs = frozenset[str]().union(
        *(parse_gate(gate).needs for gate in (*WORTH_GATES, *OTHER_GATES, *EXHAUSTION_SWEEP, *EMBEDDING_GATES))
    )
    embed = _embed() if embeddings else None
    # Every run makes its own random draws (epsilon); a file of episodes holds no seeds.
    return [replace(record_readings(episode, needs, embed), seed=number) for number, episode in enumerate(episodes)]


def record_readings(episode: Episode, needs: frozenset[str], embed: Any = None) -> Episode:
    """Store the measured readings in the episode. A replay uses recorded readings, so the texts are dropped."""
    rounds = []
    for round, readings in zip(episode.rounds, measure_readings(episode, needs, embed), strict=True):
        raw, new = (tuple(replace(hit, text=None) for hit in hits) for hits in (round.raw, round.new))
        rounds.append(replace(round, readings=readings, raw=raw, new=new))
    return replace(episode, rounds=tuple(rounds))


def load_all(kinds: Sequence[str], embeddings: bool) -> dict[tuple[str, str], list[Episode]]:
    """Return the runs of all agents by set and kind. Two processes read them; embedding uses both cores by itself."""
    jobs = [(name, agent, kind, embeddings) for name in SETS for kind in kinds for agent in AGENTS]
    if embeddings:
        loaded = list(map(load_file, jobs))
    else:
        with ProcessPoolExecutor(2) as pool:
            loaded = list(pool.map(load_file, jobs))
    runs: dict[tuple[str, str], list[Episode]] = {}
    for (name, _, kind, _), episodes in zip(jobs, loaded, strict=True):
        runs.setdefault((name, kind), []).extend(episodes)
    return runs


def _embed() -> Any:
    from suffice import settings
    from suffice.models.embeddings.minilm import MiniLM
    from suffice.search.corpus.vectors import EmbeddingCache

    return EmbeddingCache(MiniLM(), settings.load().cache_dir, lambda message: None).embed


# -- lift and gap closed at several costs at once, bootstrapped over questions ---------------------------------------------


@dataclass(frozen=True)
class Share:
    """Lift in recall and share of the gap closed, each with its bootstrap draws."""

    lift: float
    gap: float
    lifts: "NDArray[Any]"
    gaps: "NDArray[Any]"

    def __str__(self) -> str:
        low, high = 100 * numpy.quantile(self.lifts, (0.025, 0.975))
        return f"{100 * self.lift:+.1f} [{low:+.1f}, {high:+.1f}]"

    @property
    def closed(self) -> str:
        low, high = 100 * numpy.quantile(self.gaps, (0.025, 0.975))
        return f"{100 * self.gap:.0f} % [{low:.0f}, {high:.0f}]"

    @property
    def is_certain(self) -> bool:
        return bool(numpy.quantile(self.lifts, 0.025) > 0)


def average_shares(shares: Sequence[Share]) -> Share:
    """Average shares over costs, whose draws are shared, or over sets, whose draws are independent."""
    lifts, gaps = (numpy.mean([getattr(share, name) for share in shares], axis=0) for name in ("lifts", "gaps"))
    count = len(shares)
    return Share(sum(share.lift for share in shares) / count, sum(share.gap for share in shares) / count, lifts, gaps)


class Reference:
    """The envelope of fixed k and the frontier of the oracle, for all runs and for every bootstrap draw of questions."""

    def __init__(self, episodes: Sequence[Episode], cap: int | None = None, seed: int = 0) -> None:
        curves = [compute_recall_curve(episode) for episode in episodes]
        self.curves = numpy.array([curve for curve in curves if curve is not None])
        assert len(self.curves) == len(episodes), "every run of the sets has gold"
        questions = {name: number for number, name in enumerate(dict.fromkeys(episode.id for episode in episodes))}
        self._question = numpy.array([questions[episode.id] for episode in episodes])
        picks = numpy.random.default_rng(seed).multinomial(
            len(questions), [1 / len(questions)] * len(questions), size=DRAWS
        )
        self._weights = picks[:, self._question].astype(float)
        self._weights /= self._weights.sum(axis=1, keepdims=True)
        best = self.curves if cap is None else self.curves[:, :cap]
        self._oracle = oracle_envelope(best.tolist())
        rising = numpy.maximum.accumulate(self.curves, axis=1)
        self._fixed, *self._drawn_fixed = (
            upper_concave_hull([(float(k), y) for k, y in enumerate(row, 1)])
            for row in numpy.vstack([rising.mean(axis=0), self._weights @ rising]).tolist()
        )
        self._steps = self._rank_steps(best.tolist())

    def _rank_steps(self, curves: Sequence[Sequence[float]]) -> "tuple[NDArray[Any], NDArray[Any], NDArray[Any]]":
        """Return the steps of gain of every run (run, cost, gain), best rate first. A draw changes only their weights."""
        steps = []
        for run, curve in enumerate(curves):
            points = oracle_envelope([curve])
            steps += [(run, b[0] - a[0], b[1] - a[1]) for a, b in pairwise(points)]
        steps.sort(key=lambda step: -step[2] / step[1])
        runs, costs, gains = zip(*steps, strict=True)
        return numpy.array(runs), numpy.array(costs), numpy.array(gains)

    def share(self, stops: Sequence[int]) -> Share:
        """Return lift and gap closed of runs that stop at these rounds."""
        recalls = self.curves[numpy.arange(len(stops)), numpy.array(stops) - 1]
        return self.share_costs(numpy.array(stops, float), recalls)

    def share_costs(self, rounds: "NDArray[Any]", recalls: "NDArray[Any]") -> Share:
        """Return lift and gap closed of runs with these costs in rounds and these recalls."""
        base = interpolate(self._fixed, float(rounds.mean()))
        lift = float(recalls.mean()) - base
        gap = interpolate(self._oracle, float(rounds.mean())) - base
        costs, found = self._weights @ rounds, self._weights @ recalls
        runs, cost, gain = self._steps
        lifts, gaps = numpy.empty(DRAWS), numpy.empty(DRAWS)
        for draw in range(DRAWS):
            below = interpolate(self._drawn_fixed[draw], float(costs[draw]))
            weight = self._weights[draw]
            x = numpy.concatenate([[1.0], 1 + numpy.cumsum(weight[runs] * cost)])
            y = float(weight @ self.curves[:, 0]) + numpy.concatenate([[0.0], numpy.cumsum(weight[runs] * gain)])
            lifts[draw] = found[draw] - below
            gaps[draw] = lifts[draw] / (numpy.interp(costs[draw], x, y) - below)
        return Share(lift, lift / gap, lifts, gaps)


# -- transfer: weights from one set, price from the other set's runs without its labels ------------------------------------


@dataclass(frozen=True)
class Transfer:
    """Results on ``test`` of weights fitted on ``train``: by cost, with at most two rounds, and with the price carried over."""

    train: str
    test: str
    main: dict[float, Share]
    cheap: dict[float, Share]
    capped: dict[float, Share]
    carried: list[GateComparison]


def measure_transfer(train: str, test: str, runs: dict[tuple[str, str], list[Episode]]) -> Transfer:
    episodes = runs[test, "sampled"]
    readings = [measure_readings(episode, frozenset()) for episode in episodes]
    short = [replace(episode, rounds=episode.rounds[:2]) for episode in episodes]
    full, two_rounds = Reference(episodes), Reference(episodes, cap=2)
    with TemporaryDirectory() as folder:
        file = str(Path(folder) / "weights.json")
        Path(file).write_text(json.dumps(fit_worth(runs[train, "sampled"])), encoding="utf-8")

        def stops(price: float, cap: str) -> list[int]:
            gate = parse_gate(f"worth(price={price!r}, file='{file}'){cap}")
            return [find_stop(gate, by_round, 0).rounds for by_round in readings]

        main = {cost: full.share(stops(calibrate_price(episodes, cost, file), "")) for cost in MAIN}
        cheap_stops = {cost: stops(calibrate_price(short, cost, file), " | fixed(2)") for cost in CHEAP}
        names = [*(f"worth(price={price})" for price in PRICES), "worth(price=0.15) | fixed(2)"]
        rows = compare_gates(
            episodes, [parse_gate(name.replace(")", f", file='{file}')", 1)) for name in names], draws=DRAWS
        )
    carried = [replace(row, gate=name) for name, row in zip(names, rows, strict=False)]
    cheap, capped = ({cost: reference.share(cheap_stops[cost]) for cost in CHEAP} for reference in (full, two_rounds))
    return Transfer(train, test, main, cheap, capped, carried)


def measure_both_ways(runs: dict[tuple[str, str], list[Episode]]) -> list[Transfer]:
    return [measure_transfer(SETS[1], SETS[0], runs), measure_transfer(SETS[0], SETS[1], runs)]


# -- the page ----------------------------------------------------------------------------------------------------------


def format_transfer(found: Sequence[Transfer]) -> list[str]:
    lines = [
        "## Transfer: what the default gate is worth on data it was not fitted on",
        "",
        "Weights fitted on one set; the price set on the other set's runs so that they cost the target on average, without "
        f"their labels. Lift in points of recall, gap = share of the way from fixed k to the oracle; {DRAWS} bootstrap draws "
        "over questions, weights and stops held fixed.",
        "",
        "| weights from → runs of | rounds | lift | gap closed |",
        "|---|--:|--:|--:|",
    ]
    for each in found:
        way = f"{each.train} → {each.test}"
        lines += [f"| {way} | {cost:g} | {share} | {share.closed} |" for cost, share in each.main.items()]
        average = average_shares(list(each.main.values()))
        lines.append(f"| **{way}** | **average** | **{average}** | **{average.closed}** |")
    overall = _average_main(found)
    lines.append(f"| **mean of the sets** | **average** | **{overall}** | **{overall.closed}** |")
    lines += [
        "",
        "Cheap mode: never more than two rounds. The gap is measured to the full oracle; the last column to an oracle that is "
        "itself held to two rounds.",
        "",
        "| weights from → runs of | rounds | lift | gap closed | of the two-round oracle |",
        "|---|--:|--:|--:|--:|",
    ]
    for each in found:
        way = f"{each.train} → {each.test}"
        lines += [
            f"| {way} | {cost:g} | {share} | {share.closed} | {each.capped[cost].closed} |"
            for cost, share in each.cheap.items()
        ]
        average, own = (average_shares(list(shares.values())) for shares in (each.cheap, each.capped))
        lines.append(f"| **{way}** | **average** | **{average}** | **{average.closed}** | **{own.closed}** |")
    overall, own = _average_cheap(found), average_shares([average_shares(list(each.capped.values())) for each in found])
    lines.append(f"| **mean of the sets** | **average** | **{overall}** | **{overall.closed}** | **{own.closed}** |")
    for each in found:
        lines += ["", f"Weights *and* price carried over, {each.train} → {each.test}:", "", format_table(each.carried)]
    return lines


def _average_main(found: Sequence[Transfer]) -> Share:
    return average_shares([average_shares(list(each.main.values())) for each in found])


def _average_cheap(found: Sequence[Transfer]) -> Share:
    return average_shares([average_shares(list(each.cheap.values())) for each in found])


def format_targets(found: Sequence[Transfer]) -> list[str]:
    """Return a table of the targets and whether the shares reach them."""
    lines = ["| target | result | reached? |", "|---|---|---|"]
    for title, target, pick in (
        (f"{100 * TARGET:.0f} % of the gap on average, costs {_format_costs(MAIN)}", TARGET, lambda each: each.main),
        (
            f"{100 * CHEAP_TARGET:.0f} % of the gap in cheap mode, costs {_format_costs(CHEAP)}",
            CHEAP_TARGET,
            lambda each: each.cheap,
        ),
    ):
        by_set = [average_shares(list(pick(each).values())) for each in found]
        for name, share in [
            *zip((each.test for each in found), by_set, strict=True),
            ("mean of the sets", average_shares(by_set)),
        ]:
            lines.append(f"| {title}: {name} | {share.closed} | {'yes' if share.gap >= target else '**no**'} |")
    for each in found:
        share = average_shares(list(each.main.values()))
        words = "yes" if share.is_certain else "**no**"
        lines.append(f"| lift above 0 with its whole interval: {each.test} | {share} points | {words} |")
    return lines


def format_failures(rows: dict[str, list[GateComparison]]) -> list[str]:
    """Return the negative results, from the same rows as the tables."""
    lines = [
        "## What did not work",
        "",
        "| gate | " + " | ".join(rows) + " | verdict |",
        "|---|" + "---|" * (len(rows) + 1),
    ]
    for number, first in enumerate(next(iter(rows.values()))):
        if first.gate.startswith(("worth", "fixed", "oracle")):
            continue
        own = [of_set[number] for of_set in rows.values()]
        if all((row.lift_ci or (0, 0))[0] > 0 for row in own):
            continue
        cells = [f"{row.mean_rounds:.2f} rounds, {_format_lift(row)}" for row in own]
        lines.append(f"| {_format_code(first.gate)} | " + " | ".join(cells) + f" | {_describe_verdict(own)} |")
    return lines


def format_own_failures(rows: dict[tuple[str, str], list[GateComparison]], found: Sequence[Transfer]) -> list[str]:
    """Return the cases in which the default gate is not better than fixed k: its interval reaches 0."""
    transfers = [
        f"{cost:g} rounds, {each.train} → {each.test}: {share}"
        for each in found
        for cost, share in each.main.items()
        if not share.is_certain
    ]
    gates = [
        f"{_format_code(row.gate)} on {name}, {kind}: {_format_lift(row)}"
        for (name, kind), of_set in rows.items()
        for row in of_set
        if row.gate.startswith("worth") and (row.lift_ci or (0, 0))[0] <= 0
    ]
    title = "Where the default gate is itself no better than fixed k (its interval reaches 0):"
    return ["", title, "", *(f"- {line}" for line in (*transfers, *gates))] if transfers or gates else []


def _describe_verdict(rows: Sequence[GateComparison]) -> str:
    if all(row.fire_rate == 0 for row in rows):
        silent = all(row.abstained == len(row.stops) for row in rows)
        return "abstains: its reading was not recorded" if silent else "never fires"
    if all(row.mean_rounds < 1.02 for row in rows):
        return "fires at once: a fixed(1)"
    worse = sum((row.lift_ci or (0, 0))[1] < 0 for row in rows)
    return {0: "no better than fixed k", len(rows): "worse than fixed k"}.get(
        worse, "worse on one set, no better on the other"
    )


def format_by_agent(episodes: Sequence[Episode], gates: Sequence[str]) -> list[str]:
    columns = []
    for agent in AGENTS:
        own = [episode for episode in episodes if episode.agent == agent]
        assert own, f"no runs of {agent}"
        columns.append(compare_gates(own, [parse_gate(gate) for gate in gates], draws=DRAWS))
    lines = ["| gate | " + " | ".join(f"{agent}: rounds, lift, gap" for agent in AGENTS) + " |"]
    lines.append("|---|" + "---|" * len(AGENTS))
    for row in zip(*columns, strict=False):
        if row[0].gate not in gates:  # Fixed numbers of rounds and the oracle are compared with, not judged.
            continue
        cells = [f"{each.mean_rounds:.2f}, {_format_lift(each)}, {_format_gap(each)}" for each in row]
        lines.append(f"| {_format_code(row[0].gate)} | " + " | ".join(cells) + " |")
    return lines


def format_sweep(runs: dict[tuple[str, str], list[Episode]]) -> list[str]:
    columns = {
        key: compare_gates(episodes, [parse_gate(gate) for gate in EXHAUSTION_SWEEP], draws=DRAWS)
        for key, episodes in runs.items()
    }
    lines = ["| configuration | " + " | ".join(f"{name}, {kind}" for name, kind in columns) + " |"]
    lines.append("|---|" + "---|" * len(columns))
    for number, gate in enumerate(EXHAUSTION_SWEEP):
        cells = [f"{rows[number].mean_rounds:.2f} rounds, {_format_lift(rows[number])}" for rows in columns.values()]
        lines.append(f"| {_format_code(gate)} | " + " | ".join(cells) + " |")
    return lines


def _format_lift(row: GateComparison) -> str:
    if row.lift is None or row.lift_ci is None:
        return "–"
    return f"{100 * row.lift:+.1f} [{100 * row.lift_ci[0]:+.1f}, {100 * row.lift_ci[1]:+.1f}]"


def _format_gap(row: GateComparison) -> str:
    return "–" if row.gap_closed is None else f"{row.gap_closed:.0%}"


def _format_code(gate: str) -> str:
    return f"`{gate}`".replace("|", "\\|")


def _format_costs(costs: Sequence[float]) -> str:
    return " ".join(f"{cost:g}" for cost in costs)


def format_page(
    runs: dict[tuple[str, str], list[Episode]], found: Sequence[Transfer], names: Sequence[str]
) -> list[str]:
    from bench import reading

    gates = [parse_gate(name) for name in names]
    rows = {key: compare_gates(episodes, gates, draws=DRAWS) for key, episodes in runs.items()}
    sampled = {name: rows[name, "sampled"] for name in SETS}
    lines = [
        *reading.format_stable_section(reading.read_rows(reading.STABLE_ROWS)),
        "",
        "## Stopping only: were the targets reached?",
        "",
        *format_targets(found),
        "",
        *format_transfer(found),
        "",
        *format_failures(sampled),
    ]
    lines += format_own_failures(rows, found)
    for name in SETS:
        lines += [
            "",
            f"## {name}: sampled runs, {len(runs[name, 'sampled'])} of three agents",
            "",
            format_table(sampled[name]),
        ]
        lines += ["", f"### {name} by agent", "", *format_by_agent(runs[name, "sampled"], WORTH_GATES)]
    for name in SETS:
        lines += [
            "",
            f"## {name}: greedy runs, {len(runs[name, 'greedy'])} of three agents",
            "",
            format_table(rows[name, "greedy"]),
        ]
    return [*lines, "", "## The sixteen configurations of exhaustion", "", *format_sweep(runs)]


FIRST_SECTION = "## With a model: stop on a stable answer"  # What is above it in the page is written by hand and stays.


def build_provenance(runs: dict[tuple[str, str], list[Episode]], found: Sequence[Transfer]) -> dict[str, Any]:
    """Return the origin of the shipped weights: data, licences, agents and transfer results."""

    def figures(share: Share) -> dict[str, Any]:
        low, high = numpy.quantile(share.lifts, (0.025, 0.975))
        return {
            "lift": round(share.lift, 4),
            "lift_ci": [round(float(low), 4), round(float(high), 4)],
            "gap_closed": round(share.gap, 3),
        }

    episodes = [episode for name in SETS for episode in runs[name, "sampled"]]
    return {
        "made_by": "python -m bench.stopping --fit",
        "sets": list(SETS),
        "licences": "questions and passages: MuSiQue CC BY 4.0, HotpotQA CC BY-SA 4.0; the file holds weights only, no text",
        "agents": list(AGENTS),
        "model": "Qwen2.5-Coder-1.5B, sampled at temperature 0.7",
        "episodes": len(episodes),
        "rows": sum(len(episode.rounds) - 1 for episode in episodes),
        "transfer": {
            f"{each.train} to {each.test}": {
                f"mean of {_format_costs(MAIN)} rounds": figures(average_shares(list(each.main.values()))),
                f"at most 2 rounds, mean of {_format_costs(CHEAP)}": figures(average_shares(list(each.cheap.values()))),
            }
            for each in found
        },
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--embeddings", action="store_true", help="also gates that need embeddings")
    parser.add_argument(
        "--fit", type=Path, metavar="FILE", help="write weights fitted on all sampled runs, and no page"
    )
    given = parser.parse_args()
    began = time.perf_counter()
    runs = load_all(("sampled",) if given.fit else ("sampled", "greedy"), given.embeddings)
    print(f"measured {sum(map(len, runs.values())):,} runs in {time.perf_counter() - began:.0f} s", flush=True)
    found = measure_both_ways(runs)
    if given.fit:
        weights = fit_worth([episode for name in SETS for episode in runs[name, "sampled"]])
        given.fit.write_text(
            json.dumps({**weights, "provenance": build_provenance(runs, found)}, indent=1) + "\n", encoding="utf-8"
        )
    else:
        lines = format_page(runs, found, (*WORTH_GATES, *OTHER_GATES, *(EMBEDDING_GATES if given.embeddings else ())))
        head = OUT.read_text(encoding="utf-8").partition(FIRST_SECTION)[0]
        OUT.write_text(head + "\n".join([*lines, ""]), encoding="utf-8")
    print("\n".join(format_targets(found)))
    print(f"wrote {given.fit or OUT} after {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
