"""A full disk is one clear sentence, and a trace that cannot be written costs only the trace."""

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from suffice.cli.ask import _open_trace
from suffice.events import Recalled


def test_a_run_goes_on_without_a_trace_that_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        with _open_trace(tmp_path / "trace.jsonl") as write:
            resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
            write(Recalled(("one",)))
            write(Recalled(("two",)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert capsys.readouterr().err.count("the run continues without it") == 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, which only Linux has")
def test_standard_output_on_a_full_disk_is_no_bug() -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-m", "suffice", "prompts", "list"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment, timeout=120)
    assert done.returncode == 1
    assert "Standard output: No space left on device" in done.stderr
    assert "is a bug" not in done.stderr
    assert done.stderr.count("\n") == 1
