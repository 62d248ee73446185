"""Values of several sources are all shown, the one with the later date first."""

import asyncio
from pathlib import Path

import pytest

from suffice import research


@pytest.mark.parametrize(
    ("titles", "dates"),
    [
        (("Note of 3 June 2024", "Note of 1 July 2024"), ("2024-07-01", "2024-06-03")),
        (("Ardeck, 2010", "Ardeck, 2020"), ("2020", "2010")),
    ],
)
def test_both_values_are_shown_the_newest_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, titles: tuple[str, str], dates: tuple[str, str]
) -> None:
    for name in ("CACHE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"SUFFICE_{name}_DIR", str(tmp_path / name.lower()))
    docs = tmp_path / "docs"
    docs.mkdir()
    for number, (title, value) in enumerate(zip(titles, ("28,000", "33,000"), strict=True)):
        (docs / f"{number}.md").write_text(f"# {title}\n\nArdeck has {value} inhabitants.\n")
    report = asyncio.run(research("How many inhabitants does Ardeck have?", docs=docs, model="extractive"))
    (disagreement,) = report.disagreements
    assert disagreement.dates == dates
    assert "33,000" in disagreement.one.quote
    assert "28,000" in disagreement.other.quote


def test_the_newer_version_of_a_document_comes_first_also_where_the_older_one_ranks_higher(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("CACHE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"SUFFICE_{name}_DIR", str(tmp_path / name.lower()))
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "may.md").write_text("# Meeting of the club, 4 May 2025\n\nThe new pool opens on 3 June.\n")
    (docs / "june.md").write_text("# Meeting of the club, 2 June 2025\n\nThe pool is delayed: it opens on 9 August.\n")
    report = asyncio.run(research("When does the new pool open?", docs=docs, model="extractive"))
    assert [source.title for source in report.sources] == [
        "Meeting of the club, 2 June 2025",
        "Meeting of the club, 4 May 2025",
    ]
