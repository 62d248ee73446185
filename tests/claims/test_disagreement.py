"""Sources that disagree about one thing are named; the values of different things are no disagreement."""

import asyncio
from pathlib import Path

import pytest

from suffice import research

FEE, PERIOD, OPENS = "The monthly fee is {} EUR.", "The notice period is {} months.", "It opens at {}:00 on weekdays."
ASKED = {
    FEE: ("What does Tarvia cost?", ("Tarvia brochure", 40), ("Tarvia price list", 45), ("Olmen brochure", 55)),
    PERIOD: (
        "How long is the notice period of the hosting contract?",
        ("Hosting contract with Nordlicht", "three"),
        ("Summary of the hosting contract with Nordlicht", "six"),
        ("Cleaning contract with Brightside", "two"),
    ),
    OPENS: (
        "When does the Tarn library open?",
        ("Tarn library", 9),
        ("Tarn library, notice", 10),
        ("Harrow museum", 10),
    ),
}


def count_disagreements(folder: Path, question: str, text: str, *told: tuple[str, object]) -> int:
    for number, (title, value) in enumerate(told):
        more = "The document was last printed by the office. It has two pages and a cover."
        (folder / f"{number}.md").write_text(f"# {title}\n\n{text.format(value)} {more}\n")
    return len(asyncio.run(research(question, docs=folder, model="extractive")).disagreements)


@pytest.mark.parametrize("text", ASKED)
def test_two_values_for_one_thing_disagree(text: str, tmp_path: Path) -> None:
    question, one, other, _ = ASKED[text]
    assert count_disagreements(tmp_path, question, text, one, other) == 1


@pytest.mark.parametrize("text", ASKED)
def test_values_of_different_things_do_not_disagree_although_only_the_titles_tell(text: str, tmp_path: Path) -> None:
    question, one, _, other = ASKED[text]
    assert count_disagreements(tmp_path, question, text, one, other) == 0
