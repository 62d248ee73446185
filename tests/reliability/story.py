"""A run whose calls are recorded in a file, and whose process can be killed at any of them.

The answers of model and search depend only on their arguments, so a process that resumes the run gets the same ones. Both write
a line to the ledger for every call they have answered: these are the paid calls.
"""

import hashlib
import os
import signal
from dataclasses import replace
from pathlib import Path

import msgspec
from dbos import DBOS

from suffice.api import prepare_run
from suffice.errors import ModelError
from suffice.jobs.store import RunStore
from suffice.models.base import Reply
from suffice.prompts.planning import PlannedQuery, PlanResponse, ReflectionResponse
from suffice.prompts.writing import SynthesisResponse
from suffice.testing import make_passage
from suffice.types import Query, Usage

QUESTION = "Who built the Meridian bridge, and when?"
ROUNDS = 3
MOMENTS = ("during", "answered", "stored")
ENDS = ("before the report is stored", "after the report is stored")


class Killer:
    """Kills the process (signal 9) at the nth call: while it runs, when it is answered, or when the answer is stored."""

    def __init__(self, moment: str = "", number: int = 0) -> None:
        self.moment, self.number, self.calls, self.stored = moment, number, 0, 0

    def start_call(self) -> int:
        self.calls += 1
        if self.moment == "during" and self.calls == self.number:
            self.kill()
        return self.calls

    def finish_call(self, call: int) -> None:
        if self.moment == "answered" and call == self.number:
            self.kill()

    def kill(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    def install(self) -> None:
        """Also kill when a step was stored, or before or after the report is stored."""
        run_step_async, mark_ended = DBOS.run_step_async, RunStore.mark_ended

        async def run_step(*args, **kwargs):
            outcome = await run_step_async(*args, **kwargs)
            self.stored += 1
            if self.moment == "stored" and self.stored == self.number:
                self.kill()
            return outcome

        def end(*args, **kwargs):
            if self.moment == ENDS[0]:
                self.kill()
            ended = mark_ended(*args, **kwargs)
            if self.moment == ENDS[1]:
                self.kill()
            return ended

        DBOS.run_step_async, RunStore.mark_ended = run_step, end


class Ledger:
    """The file of paid calls."""

    def __init__(self, path: Path, killer: Killer) -> None:
        self.path, self.killer = path, killer

    def record(self, call: int, text: str) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text + "\n")
        self.killer.finish_call(call)


class CountedModel:
    name, local, context = "counted", True, None

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def __call__(self, prompt):
        call = self._ledger.killer.start_call()
        digest = hashlib.sha256(msgspec.json.encode(prompt, enc_hook=str, order="deterministic")).hexdigest()[:16]
        self._ledger.record(call, f"{prompt.role} {digest}")
        return Reply(_answer(prompt), Usage(1, 100, 20, 0.001))


class CountedSearch:
    """Finds one passage for all queries and two more for each query."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger

    async def __call__(self, query: Query, k: int):
        call = self._ledger.killer.start_call()
        mark = hashlib.sha256(query.text.encode()).hexdigest()[:6]
        self._ledger.record(call, f"search {mark} {k}")
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
        return PlanResponse((PlannedQuery(QUESTION, "the task"), PlannedQuery("Halloran Works history", "the builder")))
    if prompt.role == "reflect":
        asked = len(prompt.asked)
        if asked >= 2 + 2 * (ROUNDS - 1):
            return ReflectionResponse(True, 0.9)
        return ReflectionResponse(
            False,
            0.3,
            ("more",),
            (PlannedQuery(f"bridge question {asked}"), PlannedQuery(f"bridge question {asked + 1}")),
        )
    if prompt.role == "draft":
        return SynthesisResponse("Halloran Works built the Meridian bridge in 1887 [1].", "Halloran Works [1].")
    raise ModelError(f"No answer for {prompt.role}")


def make_prepare(ledger: Ledger):
    """Return the function with which a worker prepares this run."""

    async def prepare(question, options):
        return await prepare_run(question, replace(options, model=CountedModel(ledger), search=CountedSearch(ledger)))

    return prepare
