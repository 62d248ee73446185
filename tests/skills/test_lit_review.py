"""``/lit-review`` over small papers: collected, marked, grouped by paper, cited and checked."""

import asyncio
from pathlib import Path

import pytest

from suffice import InputError, Report, research
from suffice.prompts.planning import PlanResponse, ReflectionResponse
from suffice.prompts.writing import DraftAnswer, SynthesisResponse
from suffice.testing import ScriptedModel

FILLER = (
    "Honey bees have been kept in hives of wood, straw and clay for thousands of years and are still not well understood. "
    + "The method was an experiment with 40 hives and a sample of 1200 bees measured in 2019. " * 8
)
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
        title, _, told = text.partition("\n\n")
        (folder / name).write_text(f"{title}\n\n{FILLER}{told}")
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
    assert "A note on trains" in answer.split("## Left out")[1]
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


def test_a_short_paper_about_the_topic_stays(papers: Path) -> None:
    (papers / "short.txt").write_text("Honey bees in towns\n\n" + "Honey bees of towns fly to roof gardens. " * 6)
    rows = {row["title"]: row for row in review(papers).metadata["lit_review"]["papers"]}
    assert rows["Honey bees in towns"]["accepted"]


def test_authors_and_year_stand_above_the_first_sentence(papers: Path) -> None:
    head = (
        f"# Honey bees in towns\n\nAnna Lind1 and J. Okafor2\n\n1 Institute {'of Meadows ' * 16}\n\nBee Letters, 2017"
    )
    (papers / "towns.md").write_text(f"{head}\n\n## Abstract\n\n{PAPERS['mites.txt']}{FILLER}")
    report = review(papers)
    [row] = [row for row in report.metadata["lit_review"]["papers"] if row["title"] == "Honey bees in towns"]
    assert (row["authors"], row["year"]) == (["Anna Lind", "J. Okafor"], 2017)
    assert "| Honey bees in towns | Anna Lind; J. Okafor | 2017 |" in report.final_answer


def test_a_strong_model_reads_all_papers_at_once_and_writes_the_table(papers: Path) -> None:
    rows = "| Mites in hives of honey bees | *not stated* | Mites weaken hives of honey bees in winter [1]. |"
    text = f"Mites weaken hives in winter [1].\n\n| Paper | Year | Result |\n|---|---|---|\n{rows}"
    answers = {
        "plan": [PlanResponse(())],
        "reflect": [ReflectionResponse(True, 0.9, (), ())],
        "draft": [SynthesisResponse(text)],
    }
    model = ScriptedModel(answers)
    report = asyncio.run(research("/lit-review honey bees", docs=papers, model=model, alpha=1.0, review=False))
    [draft] = [prompt for prompt in model.prompts if isinstance(prompt, DraftAnswer)]
    assert "a row for each paper" in draft.render()
    assert len(model.prompts) < 6
    assert report.metadata["lit_review"]["papers"] == [
        {
            "paper": "Mites in hives of honey bees",
            "year": "not stated",
            "result": "Mites weaken hives of honey bees in winter.",
        }
    ]
    assert "## Papers" not in report.final_answer
    assert "- dance.txt" in report.final_answer.split("## Not cited")[1], "no paper is passed over in silence"


def test_a_small_model_is_not_asked(papers: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SUFFICE_WRITER", "sentence")
    model = ScriptedModel({})
    assert "## What several papers say" in review(papers, model).final_answer
    assert not model.prompts


def test_folder_without_papers_is_refused(tmp_path: Path, papers: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "data.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="no papers"):
        review(tmp_path / "empty")


def test_sentences_under_limitations_are_limits(papers: Path) -> None:
    for name, head, end in (
        ("a.md", "## Limits", ""),
        ("b.txt", "6 Limitations", "\n\n7 Closing words\n\nWe conclude that bees can be kept in the mountains."),
    ):
        text = (papers / "mites.txt").read_text().replace("Further research on mites in hives is needed. ", "")
        below = f"{head}\n\nAll hives of honey bees {name[0]} lay below 400 metres.{end}"
        (papers / name).write_text(f"# Hives {name[0]} of honey bees\n\n## Abstract\n\n{text}\n\n{below}\n")
    report = review(papers)
    limits = [line for line in report.final_answer.splitlines() if line.startswith("- Limits:")]
    assert any("hives of honey bees a lay below" in line for line in limits)
    assert any("hives of honey bees b lay below" in line for line in limits)
    assert not any("in the mountains" in line for line in limits)
    assert report.usage.cost_usd == 0.0


ORDER = """# Tests that depend on their order

R. Castellan and M. Oyelaran, 2019

## Abstract

A test is flaky if it passes and fails on the same code. Developers lose trust in a test suite that fails for no reason. The
suites of 72 Python projects were run two hundred times each in random order on identical machines. Of 1,106 flaky tests, 59 %
depended on order. Projects without a working build were skipped, which may favour well-kept ones. Tests that need a network
could not be run. Test suites should be run in random order before every release.
"""


def test_roles_follow_the_order_of_a_paper_and_not_its_vocabulary(tmp_path: Path, papers: Path) -> None:
    """All of these sentences speak of failure and doubt, as limits do; a conclusion says what ought to be done."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "order.md").write_text(ORDER)
    report = asyncio.run(research("/lit-review flaky tests", docs=tmp_path / "tests", model="extractive"))
    lines = [line for line in report.final_answer.splitlines() if line.startswith("- ")]
    roles = ("Method", "Result", "Limits", "Conclusion")
    said = {role: [line for line in lines if line.startswith(f"- {role}:")] for role in roles}
    assert "The suites of 72 Python projects were run" in said["Method"][0]
    assert "Of 1,106 flaky tests, 59 % depended on order" in said["Result"][0]
    assert "should be run in random order" in said["Conclusion"][0]
    assert any("could not be run" in line for line in said["Limits"])
    assert not any("A test is flaky" in line or "lose trust" in line for line in lines)
