"""Measure ``suffice guard`` over recorded and scripted agents: ``python -m bench.guard`` writes bench/guard.md.

The recorded runs (a real model, eight searches without a stop) and the corpora are in ``../shared/data``. The scripted agents
search the same corpora by words. Every search goes through the code of the hook, result by result, as a client would send it;
stopping where the guard first speaks is then compared with a fixed number of searches.
"""

import asyncio
import json
import os
import random
import resource
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.stopping import AGENTS, DATA, SETS
from suffice import settings
from suffice.gates.parse import parse_gate
from suffice.guard import GATE, Watch
from suffice.replay.compare import compare_gates, compute_recall_curve
from suffice.replay.episodes import Episode, RecordedHit, RecordedRound, Texts, read_corpus, read_episodes
from suffice.replay.judge import find_stop
from suffice.search.corpus.search import CorpusSearch
from suffice.types import Query

OUT = Path(__file__).with_suffix(".md")
OTHER_GATES = ("exhaustion(j=0, u=0, p=3)", "exhaustion(j=0, u=0, p=4)", "exhaustion(j=0, u=0.2, p=3)", "exhaustion")
SCRIPTED_QUESTIONS = 100
LOOKS = 12
REWORDINGS = (
    "what is known about {}",
    "{} explained",
    "find more information on {}",
    "details regarding {}",
    "{} overview and background",
)
SCRIPTS = {
    "repeats": "three queries of a recorded run, then the same three again and again",
    "rewords": "three queries, then the same ones with their words shuffled and filler around them",
    "finds late": "three queries, six rewordings, then the titles of the needed passages",
    "moves on": "three queries, then the title of another passage each time",
}
KINDS = {"greedy": "recorded, temperature 0", "sampled": "recorded, temperature 0.7"}


# -- agents ------------------------------------------------------------------------------------------------------------


def watch(episode: Episode) -> Episode:
    """Send every search of an episode through the guard; return the episode with its readings and tokens."""
    guard = Watch()
    rounds = []
    for round in episode.rounds:
        results = [{"title": hit.title, "text": hit.text} for hit in round.raw]
        look = guard.observe("mcp__corpus__search", {"query": "\n".join(round.queries)}, {"results": results})
        assert look is not None
        raw, new = (tuple(replace(hit, text=None) for hit in hits) for hits in (round.raw, round.new))
        rounds.append(replace(round, raw=raw, new=new, readings=look.readings, tokens=look.tokens))
    return replace(episode, rounds=tuple(rounds))


def watch_recorded(job: tuple[str, str, str]) -> list[Episode]:
    name, agent, kind = job
    texts = read_corpus(DATA / name / "corpus.jsonl")
    return list(map(watch, read_episodes(DATA / "episodes" / f"{name}.{agent}.{kind}.jsonl.gz", texts)))


async def script_agents(name: str) -> dict[str, list[Episode]]:
    """Let every scripted agent work on the first questions of a set."""
    texts = read_corpus(DATA / name / "corpus.jsonl")
    recorded = read_episodes(DATA / "episodes" / f"{name}.react.sampled.jsonl.gz")[:SCRIPTED_QUESTIONS]
    corpus = await CorpusSearch.open([DATA / name / "corpus.jsonl"], cache_dir=settings.load().cache_dir, alpha=1)
    found: dict[str, tuple[RecordedHit, ...]] = {}

    async def search(query: str) -> tuple[RecordedHit, ...]:
        if query not in found:
            hits = await corpus(Query(query), 5)
            found[query] = tuple(RecordedHit(hit.id, hit.title, hit.text) for hit in hits)
        return found[query]

    return {script: [await run_script(script, each, texts, search) for each in recorded] for script in SCRIPTS}


async def run_script(
    script: str, recorded: Episode, texts: Texts, search: Callable[[str], Awaitable[tuple[RecordedHit, ...]]]
) -> Episode:
    """Run one scripted agent on the question of a recorded run."""
    draw = random.Random(f"{script} {recorded.id}")
    own = list(dict.fromkeys(query for round in recorded.rounds for query in round.queries))
    own = [*own[:3], recorded.question][:3]
    rounds: list[RecordedRound] = []
    seen: set[str] = set()
    for number in range(LOOKS):
        query = own[number % len(own)]
        gold = sorted(recorded.gold)
        if script == "finds late" and number >= 9:
            query = texts[gold[(number - 9) % len(gold)]][0]
        elif script == "moves on" and number >= 3:
            query = texts[draw.choice(list(texts))][0]
        elif script in ("rewords", "finds late") and number >= 3:
            words = query.split()
            draw.shuffle(words)
            query = draw.choice(REWORDINGS).format(" ".join(words))
        hits = await search(query)
        new = tuple(hit for hit in hits if hit.id not in seen)
        seen.update(hit.id for hit in hits)
        rounds.append(RecordedRound(number + 1, (query,), hits, new, {}))
    return watch(replace(recorded, rounds=tuple(rounds)))


# -- the table ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Row:
    """What stopping at a gate saves and loses in a group of runs. Shares are of all tokens, points are of recall."""

    name: str
    spoke: float
    looks: float
    saved: float
    recall: float
    lost: float
    mistaken: float | None
    lift: str

    def __str__(self) -> str:
        mistaken = "–" if self.mistaken is None else f"{self.mistaken:.0%}"
        return (
            f"| {self.name} | {self.spoke:.0%} | {self.looks:.1f} | {self.saved:.0%} | {100 * self.recall:.1f} "
            f"| {100 * self.lost:.1f} | {mistaken} | {self.lift} |"
        )


def format_rows(rows: Sequence[Row]) -> str:
    head = "| | speaks in | searches | tokens saved | recall | lost | mistaken | over fixed k |"
    return "\n".join([head, "|---|" + "--:|" * 7, *map(str, rows)])


def compare(episodes: Sequence[Episode], names: Sequence[str]) -> list[Row]:
    """Compare gates by what a run would lose that stopped at their first word."""
    rows = []
    curves = [compute_recall_curve(episode) or [] for episode in episodes]
    readings = [[round.readings for round in episode.rounds] for episode in episodes]
    totals = [[round.tokens or 0 for round in episode.rounds] for episode in episodes]
    for found in compare_gates(episodes, [parse_gate(name) for name in names])[: len(names)]:
        stops = [find_stop(parse_gate(found.gate), each) for each in readings]
        losses = [curve[-1] - curve[stop.rounds - 1] for curve, stop in zip(curves, stops, strict=True)]
        fired = [loss for loss, stop in zip(losses, stops, strict=True) if stop.fired]
        saved = sum(sum(tokens[stop.rounds :]) for tokens, stop in zip(totals, stops, strict=True))
        low, high = found.lift_ci or (0.0, 0.0)
        rows.append(
            Row(
                f"`{found.gate}`",
                len(fired) / len(episodes),
                found.mean_rounds,
                saved / sum(map(sum, totals)),
                sum(curve[-1] for curve in curves) / len(curves),
                sum(losses) / len(losses),
                sum(loss > 0 for loss in fired) / len(fired) if fired else None,
                f"{100 * (found.lift or 0):+.1f} [{100 * low:+.1f}, {100 * high:+.1f}]",
            )
        )
    return rows


def time_hook() -> list[str]:
    """Return table rows: the processor time of one hook, start of the interpreter included."""
    lines = []
    for title, size in (("a result of 1 kB", 1_000), ("of 100 kB", 100_000), ("of 15 MB", 15_000_000)):
        text = "\n".join(f"line {i} says that item {i} is in box {i % 97}" for i in range(size // 45))
        event = {"session_id": "bench", "hook_event_name": "PostToolUse", "tool_name": "WebFetch"}
        data = json.dumps({**event, "tool_input": {"url": "http://example.org"}, "tool_response": text}).encode()
        best = float("inf")
        with TemporaryDirectory() as folder:
            for _ in range(4):
                began = resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run(
                    [sys.executable, "-m", "suffice", "guard", "hook"],
                    input=data,
                    check=True,
                    capture_output=True,
                    env={**os.environ, "SUFFICE_DATA_DIR": folder},
                )
                ended = resource.getrusage(resource.RUSAGE_CHILDREN)
                best = min(best, ended.ru_utime - began.ru_utime + ended.ru_stime - began.ru_stime)
        lines.append(f"| {title} | {best:.2f} s |")
    return lines


INTRO = f"""# suffice guard: what its advice is worth

`suffice guard` tells another agent when its searches bring hardly anything new. Here every run is stopped where the guard
first speaks; a real agent may also take the advice to look for something else. Made by `python -m bench.guard`.

- *tokens saved*: share of the tokens of all results, each counted once. An agent that keeps results in its context pays for
  them again with every later call.
- *recall*: needed passages found by the whole run, in points; *lost*: what of it came after the stop.
- *mistaken*: of the runs in which it speaks, those that found a needed passage later.
- *over fixed k*: points of recall against stopping all runs after the same number of searches, with the 95 % interval over
  questions.

**Where it gains:** agents that go in circles, by the same queries or by reworded ones, stop with what they would have had in
the end. **Where it does not:** it is no better than the right fixed number of searches, which nobody knows beforehand, and on
runs that vary their queries slightly worse. It knows what was shown, not what is still missing: an agent that circles for a
while and then finds the decisive page is told too early (*finds late*). That is why it advises and never blocks.

## The guard's gate, `{GATE}`
"""


def main() -> None:
    jobs = [(name, agent, kind) for name in SETS for kind in KINDS for agent in AGENTS]
    with ProcessPoolExecutor(2) as pool:
        recorded = dict(zip(jobs, pool.map(watch_recorded, jobs), strict=True))
    groups = {
        (what, name): [episode for agent in AGENTS for episode in recorded[name, agent, kind]]
        for kind, what in KINDS.items()
        for name in SETS
    }
    others = [
        f"## Other gates, {what}, {name}\n\n{format_rows(compare(groups[what, name], OTHER_GATES))}\n"
        for what, name in groups
    ]
    for name in SETS:
        for script, episodes in asyncio.run(script_agents(name)).items():
            groups[f"scripted, {script}: {SCRIPTS[script]}", name] = episodes
    own = []
    for (what, name), episodes in sorted(groups.items(), key=lambda item: list(SETS).index(item[0][1])):
        [row] = compare(episodes, [str(GATE)])
        own.append(replace(row, name=f"{what} ({name}, {len(episodes)} runs of {len(episodes[0].rounds)})"))
    times = "\n".join(("## Processor time of one hook\n", "| event | best of 4 |", "|---|--:|", *time_hook()))
    OUT.write_text("\n".join((INTRO, format_rows(own), "", *others, times)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
