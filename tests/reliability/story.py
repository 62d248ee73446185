"""A run whose every call is counted in a file, and which can be killed at any of them.

Model and search answer from what they are asked alone, so that a process which takes the run up again gets the same answers.
Both write a line to the file for every call they have answered: what was paid for is what stands there.
"""

import hashlib
import os
import signal
from pathlib import Path

import msgspec
from dbos import DBOS

from suffice.api import prepare_run
from suffice.errors import ModelError
from suffice.jobs.store import RunStore
from suffice.models.base import Reply
from suffice.prompts import PlannedQuery, PlanResponse, ReflectionResponse, SynthesisResponse
from suffice.testing import make_passage
from suffice.types import Query, Usage

TASK = "Who built the Meridian bridge, and when?"
ROUNDS = 3
MOMENTS = ("during", "answered", "kept")
ENDS = ("before the report is kept", "after the report is kept")


class Killer:
    """Ends the process by signal 9 at the nth call: while it is under way, when it is answered, or when that is kept."""

    def __init__(self, moment: str = "", number: int = 0) -> None:
        self.moment, self.number, self.calls, self.kept = moment, number, 0, 0

    def began(self) -> int:
        self.calls += 1
        if self.moment == "during" and self.calls == self.number:
            self.strike()
        return self.calls

    def answered(self, call: int) -> None:
        if self.moment == "answered" and call == self.number:
            self.strike()

    def strike(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        """Strike when a step was kept, or around the end of the run."""
        kept, finish = DBOS.run_step_async, RunStore.finish

        async def step(*args, **kwargs):
            outcome = await kept(*args, **kwargs)
            self.kept += 1
            if self.moment == "kept" and self.kept == self.number:
                self.strike()
            return outcome

        def finished(*args, **kwargs):
            if self.moment == ENDS[0]:
                self.strike()
            ended = finish(*args, **kwargs)
            if self.moment == ENDS[1]:
                self.strike()
            return ended

        DBOS.run_step_async, RunStore.finish = step, finished


class Ledger:
    def __init__(self, path: Path, killer: Killer) -> None:
        self.path, self.killer = path, killer

    def paid(self, call: int, what: str) -> None:
        with self.path.open("a", encoding="utf-8") as lines:
            lines.write(what + "\n")
        self.killer.answered(call)


class CountedModel:
    name, local, context = "counted", True, None

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def __call__(self, prompt):
        call = self._ledger.killer.began()
        asked = hashlib.sha256(msgspec.json.encode(prompt, enc_hook=str, order="deterministic")).hexdigest()[:16]
        self._ledger.paid(call, f"{prompt.role} {asked}")
        return Reply(_answer(prompt), Usage(1, 100, 20, 0.001))


class CountedSearch:
    """Finds two passages of its own for every query, and one that everybody finds."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def __call__(self, query: Query, k: int):
        call = self._ledger.killer.began()
        mark = hashlib.sha256(query.text.encode()).hexdigest()[:6]
        self._ledger.paid(call, f"search {mark} {k}")
        found = [
            make_passage(
                "bridge", "The Meridian bridge was built by Halloran Works in 1887.", "Meridian bridge", score=1.0
            )
        ]
        return found + [
            make_passage(
                f"{mark}-{n}", f"Page {n} about {query.text}: a note on bridge {mark}.", f"Note {mark} {n}", score=0.5
            )
            for n in (1, 2)
        ]


def _answer(prompt):
    if prompt.role == "plan":
        return PlanResponse((PlannedQuery(TASK, "the task"), PlannedQuery("Halloran Works history", "the builder")))
    if prompt.role == "reflect":
        asked = len(prompt.asked)
        if asked >= 2 + 2 * (ROUNDS - 1):
            return ReflectionResponse(True, 0.9)
        return ReflectionResponse(False, 0.3, ("more",), (f"bridge question {asked}", f"bridge question {asked + 1}"))
    if prompt.role == "draft":
        return SynthesisResponse("Halloran Works built the Meridian bridge in 1887 [1].", "Halloran Works [1].")
    raise ModelError(f"No answer for {prompt.role}")


def preparing(ledger: Ledger):
    """How the worker prepares a run of this story."""

    async def prepared(task, options):
        from dataclasses import replace

        return await prepare_run(task, replace(options, model=CountedModel(ledger), search=CountedSearch(ledger)))

    return prepared
