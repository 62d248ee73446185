"""Run a grid of cells and questions: append-only rows, resumable after any interruption, within a cost and a time limit.

    DIR/rows.jsonl       one row a question and cell, appended when it is done
    DIR/journal.sqlite   the model calls of an unfinished grid, so that a killed one pays for no call twice
    DIR/experiment.json  the settings

Questions are the outer loop, so that an unfinished grid has about the same number of questions in every cell.
"""

import asyncio
import json
import math
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, TypeVar

from suffice import settings
from suffice.errors import InputError, SufficeError
from suffice.lab.data import LabQuestion, load_dataset, sample_questions
from suffice.lab.episode import EpisodeParts, Row, name_row, run_episode
from suffice.lab.experiment import NO_GATE, Cell, Experiment
from suffice.models.base import Model, ModelWrapper, Reply, has_price
from suffice.models.prices import find_price
from suffice.prompts.base import Prompt
from suffice.replay.episodes import read_jsonl
from suffice.search.base import Search
from suffice.search.open import SearchScope, open_corpus
from suffice.storage.locks import lock_or_refuse
from suffice.storage.sqlite_cache import JsonCache, SqliteCache
from suffice.storage.sqlite_cache import make_key as make_cache_key
from suffice.types import Embed, Notify

A = TypeVar("A")
ROWS_NAME = "rows.jsonl"
Key = tuple[str, str, str]
"""Data set, cell and question."""


@dataclass(frozen=True, slots=True)
class GridJob:
    data: str
    cell: Cell
    question: LabQuestion

    @property
    def key(self) -> Key:
        return self.data, self.cell.name, self.question.id


@dataclass
class Progress:
    """How far a grid is. ``done`` includes the rows of earlier starts; the other counts do not."""

    total: int
    done: int = 0
    new: int = 0
    errors: int = 0
    tokens: int = 0
    usd: float = 0.0
    started_at: float = 0.0

    @property
    def per_second(self) -> float:
        return self.new / max(1e-9, time.monotonic() - self.started_at)

    @property
    def seconds_left(self) -> float | None:
        return (self.total - self.done) / self.per_second if self.new else None


@dataclass(frozen=True, slots=True)
class GridEstimate:
    """What a grid will take, before it starts. The price is unknown if the model's is."""

    runs: int
    calls: int
    input_tokens: int
    output_tokens: int
    usd: float | None


class JournaledModel(ModelWrapper):
    """Wraps the model of one question. A call that was answered before the grid was killed is not made again.

    A call is found by its question and cell, by its prompt, and by how often the same was asked before.
    """

    def __init__(self, model: Model, journal: JsonCache, episode: str) -> None:
        super().__init__(model)
        self._journal = journal
        self._episode = episode
        self._occurrences: Counter[bytes] = Counter()

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        call = make_cache_key(self._episode, self.name, prompt.role, prompt.version(), prompt)
        self._occurrences[call] += 1
        key = make_cache_key(call, self._occurrences[call])
        kind: Any = prompt.response_type
        reply: Reply[A] | None = await self._journal.load(key, Reply[kind | None])
        if reply is None:
            reply = await self.wrapped(prompt)
            await self._journal.save(key, reply)
        return reply


class Grid:
    """An experiment in its folder. ``models`` are the model and the judge; the judge may be ``None``.

    ``part`` is the number of this part of the questions and how many parts there are, for several processes or machines.
    """

    def __init__(
        self,
        experiment: Experiment,
        folder: Path,
        models: tuple[Model, Model | None],
        config: settings.Settings,
        notify: Notify = lambda message: None,
        *,
        part: tuple[int, int] = (1, 1),
    ) -> None:
        self._part = part
        self.experiment = experiment
        self._folder = folder
        self._model, self._judge = models
        self._config = config
        self._notify = notify
        self._opening = asyncio.Lock()
        self._corpora: dict[tuple[Path, float], asyncio.Task[tuple[Search, Embed | None]]] = {}
        self.datasets = [
            load_dataset(Path(path), config.cache_dir, experiment.unanswerable) for path in experiment.data
        ]
        names = [dataset.name for dataset in self.datasets]
        if len(set(names)) < len(names):
            raise InputError("Two data folders have the same name; rename one of them, because rows are named after it")

    # -- what there is to do -------------------------------------------------------------------------------------------

    def list_jobs(self) -> list[GridJob]:
        """Return every question of every cell, question by question."""
        cells, (number, count) = self.experiment.list_cells(), self._part
        samples = []
        for dataset in self.datasets:
            drawn = sample_questions(dataset.questions, self.experiment.questions, self.experiment.seed)
            samples.append([(dataset.name, question) for question in drawn[number - 1 :: count]])
        by_turns = (one for turn in zip_longest(*samples) for one in turn if one is not None)
        return [GridJob(data, cell, question) for data, question in by_turns for cell in cells]

    def estimate(self, jobs: Sequence[GridJob]) -> GridEstimate:
        """Estimate the calls, tokens and price of jobs, from the limits of their cells: most runs end earlier."""
        calls, tokens = 0, 0
        for job in jobs:
            cell = job.cell
            observation = 60 + 160 * cell.k
            per_round = [observation * (2 if cell.memory == "baseline" else 1) + 400]
            if cell.memory in ("structured", "freeform"):
                per_round.append(observation + 600)
            if "judged" in cell.gate or "by=model" in cell.gate:
                per_round.append(2_000)
            if self.experiment.answers_each_round and cell.gate == NO_GATE:
                per_round.append(observation + 300)
            calls += cell.rounds * len(per_round) + 1 + (self._judge is not None)
            tokens += cell.rounds * sum(per_round) + observation + 300 * (self._judge is not None)
        output = 60 * calls
        price = find_price(self._model, "thought")
        usd = 0.0 if self._model.local else None if price is None else price.cost(tokens, output)
        return GridEstimate(len(jobs), calls, tokens, output, usd)

    # -- running -------------------------------------------------------------------------------------------------------

    def load_done(self) -> set[Key]:
        """Return the keys of the rows that are there. Half a last line, left by a killed process, is removed."""
        path = self._folder / ROWS_NAME
        if not path.exists():
            return set()
        trim_partial_line(path)
        return {make_key(row) for row in read_rows(path)}

    async def run(
        self,
        *,
        concurrency: int = 4,
        max_usd: float | None = None,
        max_seconds: float | None = None,
        on_progress: Callable[[Progress], None] = lambda progress: None,
    ) -> Progress:
        """Run what is missing. Ends when all is done, or when the money or the time is spent."""
        if max_usd is not None and not has_price(self._model):
            raise InputError(
                f"The price of {self._model.name} is unknown, so --max-cost cannot be enforced; add the price to a file and "
                "set SUFFICE_PRICES=FILE"
            )
        self._folder.mkdir(parents=True, exist_ok=True)
        with lock_or_refuse(
            self._folder / ".lock", f"Another process is writing to {self._folder}; wait for it or choose another --out"
        ):
            self._check_settings()
            done = self.load_done()
            jobs = [job for job in self.list_jobs() if job.key not in done]
            progress = Progress(len(jobs) + len(done), len(done), started_at=time.monotonic())
            journal = SqliteCache(self._folder / "journal.sqlite", "journal of the grid", self._notify)
            spent = sum(row.get("cost_usd") or 0.0 for row in (read_rows(self._folder / ROWS_NAME) if done else ()))
            queue = iter(jobs)
            try:
                with (self._folder / ROWS_NAME).open("a", encoding="utf-8") as rows:

                    async def work() -> None:
                        for job in queue:
                            if max_usd is not None and spent + progress.usd >= max_usd:
                                return
                            await self._run_job(job, JsonCache(journal, max_age_seconds=math.inf), rows, progress)
                            on_progress(progress)

                    with suppress(TimeoutError):
                        async with asyncio.timeout(max_seconds), asyncio.TaskGroup() as workers:
                            for _ in range(min(concurrency, len(jobs))):
                                workers.create_task(work())
                if progress.done == progress.total:
                    journal.clear()
            except ExceptionGroup as group:  # An error of one worker ends them all.
                raise group.exceptions[0] from None
            finally:
                journal.close()
                for corpus in self._corpora.values():
                    corpus.cancel()
        return progress

    async def _run_job(self, job: GridJob, journal: JsonCache, rows: IO[str], progress: Progress) -> None:
        episode = " | ".join(job.key)
        try:
            search, embed = await self._open(job.question.corpus, job.cell.alpha)
            parts = EpisodeParts(
                search,
                JournaledModel(self._model, journal, episode),
                None if self._judge is None else JournaledModel(self._judge, journal, episode),
                embed,
                self.experiment.seed,
                self.experiment.answers_each_round,
                self.experiment.keep_text,
            )
            row = await run_episode(job.cell, job.question, parts)
        except InputError:
            raise  # Only the user can mend it, and it concerns every question.
        except Exception as error:  # A row with its error is better than a gap.
            if not isinstance(error, SufficeError):
                self._notify(f"{episode}: {type(error).__name__}: {error}")
            row = name_row(job.cell, job.question, self._model.name)
            row["error"] = f"{type(error).__name__}: {error}"
        rows.write(json.dumps({"data": job.data, **row}, ensure_ascii=False) + "\n")
        rows.flush()
        progress.done += 1
        progress.new += 1
        progress.errors += row["error"] is not None
        progress.tokens += row.get("input_tokens", 0) + row.get("output_tokens", 0)
        progress.usd += row.get("cost_usd") or 0.0

    async def _open(self, corpus: Path, alpha: float) -> tuple[Search, Embed | None]:
        """Open the index of a collection, once for each weight of words."""
        key = (corpus, alpha)
        if key not in self._corpora:
            self._corpora[key] = asyncio.ensure_future(self._open_corpus(corpus, alpha))
        return await asyncio.shield(self._corpora[key])

    async def _open_corpus(self, corpus: Path, alpha: float) -> tuple[Search, Embed | None]:
        async with self._opening:  # Two weights of words share an index, which one of them builds.
            search = await open_corpus(SearchScope(docs=(str(corpus),), alpha=alpha), self._config, self._notify)
        return search, None if alpha == 1 else search.embed

    def _check_settings(self) -> None:
        """Raise ``InputError`` if the folder holds rows of another experiment; write the settings."""
        path = self._folder / "experiment.json"
        digest = self.experiment.identify()
        if path.exists():
            with suppress(ValueError, KeyError):
                before = json.loads(path.read_text(encoding="utf-8"))
                if before["settings"] != digest:
                    raise InputError(
                        f"{self._folder} holds an experiment with another model, judge, seed, rounds or kind of questions; "
                        "choose another --out"
                    )
        content = {"settings": digest, "model": self._model.name, **asdict(self.experiment)}
        path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def trim_partial_line(path: Path) -> None:
    content = path.read_bytes()
    os.truncate(path, content.rfind(b"\n") + 1)


def read_rows(path: Path) -> list[Row]:
    """Read the rows of a grid: a folder, or a ``rows.jsonl`` file, also gzipped. Of two rows of a question the last counts."""
    if path.is_dir():
        found = sorted([*path.glob("rows*.jsonl"), *path.glob("rows*.jsonl.gz")])
        if not found:
            raise InputError(f"{path} holds no rows; make them with: suffice lab run … --out {path}")
        rows: dict[Key, Row] = {}
        for file in found:
            rows |= {make_key(row): row for row in read_rows(file)}
        return list(rows.values())
    try:
        return [row for _, row in read_jsonl(path, allow_partial_end=True)]
    except InputError as error:
        raise InputError(f"{error}; name the --out folder of 'suffice lab run'") from error


def make_key(row: Row) -> Key:
    try:
        name = f"{row['harness']}/{row['memory']}/{row['gate']} {row['variant']}".rstrip()
        return str(row["data"]), name, str(row["question"])
    except (KeyError, TypeError) as error:
        raise InputError(f"This is not a row of a grid: {str(row)[:80]}") from error
