"""The examples of real jobs run offline and find what they are meant to find."""

import os
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (
            "contracts",
            ["notice period of three months", "notice period of four weeks", "480 EUR", "690 EUR", "2,150 EUR"],
        ),
        ("code_base", ["allow_nan", "Stopped after"]),
        ("papers", ["Sato (2021)", "61 % more species", "- Limits: “", "Only allotments with water were included."]),
        ("chat_log", ["because of the payment certificate", "takes 6 minutes"]),
    ],
)
def test_an_example_finds_its_answers(name: str, found: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")
    out = capsys.readouterr().out
    for text in found:
        assert text in out


def test_the_build_step_finds_the_wrong_sentence() -> None:
    environment = {**os.environ, "SUFFICE": str(Path(sys.executable).parent / "suffice")}
    command = ["sh", str(EXAMPLES / "check_docs.sh")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "3 supported · 1 contradicted" in done.stdout
