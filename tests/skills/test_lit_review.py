"""``/lit-review`` over small papers: collected, marked, grouped by paper, cited and checked."""

import asyncio
from pathlib import Path

import pytest

from suffice import InputError, Report, research
from suffice.prompts.judging import GradePaperResponse
from suffice.prompts.writing import SynthesisResponse
from suffice.skills.lit_review.reading import is_accepted
from suffice.testing import ScriptedModel

FILLER = "The method was an experiment with 40 hives and a sample of 1200 bees measured in 2019. " * 8
PAPERS = {
    "dance.txt": "The waggle dance of honey bees\n\nThe waggle dance of honey bees points to rich flower meadows. "
    "We show that honey bees follow the waggle dance to flower meadows within 5 kilometres. "
    "It remains unclear how bees correct the dance for wind. ",
    "flowers.txt": "Flower meadows and honey bees\n\nThe waggle dance of honey bees does not point to rich flower meadows. "
    "We show that honey bees prefer flower meadows with clover. ",
    "mites.txt": "Mites in hives of honey bees\n\nWe find that mites weaken hives of honey bees in winter. "
    "Further research on mites in hives is needed. ",
    "winter.txt": "Winter losses of honey bees\n\nWe find that mites weaken hives of honey bees in winter and spring. "
    "Winter losses of hives reached 30 percent. ",
}
NOTE = "A note on trains\n\nTrains run on rails between towns. " * 10
BIB = """@article{dance, title = {The waggle dance of honey {Bees}}, author = {Frisch, Karl and Lindauer, Martin}, year = 1967}
@article{only, title = {Sound signals of honey bees}, author = {Kirchner, W}, year = {1993},
  abstract = {We show that honey bees hear airborne sound signals of 250 hertz in the dark hive. Honey bees learned it in an
  experiment with 20 hives and a sample of 300 bees. The method used a model bee that moved and hummed like a dancer.}}
@article{broken, title = {"""


@pytest.fixture
def papers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CACHE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"SUFFICE_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "papers"
    folder.mkdir()
    for name, text in PAPERS.items():
        (folder / name).write_text(text + FILLER)
    (folder / "trains.txt").write_text(NOTE)
    (folder / "library.bib").write_text(BIB)
    return folder


def review(papers: Path, model: object = "extractive", *, keep: bool = False) -> Report:
    return asyncio.run(
        research("/lit-review honey bees", docs=papers, alpha=1.0, model=model, keep=keep)  # type: ignore[arg-type]
    )


def test_review_is_cited_and_checked(papers: Path) -> None:
    report = review(papers)
    answer, rows = report.final_answer, {row["title"]: row for row in report.metadata["lit_review"]["papers"]}
    assert report.claims
    assert all(claim.support == "supported" for claim in report.claims)
    assert rows["The waggle dance of honey Bees"]["authors"] == ["Frisch, Karl", "Lindauer, Martin"]
    assert rows["Sound signals of honey bees"]["year"] == 1993
    assert not rows["A note on trains"]["accepted"], list(rows)
    assert "A note on trains" in answer.split("## Left out by the readers")[1]
    assert rows["Mites in hives of honey bees"]["year"] is None, "2019 is the year of a measurement"
    sections = {part.split("\n")[0]: part for part in answer.split("\n## ")}
    dance = sections["Frisch and Lindauer (1967)"]
    assert "Method: “The method was an experiment with 40 hives" in dance
    assert "Result: “We show that honey bees follow the waggle dance" in dance
    assert "Limits: “It remains unclear how bees correct the dance" in dance
    assert "Result: “Winter losses of hives reached 30 percent" in sections["Winter losses of honey bees"]
    together = sections["What several papers say"].splitlines()
    assert any("in winter.”" in line and "in winter and spring.”" in line for line in together)
    assert any("an entry cannot be read" in failure.message for failure in report.error_log)


def test_five_readers_of_a_model_mark(papers: Path) -> None:
    model = ScriptedModel({"grade_paper": [GradePaperResponse(4)], "self_test": [ValueError]})
    report = review(papers, model)
    asked = sum(prompt.role == "grade_paper" for prompt in model.prompts)
    assert asked == 5 * len(report.metadata["lit_review"]["papers"])
    assert report.metadata["lit_review"]["papers"][0]["marks"]["method"] == 4


def test_a_model_writes_the_synthesis_and_is_checked(papers: Path) -> None:
    text = "Mites weaken hives of honey bees in winter [3]. Hives are built of gold [3]."
    script = {"grade_paper": [GradePaperResponse(5)], "rewrite": [SynthesisResponse(text)], "self_test": [ValueError]}
    report = review(papers, ScriptedModel(script))
    synthesis = report.final_answer.split("## Papers")[0]
    assert "Mites weaken hives" in synthesis
    assert "gold" not in synthesis


def test_rule_of_the_readers() -> None:
    assert is_accepted({"a": 3, "b": 4, "c": 3.5, "d": 3.5, "e": 3.5})
    assert not is_accepted({"a": 1.9, "b": 5, "c": 5, "d": 5, "e": 5})
    assert not is_accepted({"a": 3, "b": 3, "c": 3, "d": 3, "e": 5})


def test_folder_without_papers_is_refused(tmp_path: Path, papers: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "data.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="no papers"):
        review(tmp_path / "empty")


def test_sentences_under_limitations_are_limits(papers: Path) -> None:
    for name, head, end in (
        ("a.md", "## Limits", ""),
        ("b.txt", "6 Limitations", "\n\n7 Closing words\n\nBees are well."),
    ):
        text = (papers / "mites.txt").read_text().replace("Further research on mites in hives is needed. ", "")
        below = f"{head}\n\nAll hives of honey bees {name[0]} lay below 400 metres.{end}"
        (papers / name).write_text(f"# Hives {name[0]} of honey bees\n\n## Abstract\n\n{text}\n\n{below}\n")
    report = review(papers)
    limits = [line for line in report.final_answer.splitlines() if line.startswith("- Limits:")]
    assert any("hives of honey bees a lay below" in line for line in limits)
    assert any("hives of honey bees b lay below" in line for line in limits)
    assert not any("Bees are well" in line for line in limits)
    assert report.usage.cost_usd == 0.0
