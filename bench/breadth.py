"""Measure what broad questions rest on: how their breadth is read, and how good the estimate of completeness is.

python -m bench.breadth --classify FILE                        questions with their kind; prints only the table of confusion
python -m bench.breadth --screening FOLDER                     records with expert labels: reading teaches the ranking
python -m bench.breadth --topics FILE --corpora FOLDER         all sections of documentation on a topic: nothing is judged
python -m bench.breadth --absence FILE --corpora FOLDER        what the reader misses, and what refusals say; figures only
python -m bench.breadth --drbench FOLDER [--work FOLDER] [--tasks A,B]   files with an insight, as bench.peers knows them

Estimates are compared with the truth after every round. *Bias* is estimate minus truth; an interval *holds* if the truth lies
in it. The results are in breadth.md.
"""

import argparse
import asyncio
import gzip
import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import log
from pathlib import Path
from random import Random
from statistics import fmean
from typing import Any

import numpy as np

from suffice.gates.base import Gate
from suffice.gates.coverage import coverage
from suffice.gates.limits import fixed
from suffice.measure import relevance
from suffice.models.breadth import read_breadth
from suffice.models.embeddings.minilm import get_minilm
from suffice.models.embeddings.static import embed_static
from suffice.search.base import RankedScope
from suffice.search.corpus.search import CorpusSearch, score_all
from suffice.state.survey import Survey
from suffice.text.entities import stem_words
from suffice.types import BREADTHS, Passage, Place, Query

BATCH = 50
TARGET = 0.9
_PRESUMED = 300
_SMOOTHING = 0.02
_LEARNED_WEIGHT, _HALF_LEARNED = 3.0, 25
_NEWTON_STEPS = 20
_RIDGE = 1e-3
_CALIBRATION_BATCHES = 6  # The probabilities follow what the latest batches held.


@dataclass(frozen=True, slots=True)
class Round:
    """How much was read after a round, the true share of what is relevant in it, and the estimate."""

    read: int
    total: int
    truth: float
    estimate: relevance.Share
    relevant: int


def classify(path: Path) -> str:
    """Return the table of confusion for a file of questions with their kind."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    counts = Counter((row["kind"], read_breadth(row["question"])) for row in rows)
    lines = ["| is \\ read as | " + " | ".join(BREADTHS) + " |", "|---|" + "--:|" * len(BREADTHS)]
    lines += [f"| {kind} | " + " | ".join(str(counts[kind, one]) for one in BREADTHS) + " |" for kind in BREADTHS]
    right = sum(counts[kind, kind] for kind in BREADTHS)
    return "\n".join([*lines, "", f"{right} of {len(rows)} right"])


# -- reading -----------------------------------------------------------------------------------------------------------


def learn_scores(
    scores: "np.ndarray", words: Sequence[Collection[str]], judged: Mapping[int, bool], seed: int = 0
) -> "np.ndarray":
    """Return standardized scores moved by what was judged: log-odds of each word in relevant and other texts (naive Bayes).

    Texts drawn at random from those not judged count as not relevant (Cormack and Grossman 2015). The more relevant ones were
    judged, the more their words weigh against the similarity to the question.
    """
    relevant = [row for row, is_relevant in judged.items() if is_relevant]
    unjudged = [row for row in range(len(words)) if row not in judged]
    if not relevant:
        return scores
    drawn = Random(seed).sample(unjudged, min(_PRESUMED, len(unjudged)))
    others = [*(row for row, is_relevant in judged.items() if not is_relevant), *drawn]
    counts = Counter(word for own in words for word in set(own))
    total = len(words)
    weights = {word: log(total / count) for word, count in counts.items() if 3 <= count <= total / 2}
    lengths = [sum(weights.get(word, 0.0) ** 2 for word in set(own)) ** 0.5 or 1.0 for own in words]

    def add_up(rows: Sequence[int]) -> dict[str, float]:
        sums: dict[str, float] = defaultdict(lambda: _SMOOTHING)
        for row in rows:
            for word in set(words[row]) & weights.keys():
                sums[word] += weights[word] / lengths[row]
        return sums

    with_it, without = add_up(relevant), add_up(others)
    totals = [sum(sums.values()) + _SMOOTHING * (len(weights) - len(sums)) for sums in (with_it, without)]
    odds = {word: log(with_it[word] / totals[0]) - log(without[word] / totals[1]) for word in weights}
    learned = np.array(
        [
            sum(odds[word] * weights[word] for word in set(own) if word in weights) / length
            for own, length in zip(words, lengths, strict=True)
        ]
    )
    weight = _LEARNED_WEIGHT * len(relevant) / (len(relevant) + _HALF_LEARNED)
    moved: np.ndarray = scores + weight * relevance.standardize(learned)
    return moved


def calibrate(scores: Sequence[float], labels: Sequence[bool]) -> tuple[float, float]:
    """Return bias and slope of the probability of relevance, from the scores before reading and what was found (Platt)."""
    x, y = np.array(scores, float), np.array(labels, float)
    prior, strength = np.array([-2.5, 1.0]), np.array([0.2, 1.0])
    rows = np.stack([np.ones_like(x), x], axis=1)
    weights = prior.copy()
    for _ in range(_NEWTON_STEPS):
        p = relevance.to_probabilities(x, *weights)
        gradient = rows.T @ (y - p) - strength * (weights - prior)
        hessian = (rows * (p * (1 - p))[:, None]).T @ rows + np.diag(strength)
        weights = weights + np.linalg.solve(hessian, gradient)
    return float(weights[0]), max(0.05, float(weights[1]))


class JudgedSurvey(Survey):
    """A survey that is told which passages that were read are relevant: their words move the ranking and the estimate."""

    def __init__(self, scope: RankedScope, batch_size: int) -> None:
        super().__init__(scope, batch_size)
        self._prior = self.scores
        self._rows = {passage.id: row for row, passage in enumerate(scope.passages)}
        self._judged: dict[int, bool] = {}
        self._words = [_list_terms(passage) for passage in self.passages]

    def judge(self, relevant: Mapping[str, bool]) -> None:
        """Take over which passages are relevant, by id."""
        self._judged |= {self._rows[id]: is_relevant for id, is_relevant in relevant.items()}
        self.scores = learn_scores(self._prior, self._words, self._judged)
        recent = [row for row in self._read if row in self._judged][-_CALIBRATION_BATCHES * self.batch_size :]
        self.calibration = calibrate([self._read[row] for row in recent], [self._judged[row] for row in recent])

    def estimate(self) -> relevance.Share:
        """Return the share of what is relevant that was read: of what was judged, and of the rest by its probability."""
        if not self._judged:
            return super().estimate()
        probabilities = relevance.to_probabilities(self.scores, *self.calibration)
        left = float(sum(probabilities[row] for row in range(self.size) if row not in self._read))
        return relevance.estimate_share(sum(self._judged.values()), left)


def _list_terms(passage: Passage) -> frozenset[str]:
    """Return the words and pairs of words of a passage."""
    stems = stem_words(f"{passage.title} {passage.text}")
    return frozenset((*stems, *(f"{one} {other}" for one, other in pairwise(stems))))


def read_on(survey: Survey, relevant: Callable[[Passage], bool | None]) -> Iterator[Round]:
    """Read until nothing is left; a ``JudgedSurvey`` judges each passage when it was read. ``None``: counts as neither."""
    labels = {passage.id: relevant(passage) for passage in survey.passages}
    total = sum(label is True for label in labels.values())
    read: set[str] = set()
    while survey.left:
        batch = asyncio.run(survey(Query(""), survey.batch_size))
        read.update(passage.id for passage in batch)
        if isinstance(survey, JudgedSurvey):
            survey.judge({passage.id: bool(labels[passage.id]) for passage in batch})
        truth = sum(labels[id] is True for id in read) / total
        yield Round(len(read), len(labels), truth, survey.estimate(), total)


def summarize(runs: Sequence[Sequence[Round]]) -> str:
    """Return bias, error, how often the interval holds, and what a stop at the target reached and cost."""
    rounds = [one for run in runs for one in run if one.truth >= 0.3 and one.read < one.total]
    errors = [one.estimate.share - one.truth for one in rounds]
    holds = [one.estimate.low - 1e-9 <= one.truth <= one.estimate.high + 1e-9 for one in rounds]
    stops = [next((one for one in run if one.estimate.share >= TARGET), run[-1]) for run in runs]
    return (
        f"{fmean(errors):+.3f} | {fmean(map(abs, errors)):.3f} | {fmean(holds):.2f} | "
        f"{fmean(stop.truth for stop in stops):.2f} | {fmean(stop.read / stop.total for stop in stops):.2f}"
    )


def compare_stops(runs: Sequence[Sequence[Round]]) -> str:
    """Return what ``coverage`` reaches and reads beside a fixed number of rounds of the same cost, and an oracle.

    The gate itself judges the readings of each round, as in a replay.
    """

    def stop(run: Sequence[Round], gate: Gate) -> Round:
        readings = [{"relevance.seen": one.estimate.share, "spend.rounds": n} for n, one in enumerate(run, 1)]
        verdicts = (gate.judge(readings[: n + 1]) for n in range(len(run)))
        return next((one for one, verdict in zip(run, verdicts, strict=True) if verdict.stop), run[-1])

    lines = ["| stop | recall | runs with a recall of .9 | passages read | of all |", "|---|--:|--:|--:|--:|"]

    def add(name: str, ends: Sequence[Round]) -> float:
        cost = fmean(end.read for end in ends)
        reached = sum(end.truth >= TARGET for end in ends)
        share = fmean(end.read / end.total for end in ends)
        lines.append(
            f"| {name} | {fmean(end.truth for end in ends):.2f} | {reached} of {len(ends)} | {cost:.0f} | {share:.2f} |"
        )
        return cost

    fixed_ends = {k: [stop(run, fixed(k)) for run in runs] for k in range(1, max(map(len, runs)) + 1)}
    for target in (0.8, TARGET, 0.98):
        cost = add(f"`coverage({target:g})`", [stop(run, coverage(target)) for run in runs])
        k = min(fixed_ends, key=lambda k: abs(fmean(end.read for end in fixed_ends[k]) - cost))
        add(f"`fixed({k})`, about the same cost", fixed_ends[k])
    add("oracle: recall of .9", [next(one for one in run if one.truth >= TARGET) for run in runs])
    return "\n".join(lines)


def count_missing(runs: Sequence[Sequence[Round]]) -> str:
    """Return how many more a list would call likely where ``coverage`` stops, and how many there are."""
    ends = [next((one for one in run if one.estimate.share >= TARGET), run[-1]) for run in runs]
    likely, most = (
        [one.truth * one.relevant * (1 / share - 1) for one, share in pairs]
        for pairs in ([(one, one.estimate.share) for one in ends], [(one, one.estimate.low) for one in ends])
    )
    true = [one.relevant * (1 - one.truth) for one in ends]
    holds = sum(real <= round(bound) for real, bound in zip(true, most, strict=True))
    found = fmean(one.truth * one.relevant for one in ends)
    more = f"{fmean(likely):.1f} more likely, {fmean(true):.1f} true"
    return f"{found:.1f} found, {more}; the upper figure holds {holds} of {len(ends)}"


HEAD = (
    "| set | bias | mean error | interval holds | truth at an estimated .9 | read of all |\n|---|--:|--:|--:|--:|--:|"
)


# -- the sets ----------------------------------------------------------------------------------------------------------


def run_screening(folder: Path) -> str:
    """Return the tables for the systematic reviews. What is fitted is fitted on the other two of them."""
    scopes: dict[str, tuple[RankedScope, set[str]]] = {}
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        scopes[path.name.removesuffix(".jsonl.gz")] = _rank_records(lines[0]["question"], lines[1:])
    plain, learned = {}, {}
    for name, (scope, gold) in scopes.items():
        plain[name] = list(read_on(Survey(scope, BATCH), lambda one, gold=gold: one.id in gold))  # type: ignore[misc]
        learned[name] = list(read_on(JudgedSurvey(scope, BATCH), lambda one, gold=gold: one.id in gold))  # type: ignore[misc]
    lines = [HEAD.replace("| set |", "| set, each record judged when it is read |")]
    for name in scopes:
        others = [run for other, run in learned.items() if other != name]
        held, relevance.INTERVAL = relevance.INTERVAL, fit_interval(others)
        own = [replace_interval(one) for one in learned[name]]
        lines.append(f"| {name} (interval {relevance.INTERVAL:.1f}, fitted on the others) | {summarize([own])} |")
        relevance.INTERVAL = held
    lines += ["", HEAD.replace("| set |", "| set, nothing judged |")]
    lines += [f"| {name} | {summarize([run])} |" for name, run in plain.items()]
    lines += [
        "",
        "| records read for a true recall of 90 % | fixed k | by similarity | reading teaches | oracle | of |",
    ]
    lines.append("|---|--:|--:|--:|--:|--:|")
    reached = {name: [find_recall(runs[name]) for runs in (plain, learned)] for name in scopes}
    for name, (scope, gold) in scopes.items():
        fixed = max(reached[other][1] for other in scopes if other != name)
        oracle = -(-9 * len(gold) // 10)
        lines.append(
            f"| {name} | {fixed} | {reached[name][0]} | {reached[name][1]} | {oracle} | {len(scope.passages)} |"
        )
    return "\n".join([*lines, "", "Fixed k: as many as the slower of the other two sets needs."])


def fit_interval(runs: Sequence[Sequence[Round]]) -> float:
    """Return how far the log-odds are off at most, for four of five rounds."""
    errors = []
    for run in runs:
        for one in run:
            if 0.3 <= one.truth < 1 and one.read < one.total and 0 < one.estimate.share < 1:
                errors.append(
                    abs(log(one.truth / (1 - one.truth)) - log(one.estimate.share / (1 - one.estimate.share)))
                )
    return sorted(errors)[int(0.8 * len(errors))]


def replace_interval(one: Round) -> Round:
    """Return a round with the interval that holds now."""
    share = one.estimate.share
    return replace(one, estimate=relevance.estimate_share(share, 1 - share))


def find_recall(run: Sequence[Round]) -> int:
    """Return how much was read when nine tenths of what is relevant were in it."""
    return next(one.read for one in run if one.truth >= TARGET)


def _rank_records(question: str, records: Sequence[dict[str, Any]]) -> tuple[RankedScope, set[str]]:
    """Return records as a scope: each is one passage, however long, and a file of its own."""
    texts = [f"{record['title']}. {record['text']}" for record in records]
    vectors = embed_static(texts)
    scores = score_all(question, texts, vectors, get_minilm().embed)
    passages = tuple(Passage(one["id"], one["text"], one["title"], Place(one["id"])) for one in records)
    return RankedScope(passages, scores, vectors), {one["id"] for one in records if one["relevant"]}


def run_topics(path: Path, corpora: Path) -> str:
    """Return the table for documentation: fitted on two corpora, reported on the others, both ways."""
    return asyncio.run(_run_topics(path, corpora))


async def _run_topics(path: Path, corpora: Path) -> str:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    notes = {one["name"]: one["release_notes"] for one in json.loads((path.parent / "corpora.json").read_text())}
    scopes: dict[str, CorpusSearch] = {}
    found: list[tuple[str, Survey, Callable[[Passage], bool | None]]] = []
    for row in rows:
        name = row["corpus"]
        if name not in scopes:
            scopes[name] = await CorpusSearch.open([corpora / name], cache_dir=None, exclude=notes[name])
        scope = await scopes[name].rank_all(row["question"])
        assert scope is not None, "the documents are in English"
        wanted, partly = (_find_passages(row[key], corpora / name, scope.passages) for key in ("sections", "partly"))
        found.append((name, Survey(scope, BATCH), _label(wanted, partly)))
    lines, everything = [HEAD], list[list[Round]]()
    names = sorted(scopes)
    for own, fitted in ((names[::2], names[1::2]), (names[1::2], names[::2])):
        held = relevance.BIAS, relevance.SLOPE
        bias, slope = _fit([(survey, label) for name, survey, label in found if name in fitted])
        runs = []
        for name, survey, label in found:
            if name in own:
                survey.calibration = bias, slope
                runs.append(await asyncio.to_thread(lambda one=survey, how=label: list(read_on(one, how))))  # type: ignore[misc]
        everything += runs
        lines.append(
            f"| {', '.join(own)} (p = σ({bias:.2f} + {slope:.2f} z), fitted on the others) | {summarize(runs)} |"
        )
        relevance.BIAS, relevance.SLOPE = held
    bias, slope = _fit([(survey, label) for _, survey, label in found])
    lines += ["", compare_stops(everything), "", f"As a list: {count_missing(everything)}."]
    lines += ["", judge_files(found), "", f"Fitted on all: BIAS, SLOPE = {bias:.2f}, {slope:.2f}"]
    return "\n".join(lines)


def judge_files(found: Sequence[tuple[str, Survey, Callable[[Passage], bool | None]]]) -> str:
    """Return how well files on a topic are told from others: by the probability fitted on the other corpora, and by the mean.

    A folder has all files of its corpus, or only those on the topic, or as many others, or three times as many.
    """
    random = Random(0)
    folders: list[tuple[str, str, np.ndarray, np.ndarray]] = []
    for name, survey, label in found:
        labels: dict[str, list[bool | None]] = defaultdict(list)
        for passage in survey.passages:
            labels[passage.place.path].append(label(passage))
        on_topic = [path for path, own in labels.items() if any(own)]
        others = [path for path, own in labels.items() if not any(own) and None not in own]  # Not those on it in part.
        for kind, more in (("all", len(others)), ("on topic only", 0), ("1 : 1", 1), ("1 : 3", 3)):
            count = more if kind in ("all", "on topic only") else more * len(on_topic)
            paths = [*on_topic, *random.sample(others, min(count, len(others)))]
            scores = np.array([survey.file_scores[path] for path in paths])
            folders.append((name, kind, scores, np.array([path in on_topic for path in paths])))
    lines = ["| files | by probability: recall | precision | by the mean: recall | precision |", "|---|" + "--:|" * 4]
    names = sorted({name for name, *_ in folders})
    weights = {name: _fit_files([folder for folder in folders if folder[0] != name]) for name in names}
    for kind in dict.fromkeys(kind for _, kind, *_ in folders):
        own = [folder for folder in folders if folder[1] == kind]
        labels_of = np.concatenate([labels for *_, labels in own])
        kept = [np.concatenate([_weigh(scores) @ weights[name] >= 0 for name, _, scores, _ in own])]
        kept += [np.concatenate([scores >= scores.mean() for _, _, scores, _ in own])]
        cells = [f"{labels_of[one].sum() / share:.2f}" for one in kept for share in (labels_of.sum(), one.sum())]
        lines.append(f"| {kind} | {' | '.join(cells)} |")
    fitted = ", ".join(f"{weight:.2f}" for weight in _fit_files(folders))
    return "\n".join([*lines, "", f"Fitted on all: FILE_BIAS, FILE_SLOPE, FILE_BEHIND = {fitted}"])


def _weigh(scores: "np.ndarray") -> "np.ndarray":
    return np.stack([np.ones_like(scores), scores, scores - scores.max()], axis=1)


def _fit_files(folders: Sequence[tuple[str, str, "np.ndarray", "np.ndarray"]]) -> "np.ndarray":
    """Return the weights of a logistic regression in which every folder counts the same."""
    rows = np.concatenate([_weigh(scores) for _, _, scores, _ in folders])
    labels = np.concatenate([labels for *_, labels in folders]).astype(float)
    share = np.concatenate([np.full(len(scores), 1 / len(scores)) for _, _, scores, _ in folders])
    weights = np.zeros(rows.shape[1])
    for _ in range(_NEWTON_STEPS):
        p = 1 / (1 + np.exp(-rows @ weights))
        gradient = rows.T @ (share * (labels - p)) - _RIDGE * weights
        hessian = (rows * (share * p * (1 - p))[:, None]).T @ rows + _RIDGE * np.eye(len(weights))
        weights = weights + np.linalg.solve(hessian, gradient)
    return weights


def run_absence(path: Path, corpora: Path) -> str:
    """Return how often the reader recognises a passage with the answer, and the bounds that refusals state."""
    return asyncio.run(_run_absence(path, corpora))


async def _run_absence(path: Path, corpora: Path) -> str:
    from suffice import research
    from suffice.engine.absence import MIN_PROBABILITY
    from suffice.models.reader.model import get_reader

    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    passages: dict[str, list[Passage]] = {}
    best: list[float] = []
    bounds: dict[bool, list[float]] = {True: [], False: []}
    refused: Counter[bool] = Counter()
    for row in rows:
        folder, where = corpora / row["corpus"], row.get("where")
        if row["corpus"] not in passages:
            search = await CorpusSearch.open([folder], cache_dir=None)
            passages[row["corpus"]] = await search.list_passages(search.size) or []
        if where:
            start = _fold(re.sub(r"\W+", " ", where["sentence"]))[:60]
            texts = [
                f"{one.title}\n{one.text}"
                for one in passages[row["corpus"]]
                if one.place.path.endswith(where["file"]) and start in _fold(re.sub(r"\W+", " ", one.text))
            ]
            best += [max(found.probability for found in get_reader().read(row["question"], texts))] if texts else []
        report = await research(row["question"], docs=folder, model="extractive", breadth="narrow")
        if not report.final_answer:
            refused[bool(where)] += 1
            bounds[bool(where)] += [report.stop.absence.at_most] if report.stop.absence else []
    found = sum(probability >= MIN_PROBABILITY for probability in best)
    lines = [f"The reader recognises {found} of {len(best)} passages with the answer.", ""]
    lines += ["| the answer is | refused | a bound is stated | median bound | lowest |", "|---|--:|--:|--:|--:|"]
    for is_there, name in ((False, "absent"), (True, "there")):
        own = sorted(bounds[is_there])
        shown = f"{own[len(own) // 2]:.2f} | {own[0]:.2f}" if own else "– | –"
        lines.append(f"| {name} | {refused[is_there]} | {len(own)} | {shown} |")
    return "\n".join(lines)


def _label(wanted: set[str], partly: set[str]) -> Callable[[Passage], bool | None]:
    return lambda passage: True if passage.id in wanted else None if passage.id in partly else False


def _fit(sets: Sequence[tuple[Survey, Callable[[Passage], bool | None]]]) -> tuple[float, float]:
    scores: list[float] = []
    labels: list[bool] = []
    for survey, label in sets:
        for passage, score in zip(survey.passages, survey.scores, strict=True):
            if (is_relevant := label(passage)) is not None:
                scores.append(float(score))
                labels.append(is_relevant)
    return calibrate(scores, labels)


def _find_passages(sections: Sequence[dict[str, str]], folder: Path, passages: Sequence[Passage]) -> set[str]:
    """Return the ids of the passages in which the sections begin, or that have their heading."""
    found: set[str] = set()
    for section in sections:
        lines = [
            _fold(line.lstrip("# ")) for line in (folder / section["file"]).read_text(errors="replace").splitlines()
        ]
        starts = [number for number, line in enumerate(lines, 1) if line == _fold(section["heading"])]
        above = [number for number, line in enumerate(lines, 1) if line == _fold(section.get("under", ""))]
        starts = [start for start in starts if "under" in section and above and start > above[0]][:1] or starts[:1]
        for passage in passages:
            first, last = passage.place.lines or (0, 0)
            is_here = passage.place.path.endswith(str(folder.name + "/" + section["file"]))
            begins = any(first <= start + 3 <= last for start in starts)
            if is_here and (begins or _fold(passage.title.rpartition(" > ")[2]) == _fold(section["heading"])):
                found.add(passage.id)
    return found


def _fold(text: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"[`*]", "", text)).strip().lower()


def run_drbench(data: Path, work: Path | None, tasks: Sequence[str]) -> str:
    """Return the table for DRBench: a passage is relevant if its file holds an insight."""
    from bench.peers.drbench import prepare_tasks

    with tempfile.TemporaryDirectory(prefix="drbench-") as temporary:
        runs = []
        for task in prepare_tasks(data, work or Path(temporary)):
            if tasks and task.id not in tasks:
                continue
            gold = {fact.file for fact in task.facts if fact.is_insight}
            scope = asyncio.run(_rank_folder(task.folder, task.question))
            label = lambda one, gold=gold: Path(one.place.path).name in gold  # noqa: E731
            runs.append(list(read_on(Survey(scope, 20), label)))
    return f"{HEAD}\n| {len(runs)} tasks | {summarize(runs)} |\n\n{compare_stops(runs)}"


async def _rank_folder(folder: Path, question: str) -> RankedScope:
    scope = await (await CorpusSearch.open([folder], cache_dir=None)).rank_all(question)
    assert scope is not None, "the files are in English"
    return scope


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.breadth", description="Measure what broad questions rest on."
    )
    parser.add_argument("--classify", type=Path, help="questions with their kind, one JSON object a line")
    parser.add_argument("--screening", type=Path, help="the folder of the screening sets")
    parser.add_argument("--topics", type=Path, help="questions with their sections; corpora.json lies beside it")
    parser.add_argument("--absence", type=Path, help="questions with the sentence that answers them, or none")
    parser.add_argument("--corpora", type=Path, help="where the documents of --topics and --absence are unpacked")
    parser.add_argument("--drbench", type=Path, help="the folder with tasks.tar.gz")
    parser.add_argument("--work", type=Path, help="where the tasks are unpacked (default: a temporary folder)")
    parser.add_argument("--tasks", default="", help="ids of tasks, with commas between them (default: all)")
    options = parser.parse_args()
    if options.classify:
        print(classify(options.classify))
    if options.screening:
        print(run_screening(options.screening))
    if options.topics:
        if options.corpora is None:
            parser.error("--topics needs --corpora FOLDER")
        print(run_topics(options.topics, options.corpora))
    if options.absence:
        print(run_absence(options.absence, options.corpora or parser.error("--absence needs --corpora FOLDER")))
    if options.drbench:
        print(run_drbench(options.drbench, options.work, [name for name in options.tasks.split(",") if name]))


if __name__ == "__main__":
    main()
