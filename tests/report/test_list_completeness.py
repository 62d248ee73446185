"""A list says how many passages that belong to it were found, and how many more are likely."""

import asyncio
import re
from pathlib import Path

import pytest

from suffice import research
from suffice.report.html import render_html
from suffice.report.markdown import render_markdown
from suffice.types import Report

OTHERS = ("The canteen serves soup in room", "The choir meets on Tuesday in room", "The lift was mended in room")
MORE = re.compile(r"(\d+) passages on it are cited, about (\d+) more (?:is|are) likely \(up to (\d+)\)\.")


def ask(folder: Path, items: int, **options: int) -> Report:
    folder.mkdir()
    for n in range(items):
        text = f"# The mill of Dorf {n}\n\nThe mill of Dorf {n} runs on solar power since {1960 + n}.\n"
        (folder / f"mill-{n}.md").write_text(text, encoding="utf-8")
    for n in range(90):
        text = f"# House notes {n}\n\n{OTHERS[n % 3]} {n}. Visitors sign the book at the door.\n"
        (folder / f"other-{n}.md").write_text(text, encoding="utf-8")
    run = research("Which mills run on solar power?", docs=folder, model="extractive", **options)  # type: ignore[arg-type]
    return asyncio.run(run)


@pytest.mark.parametrize("items", [6, 24])
def test_the_estimate_is_near_the_true_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, items: int) -> None:
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "cache"))
    report = ask(tmp_path / "docs", items)
    assert report.metadata["breadth"] == "list"
    shown = MORE.search(render_markdown(report))
    assert shown is not None
    found, likely, most = map(int, shown.groups())
    assert found == len({source.location for source in report.sources}) == items
    assert items <= found + likely <= 1.25 * items
    assert found + likely <= found + most <= 2 * items
    assert shown[0] in render_html(report)


def test_a_search_that_was_cut_short_leaves_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "cache"))
    report = ask(tmp_path / "docs", 60, max_rounds=1)
    shown = MORE.search(render_markdown(report))
    assert shown is not None
    found, likely, most = map(int, shown.groups())
    assert found == 40
    assert likely > 4
    assert found + most >= 60
