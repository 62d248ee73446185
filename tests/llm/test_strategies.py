"""Four strategies from question to cited answer, with a real language model of any size."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.llm

QUESTION = "Who taught the engineer who designed the Velholm lighthouse?"
ISLAND = {
    "lighthouse": "The Velholm lighthouse stands on the northern cape of the island of Velholm. The engineer Ilse Brandt "
    "designed it, and it was first lit on 3 October 1871. Its lamp burned rape-seed oil until 1904.",
    "brandt": "Ilse Brandt (1829-1896) was an engineer from Karsund. She studied hydraulics under Anton Rehn at the "
    "Polytechnic of Karsund. Besides three lighthouses she built the ferry pier of Torvik.",
    "rehn": "Anton Rehn taught hydraulics at the Polytechnic of Karsund from 1841 to 1866. He was born in Mellby and wrote "
    "a handbook on the foundations of piers.",
    "pier": "The ferry pier of Torvik is 140 metres long. It was opened in 1878 and rests on oak piles. A storm took its "
    "outer end in 1911; it was rebuilt in concrete.",
    "keepers": "Four keepers lived at the Velholm lighthouse with their families. The last of them, Per Dahl, left in 1968, "
    "when the light became automatic.",
    "fog": "The fog signal of Velholm is a siren driven by compressed air. It sounds twice a minute and is heard eleven "
    "nautical miles away.",
    "ferry": "The ferry from Karsund to Torvik takes fifty minutes. It sails six times a day in summer and three times a "
    "day in winter.",
    "museum": "The museum of Torvik keeps the first lens of the Velholm lighthouse. It was ground in Paris in 1870 and "
    "weighs 1.2 tonnes.",
}
UNREADABLE = "ModelOutputError"


@pytest.fixture
def island(tmp_path: Path) -> Path:
    folder = tmp_path / "island"
    folder.mkdir()
    for name, text in ISLAND.items():
        (folder / f"{name}.md").write_text(f"# {name.capitalize()}\n\n{text}\n", encoding="utf-8")
    return folder


@pytest.mark.parametrize("strategy", ["reflect", "saturate", "predicates", "outline"])
def test_a_strategy_answers_with_citations(
    strategy: str, island: Path, tmp_path: Path, model: Mapping[str, str]
) -> None:
    command = "ask --strategy S --max-rounds 2 --max-queries 4 -k 3 --per-round 4 --no-review --json".replace(
        "S", strategy
    )
    own = {"SUFFICE_CACHE_DIR": str(tmp_path / "cache"), "SUFFICE_DATA_DIR": str(tmp_path / "data")}
    done = subprocess.run(
        [sys.executable, "-m", "suffice", *command.split(), "--docs", str(island), QUESTION],
        capture_output=True,
        text=True,
        timeout=1800,
        env={**os.environ, **own, **model},
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    print(json.dumps({name: report[name] for name in ("final_answer", "usage", "error_log", "stop")}, indent=1))
    assert report["usage"]["model"] != "extractive"
    assert report["status"] in ("answered", "partial")
    assert report["claims"]
    assert report["sources"]
    assert all(source["id"] in report["final_answer"] for source in report["sources"])
    assert not [failure for failure in report["error_log"] if failure["kind"] == UNREADABLE]
