"""Workers that are alive or not, and runs that never end."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from suffice.cli import serve
from suffice.errors import Unavailable
from suffice.jobs import executor
from suffice.jobs.database import open_engine, sqlite_url, workers
from suffice.jobs.heartbeats import Heartbeats
from suffice.jobs.served import ServedCollections
from suffice.jobs.store import Priority, RunStore
from suffice.settings import load

DEPLOY = Path(__file__).parents[2] / "deploy"


@pytest.fixture
def engine(tmp_path: Path) -> sa.Engine:
    return open_engine(sqlite_url(tmp_path / "service.sqlite"))


def test_health_check_of_a_worker(engine: sa.Engine, tmp_path: Path) -> None:
    config = load({"SUFFICE_DATA_DIR": str(tmp_path)})
    with pytest.raises(Unavailable, match="No worker"):
        serve._check_worker(config)
    worker = Heartbeats(engine)
    worker.register()
    serve._check_worker(config)
    with engine.begin() as connection:  # The process is there, but its event loop is blocked.
        connection.execute(sa.update(workers).values(beat=1.0))
    with pytest.raises(Unavailable):
        serve._check_worker(config)
    worker.beat()
    worker.deregister()
    with pytest.raises(Unavailable):
        serve._check_worker(config)


@pytest.mark.attack("gate texts")
def test_a_run_that_never_ends_is_set_aside(engine: sa.Engine) -> None:
    store = RunStore(engine)
    store.add(
        "blocking", "ada", '{"task": "?", "options": {}, "collections": [], "folder": null}', Priority.NORMAL, None
    )
    for _ in range(executor.MAX_ATTEMPTS):
        store.mark_started("blocking")  # As many workers as that died over it.

    class Silent:
        def notify(self, run: str) -> None:
            pass

    async def prepare(*arguments: Any) -> Any:
        raise AssertionError("the run was tried again")

    runner = executor.RunExecutor(
        store,
        Silent(),  # type: ignore[arg-type]
        ServedCollections({}),
        prepare,
        is_stopping=lambda: False,
        has_telemetry=False,
    )
    asyncio.run(runner.execute("blocking"))
    ended = store.get("blocking")
    assert ended.status == "failed"
    assert "abandoned" in json.loads(ended.error or "{}")["message"]


def test_container_images_have_an_exact_tag() -> None:
    texts = [(DEPLOY / name).read_text() for name in ("Dockerfile", "compose.yaml")]
    images = [image for text in texts for image in re.findall(r"^(?:FROM|\s+image:) (\S+)", text, re.MULTILINE)]
    outside = [image for image in images if image != "suffice"]
    assert len(outside) >= 4
    assert all(re.search(r":\S*\d+\.\d+", image) for image in outside), outside
