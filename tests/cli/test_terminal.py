"""The report as a person at a terminal sees it."""

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest

from suffice import research
from suffice.cli.terminal import print_report


def test_every_part_of_the_report_is_printed(
    docs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    report = asyncio.run(research("Who decoded the waggle dance?", docs=docs, model="extractive", alpha=1))
    report = replace(
        report,
        recommendations=("Visit a hive [1].",),
        open_questions=("Left out, because no source supports it: pigs fly",),
        usage=replace(report.usage, estimated_calls=2),
    )
    monkeypatch.setenv("FORCE_COLOR", "1")  # Makes the output a terminal; a pipe would get Markdown.
    print_report(report)
    printed = capsys.readouterr().out
    for text in (
        "Karl von Frisch",
        "Visit a hive",
        "Open questions",
        "pigs fly",
        "estimated for 2 calls",
        "Why it stopped",
    ):
        assert text in printed
