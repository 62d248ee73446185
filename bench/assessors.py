"""Compare the three novelty assessors (words, embedding, model) on the same rounds.

    python -m bench.assessors record --data FOLDER… --model MODEL --questions N --out ROWS.jsonl
    python -m bench.assessors episodes --data FOLDER… --recorded FOLDER --questions N --out ROWS.jsonl
    python -m bench.assessors table ROWS.jsonl…

``record`` searches with ``--strategy saturate`` and its rolling memory, without a stop, and lets every assessor rate every
round before the memory takes it in. A folder holds ``corpus.jsonl`` and ``questions.jsonl``. Rows hold ids, scores, seconds
and tokens, no text, so they can be kept; started again, it continues.

``episodes`` lets the two assessors that need no model rate recorded runs of other agents (``SET.AGENT.sampled.jsonl.gz``).
There is no memory in a recording, so a round is compared with all rounds before it.

``table`` prints what an assessment costs, how far the assessors agree, and what each does to recall. A threshold is fitted
on one set and reported on the other: it is the highest one at which the rounds that it would reject, after the two rounds
that always run, brought a passage that the answer needs at most ``MAX_LOSS`` as often as all rounds did. So the same
threshold means the same on every scale.
"""

import argparse
import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import fmean, median
from typing import Any

from suffice import plugins
from suffice.api import prepare_run
from suffice.engine.loop import run_loop
from suffice.engine.pipeline import RunConfig
from suffice.events import RoundDone
from suffice.gates.base import Gate
from suffice.gates.limits import fixed
from suffice.gates.parse import parse_gate
from suffice.meters import KNOWN_TOKENS, MeterSet
from suffice.meters.base import LiveRun, Meter, MeterContext, ModelMeter, Moment
from suffice.meters.model import ModelNoveltyMeter
from suffice.meters.repetition import WordNoveltyMeter
from suffice.meters.semantic import EmbeddingNoveltyMeter
from suffice.options import RunOptions
from suffice.replay.compare import compare_gates
from suffice.replay.episodes import Episode, RecordedHit, RecordedRound, read_corpus, read_episodes
from suffice.state.run import RunState
from suffice.types import Bounds, Embed, Round

ASSESSORS = ("words", "embedding", "model")
ROUNDS = 10
FIRST_ROUNDS = 2  # Rounds that always run, as in the preset.
MAX_LOSS = 0.5
SOURCE_THRESHOLD = 3.0  # The source system has one number for all assessors.
Row = dict[str, Any]


class TimedAssessors(MeterSet):
    """Reads the three assessors and notes the seconds that each took."""

    def __init__(self, config: RunConfig, task: str) -> None:
        super().__init__(())
        context = MeterContext(task, frozenset(f"novelty.{name}" for name in ASSESSORS), config.embed)
        self._assessors: dict[str, Meter | ModelMeter] = {
            "words": WordNoveltyMeter(context),
            "embedding": EmbeddingNoveltyMeter(context),
            "model": ModelNoveltyMeter(context),
        }
        self.seconds: list[dict[str, float]] = []

    async def read_live(self, moment: Moment, round: Round, run: LiveRun) -> dict[str, float | None]:
        readings: dict[str, float | None] = {}
        if moment == "before":
            self.seconds.append({})
            for name, meter in self._assessors.items():
                started = time.perf_counter()
                if isinstance(meter, ModelMeter):
                    readings |= await meter.read_with_model(round, run)
                else:
                    meter.set_known(run.render_memory(KNOWN_TOKENS))  # type: ignore[attr-defined]
                    readings |= meter.read(round)
                self.seconds[-1][name] = time.perf_counter() - started
        return readings


async def record_question(config: RunConfig, name: str, question: Row) -> Row:
    """Return the rounds of one question, each with its scores."""
    task = question["question"]
    memory = plugins.load_plugin("memories", "rolling")
    bounds = Bounds(rounds=ROUNDS, queries=10 * ROUNDS)
    run = RunState(task, config.model, memory, run_id=question["id"], bounds=bounds, embed=config.embed)
    assessors = TimedAssessors(config, task)
    strategy = plugins.load_plugin("strategies", "saturate")()
    gold, found, rounds, tokens = set(question["gold"]), set[str](), [], 0

    async def record_round(event: RoundDone) -> None:
        nonlocal found, tokens
        new = [_get_id(passage.id) for passage in event.round.new]
        used = run.model.by_role.get("novelty")
        total = used.input_tokens + used.output_tokens if used is not None else 0
        scores = {assessor: event.readings.get(f"novelty.{assessor}") for assessor in ASSESSORS}
        rounds.append(
            {
                **scores,
                "new_gold": len(gold & set(new) - found),
                "passages": new,
                "seconds": assessors.seconds[-1],
                "tokens": total - tokens,
            }
        )
        found |= set(new)
        tokens = total

    await run_loop(run, config.search, strategy, fixed(ROUNDS), assessors, k=5, after_round=record_round)
    return {"set": name, "id": question["id"], "gold": sorted(gold), "model": run.model.name, "rounds": rounds}


def _get_id(passage_id: str) -> str:
    """Return the id of the record that a passage is from."""
    return passage_id.rpartition(":")[2].split("#")[-1] if "#" in passage_id else passage_id


async def record(folders: Sequence[Path], model: str, limit: int, out: Path, concurrency: int) -> None:
    done = {(row["set"], row["id"]) for row in read_rows([out])} if out.exists() else set()
    slots = asyncio.Semaphore(concurrency)
    for folder in folders:
        questions = [json.loads(line) for line in (folder / "questions.jsonl").read_text().splitlines() if line][:limit]
        options = RunOptions(docs=str(folder / "corpus.jsonl"), strategy="saturate", model=model, keep=False)
        config = await prepare_run(questions[0]["question"], options)

        async def run_one(question: Row, config: RunConfig = config, name: str = folder.name) -> None:
            async with slots:
                row = await record_question(config, name, question)
            with out.open("a") as file:
                file.write(json.dumps(row) + "\n")

        await asyncio.gather(
            *(run_one(question) for question in questions if (folder.name, question["id"]) not in done)
        )


def rate_episodes(folders: Sequence[Path], recorded: Path, limit: int, out: Path, *, words_only: bool) -> None:
    from suffice import settings
    from suffice.models.embeddings.choose import choose_embedder
    from suffice.search.corpus.vectors import EmbeddingCache

    config = settings.load()
    embed = None if words_only else EmbeddingCache(choose_embedder(config, print), config.cache_dir, print).embed
    with out.open("w") as file:
        for folder in folders:
            texts = read_corpus(folder / "corpus.jsonl")
            for path in sorted(recorded.glob(f"{folder.name}.*.sampled.jsonl.gz")):
                for episode in read_episodes(path, texts)[:limit]:
                    file.write(json.dumps(_rate_episode(episode, folder.name, embed)) + "\n")


def _rate_episode(episode: Episode, name: str, embed: Embed | None) -> Row:
    context = MeterContext(episode.question, frozenset({"novelty.embedding"}), embed)
    words, embedding, rounds, found = WordNoveltyMeter(context), EmbeddingNoveltyMeter(context), [], set[str]()
    for round in episode.rounds:
        started = time.perf_counter()
        scores = {"words": words.read(round)["novelty.words"]}
        between = time.perf_counter()
        scores["embedding"] = embedding.read(round)["novelty.embedding"]
        seconds = {"words": between - started, "embedding": time.perf_counter() - between, "model": 0.0}
        new = [hit.id for hit in round.new]
        gold = len(episode.gold & set(new) - found)
        rounds.append({**scores, "model": None, "new_gold": gold, "passages": new, "seconds": seconds, "tokens": 0})
        found |= set(new)
    gold_ids, agent = sorted(episode.gold), f"recorded {episode.agent}"
    return {"set": name, "id": episode.id, "gold": gold_ids, "model": agent, "rounds": rounds}


def read_rows(paths: Sequence[Path]) -> list[Row]:
    return [json.loads(line) for path in paths for line in path.read_text().splitlines() if line]


# -- tables ----------------------------------------------------------------------------------------------------------


def list_thresholds(assessor: str) -> list[float]:
    """Words and the model rate in whole points; a threshold is compared with "below"."""
    step = 0.25 if assessor == "embedding" else 1.0
    return [step * i for i in range(1, round(10 / step) + 1)]


def fit_threshold(rows: Sequence[Row], assessor: str) -> tuple[float, float, float, int]:
    """Return the threshold, how often the rounds below it brought gold, how often all did, and the rounds below it."""
    rounds = [round for row in rows for round in row["rounds"][FIRST_ROUNDS:] if round[assessor] is not None]
    base = fmean(round["new_gold"] > 0 for round in rounds)
    best = (0.0, 0.0, base, 0)
    for threshold in list_thresholds(assessor):
        below = [round for round in rounds if round[assessor] < threshold]
        rate = fmean(round["new_gold"] > 0 for round in below) if below else 0.0
        if below and rate <= MAX_LOSS * base:
            best = (threshold, rate, base, len(below))
    return best


def to_episode(row: Row) -> Episode:
    rounds, seen = [], set[str]()
    for number, round in enumerate(row["rounds"], 1):
        hits = tuple(RecordedHit(id) for id in round["passages"])
        new = tuple(hit for hit in hits if hit.id not in seen)
        seen |= {hit.id for hit in new}
        readings = {f"novelty.{name}": round[name] for name in ASSESSORS}
        rounds.append(RecordedRound(number, (f"query {number}",), hits, new, readings))
    return Episode(row["id"], "", frozenset(row["gold"]), (), "saturate", tuple(rounds))


def make_gate(assessor: str, threshold: float) -> Gate:
    return parse_gate(f"saturation(threshold={threshold:g}, by={assessor}).after({FIRST_ROUNDS})")


def correlate(one: Sequence[float], other: Sequence[float]) -> float:
    """Return Spearman's rank correlation."""
    ranks = [_rank(values) for values in (one, other)]
    means = [fmean(values) for values in ranks]
    shared = sum((a - means[0]) * (b - means[1]) for a, b in zip(*ranks, strict=True))
    spread = [
        math.sqrt(sum((value - mean) ** 2 for value in values)) for values, mean in zip(ranks, means, strict=True)
    ]
    return shared / (spread[0] * spread[1]) if all(spread) else math.nan


def _rank(values: Sequence[float]) -> list[float]:
    """Return ranks; equal values share the mean of theirs."""
    counts = Counter(values)
    ranks: dict[float, float] = {}
    below = 0
    for value in sorted(counts):
        ranks[value] = below + (counts[value] - 1) / 2
        below += counts[value]
    return [ranks[value] for value in values]


def print_tables(rows: Sequence[Row]) -> None:
    """Print all tables as Markdown."""
    model = ", ".join(dict.fromkeys(row["model"] for row in rows))
    assessors = [name for name in ASSESSORS if any(round[name] is not None for row in rows for round in row["rounds"])]
    rounds = [round for row in rows for round in row["rounds"][1:]]  # While nothing is known, every assessor says 10.
    print(f"{len(rows)} questions, {len(rounds)} rounds after the first, agent or model: {model}.\n")
    print(
        "| assessor | median score | median seconds | tokens a round | rounds without a score |\n|---|--:|--:|--:|--:|"
    )
    for name in assessors:
        known = [round[name] for round in rounds if round[name] is not None]
        tokens = fmean(round["tokens"] for round in rounds) if name == "model" else 0
        seconds = median(round["seconds"][name] for round in rounds)
        unknown = len(rounds) - len(known)
        print(f"| {name} | {median(known) if known else math.nan:.2f} | {seconds:.5f} | {tokens:.0f} | {unknown} |")
    sets = sorted({row["set"] for row in rows})
    by_set = {name: [row for row in rows if row["set"] == name] for name in sets}
    fitted = {
        (name, part): fit_threshold(own, name) for name in assessors for part, own in {**by_set, "both": rows}.items()
    }
    print(
        "\n| assessor | fitted on | threshold | rounds below it | of them with new gold | of all |\n|---|---|--:|--:|--:|--:|"
    )
    for (name, part), (threshold, rate, base, count) in fitted.items():
        print(f"| {name} | {part} | {threshold:g} | {count} | {rate:.3f} | {base:.3f} |")
    print("\n| assessors | rank correlation | same verdict at the fitted thresholds |\n|---|--:|--:|")
    for one, other in combinations(assessors, 2):
        pairs = [(r[one], r[other]) for r in rounds if r[one] is not None and r[other] is not None]
        limits = fitted[one, "both"][0], fitted[other, "both"][0]
        same = fmean((a < limits[0]) == (b < limits[1]) for a, b in pairs) if pairs else math.nan
        print(f"| {one}, {other} | {correlate(*zip(*pairs, strict=True)) if pairs else math.nan:.2f} | {same:.2f} |")
    print("\n| set | assessor | threshold | rounds | gold recall | all gold | lift over fixed rounds |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for part, own in by_set.items():
        other = next((name for name in sets if name != part), part)
        tried = [(name, value) for name in assessors for value in (fitted[name, other][0], SOURCE_THRESHOLD)]
        rows_of_set = compare_gates([to_episode(row) for row in own], [make_gate(*each) for each in tried])
        for (name, threshold), found in zip(tried, rows_of_set, strict=False):
            low, high = found.lift_ci or (math.nan, math.nan)
            origin = "the source's" if threshold == SOURCE_THRESHOLD else f"from {other}"
            print(
                f"| {part} | {name} | {threshold:g}, {origin} | {found.mean_rounds:.2f} | {found.recall:.3f} | "
                f"{found.all_gold:.3f} | {found.lift:+.3f} ({low:+.3f} … {high:+.3f}) |"
            )
        for found in rows_of_set[len(tried) :]:
            print(
                f"| {part} | – | {found.gate} | {found.mean_rounds:.2f} | {found.recall:.3f} | {found.all_gold:.3f} | |"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    recording = commands.add_parser("record", help="run the questions and rate every round")
    recording.add_argument("--data", type=Path, action="append", required=True, metavar="FOLDER")
    recording.add_argument("--model", default="extractive")
    recording.add_argument("--questions", type=int, default=60, metavar="N")
    recording.add_argument("--concurrency", type=int, default=1, metavar="N")
    recording.add_argument("--out", type=Path, required=True, metavar="FILE")
    rating = commands.add_parser("episodes", help="rate the rounds of recorded runs")
    rating.add_argument("--data", type=Path, action="append", required=True, metavar="FOLDER")
    rating.add_argument("--recorded", type=Path, required=True, metavar="FOLDER")
    rating.add_argument("--questions", type=int, default=60, metavar="N")
    rating.add_argument("--out", type=Path, required=True, metavar="FILE")
    rating.add_argument(
        "--words-only", action="store_true", help="leave out the embeddings, which take most of the time"
    )
    table = commands.add_parser("table", help="print the tables")
    table.add_argument("rows", type=Path, nargs="+", metavar="FILE")
    given = parser.parse_args()
    if given.command == "record":
        asyncio.run(record(given.data, given.model, given.questions, given.out, given.concurrency))
    elif given.command == "episodes":
        rate_episodes(given.data, given.recorded, given.questions, given.out, words_only=given.words_only)
    else:
        print_tables(read_rows(given.rows))


if __name__ == "__main__":
    main()
