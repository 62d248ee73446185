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


PARAPHRASED = {
    "When was the Orla viaduct finished?": (
        "The Orla viaduct was finished in 1884.",
        "Trains have crossed the Orla since {}, the year in which builders completed the viaduct.",
        ("1891", "1884"),
    ),
    "How much does the Taurus crate weigh?": (
        "The Taurus crate weighs 18 kilograms.",
        "The weight of a Taurus crate comes to {}.",
        ("25 kilograms", "18,000 grams"),
    ),
    "Who designed the Halvard lighthouse?": (
        "The Halvard lighthouse was designed by Ingrid Moe.",
        "The architect of the lighthouse at Halvard was {}, who also drew the harbour office.",
        ("Per Solberg", "Ingrid Moe"),
    ),
}


@pytest.mark.attack("false sentences in other words")
@pytest.mark.parametrize("question", PARAPHRASED)
def test_another_answer_in_other_words_disagrees_and_the_same_one_does_not(question: str, tmp_path: Path) -> None:
    first, second, values = PARAPHRASED[question]
    (tmp_path / "first.md").write_text(f"# Notes of the office\n\n{first}\n")
    counts = []
    for value in values:
        (tmp_path / "second.md").write_text(f"# Guide\n\n{second.format(value)}\n")
        counts.append(len(asyncio.run(research(question, docs=tmp_path, model="extractive")).disagreements))
    assert counts == [1, 0]
