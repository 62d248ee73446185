"""Three crash points per database; ``make reliability`` runs all of them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import postgres_server


def test_run_survives_a_crash_at_any_point(postgres_url):
    completed = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "reliability.crashes", "--points", "3", "--json"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=900,
        env=os.environ | {postgres_server.VARIABLE: postgres_url},
    )
    results = json.loads(completed.stdout)
    assert len(results) == 6
    assert all(result["passed"] for result in results), completed.stderr
