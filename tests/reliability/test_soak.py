"""A few seconds of the soak; ``make reliability`` runs half an hour of it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import postgres_server


def test_every_run_ends_in_a_named_state(postgres_url):
    code = "from reliability.soak import run_soak; import json; print(json.dumps(run_soak(0.1, 2, workers=1)))"
    completed = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=900,
        env=os.environ | {postgres_server.VARIABLE: postgres_url},
    )
    result = json.loads(completed.stdout.splitlines()[-1])
    assert set(result["jobs"]) <= {"done", "failed", "cancelled", "purged"}, result
    assert result["nameless"] == []
