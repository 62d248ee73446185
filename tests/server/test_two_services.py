"""Two services of one user, and workers on several machines: nobody takes or shows a run over documents it does not serve."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest
from http_client import wait_until

PATIENCE = 180.0  # Seconds; a busy machine must not fail a test.


@dataclass(frozen=True)
class Program:
    """A process of suffice with what it writes."""

    process: "subprocess.Popen[bytes]"
    output: Path

    def wait_for(self, text: str) -> str:
        """Wait until the process has written a text; return all that it wrote."""
        wait_until(lambda: text in self.read() or self.process.poll() is not None, f"{text} is not written", PATIENCE)
        assert text in self.read(), self.read()
        return self.read()

    def read(self) -> str:
        return self.output.read_text(encoding="utf-8", errors="replace")

    def connect(self) -> httpx2.Client:
        """Wait until the service answers; return a client for it."""
        self.wait_for("Collections:")
        url = self.wait_for("listens on ").partition("listens on ")[2].split()[0]
        wait_until(lambda: _is_ready(url), "the service does not answer", PATIENCE)
        return httpx2.Client(base_url=url, timeout=PATIENCE, trust_env=False)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


Start = Callable[..., Program]


def _is_ready(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/readyz", timeout=PATIENCE, trust_env=False).status_code == 200
    except httpx2.TransportError:
        return False


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start processes of suffice that share one data directory."""
    programs: list[Program] = []

    def start_program(*arguments: object, database: str | None = None) -> Program:
        environment = os.environ | {
            "SUFFICE_DATA_DIR": str(tmp_path / "data"),
            "SUFFICE_CACHE_DIR": str(tmp_path / "cache"),
            "SUFFICE_MODEL": "extractive",
            "COLUMNS": "500",
        }
        if database is not None:
            environment["SUFFICE_DATABASE_URL"] = database
        output = tmp_path / f"output{len(programs)}"
        command = [sys.executable, "-W", "ignore", "-m", "suffice", *map(str, arguments)]
        with output.open("wb") as stream:
            process = subprocess.Popen(command, env=environment, stdout=stream, stderr=stream)
        programs.append(Program(process, output))
        return programs[-1]

    yield start_program
    for program in programs:
        program.process.terminate()
    for program in programs:
        try:
            program.process.wait(60)
        except subprocess.TimeoutExpired:
            program.kill()


@pytest.fixture
def contracts(tmp_path: Path) -> Path:
    folder = tmp_path / "contracts"
    folder.mkdir()
    (folder / "lease.txt").write_text("The notice period of the lease is three months. The rent is due on Monday.\n")
    return folder


@pytest.fixture
def mix(tmp_path: Path) -> Path:
    folder = tmp_path / "mix"
    folder.mkdir()
    (folder / "garden.txt").write_text("The notice period of the garden is one week. The gate is due for paint.\n")
    return folder


def ask(client: httpx2.Client, **options: object) -> str:
    body = {"question": "How long is the notice period?", "async": True, "options": {"alpha": 1, **options}}
    answer = client.post("/run", json=body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["job_id"])


def wait_for_sources(client: httpx2.Client, job: str) -> set[str]:
    """Wait until a run has ended; return the names of the files that its report cites."""
    found: dict[str, object] = {}

    def has_ended() -> bool:
        found.update(client.get(f"/jobs/{job}").json())
        return found["status"] in ("done", "failed", "cancelled")

    wait_until(has_ended, f"{job} has not ended", PATIENCE)
    assert found["status"] == "done", found
    report = found["report"]
    assert isinstance(report, dict)
    return {Path(str(source["location"]).partition(":")[0]).name for source in report["sources"]}


def list_jobs(client: httpx2.Client) -> set[str]:
    return {job["job_id"] for job in client.get("/jobs").json()["jobs"]}


def test_two_services_do_not_take_each_others_runs(start: Start, contracts: Path, mix: Path):
    programs = [start("serve", "--port", 0, "--docs", path) for path in (contracts, mix)]
    with programs[0].connect() as first, programs[1].connect() as second:
        clients = (first, second)
        jobs: tuple[list[str], list[str]] = ([], [])
        for number in range(3):
            for client, own in zip(clients, jobs, strict=True):
                own.append(ask(client, **({"collections": ["default"]} if number == 2 else {})))
        for client, own, file in zip(clients, jobs, ("lease.txt", "garden.txt"), strict=True):
            assert [wait_for_sources(client, job) for job in own] == [{file}] * 3
            assert list_jobs(client) == set(own)
            assert {json.loads(line)["job_id"] for line in client.get("/export").text.splitlines()} == set(own)
        foreign = first.get(f"/jobs/{jobs[1][0]}")
        assert foreign.status_code == 404
        assert "does not serve" in foreign.text
        follow_up = {"question": "And then?", "options": {"continues": jobs[1][0]}}
        assert first.post("/run", json=follow_up).status_code == 404


def test_runs_of_a_killed_service_wait_for_one_with_its_documents(start: Start, contracts: Path, mix: Path):
    other = start("serve", "--port", 0, "--docs", f"mix={mix}")
    killed = start("serve", "--port", 0, "--docs", f"contracts={contracts}", "--runs", 1)
    with other.connect(), killed.connect() as client:
        jobs = [ask(client) for _ in range(4)]
        killed.kill()
        assert "no worker serves the collections of this run (contracts)" in other.wait_for(
            f"{jobs[-1]}: The run waits"
        )
    (contracts / "note.txt").write_text("Written while no service was running.\n")
    with start("serve", "--port", 0, "--docs", f"contracts={contracts}").connect() as client:
        assert list_jobs(client) == set(jobs)
        assert all("lease.txt" in wait_for_sources(client, job) for job in jobs)


def test_workers_with_the_same_files_elsewhere_take_a_run(
    start: Start, postgres_url: str, contracts: Path, mix: Path, tmp_path: Path
):
    other = tmp_path / "other"
    other.mkdir()
    (other / "lease.txt").write_text("The notice period of the lease is unknown.\n")
    service = start("serve", "--port", 0, "--orders-only", "--docs", f"contracts={contracts}", database=postgres_url)
    start("worker", "--docs", f"contracts={other}", database=postgres_url).wait_for("is ready")
    with service.connect() as client:
        job = ask(client)
        waiting = client.get(f"/jobs/{job}").json()
        assert waiting["status"] == "queued"
        assert "no worker serves the collections of this run (contracts)" in waiting["waiting"]
        copy = tmp_path / "machine two" / "papers"
        shutil.copytree(contracts, copy)
        start("worker", "--docs", f"contracts={copy}", "--docs", f"mix={mix}", database=postgres_url)
        assert wait_for_sources(client, job) == {"lease.txt"}
        assert client.get(f"/jobs/{job}").json()["waiting"] is None
        assert "three months" in client.get(f"/jobs/{job}/report.md").text
