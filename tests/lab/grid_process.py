"""Run a grid in a process of its own: ``grid_process.py DATA OUT CACHE CALLS_LOG [KILL_AFTER]``.

Every call to the model is logged before it is answered. After ``KILL_AFTER`` calls the process kills itself.
"""

import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from suffice import settings
from suffice.lab.experiment import Experiment
from suffice.lab.grid import Grid
from suffice.models.base import ModelWrapper
from suffice.models.extractive import ExtractiveModel


class CountingModel(ModelWrapper):
    def __init__(self, log: Path, kill_after: int | None) -> None:
        super().__init__(ExtractiveModel())
        self._log, self._kill_after, self._calls = log, kill_after, 0

    async def __call__(self, prompt):
        if self._calls == self._kill_after:
            os.kill(os.getpid(), signal.SIGKILL)
        self._calls += 1
        with self._log.open("a") as log:
            log.write(f"{prompt.role} {prompt!r}\n")
        return await self.wrapped(prompt)


def main() -> None:
    data, out, cache, log, *kill_after = sys.argv[1:]
    experiment = Experiment(
        data=(data,),
        harness=("ircot", "react"),
        memory=("baseline", "structured"),
        alpha=(1.0,),
        answers_each_round=True,
    )
    model = CountingModel(Path(log), int(kill_after[0]) if kill_after else None)
    config = replace(settings.load(), cache_dir=Path(cache))
    asyncio.run(Grid(experiment, Path(out), (model, None), config).run(concurrency=1))


main()
