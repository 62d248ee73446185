"""Three kill points a database; ``make reliability`` plays them all."""

import json
import subprocess
import sys
from pathlib import Path


def test_a_run_survives_kill_9_wherever_it_strikes():
    played = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "reliability.crashes", "--points", "3", "--json"],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=300,
    )
    results = json.loads(played.stdout)
    assert len(results) == 6
    assert all(result["good"] for result in results), played.stderr
