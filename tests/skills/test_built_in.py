"""Every built-in skill over small documents, without a language model, and some with a scripted one."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from suffice import InputError, Report, research
from suffice.prompts.judging import CheckDraft, CheckDraftResponse, CheckedStatement, Evaluation
from suffice.prompts.planning import PlanResponse, ReflectionResponse
from suffice.prompts.writing import SynthesisResponse
from suffice.report.html import render_html
from suffice.report.markdown import render_markdown
from suffice.skills.cite import mark_inference
from suffice.skills.compare import parse_comparison
from suffice.testing import ScriptedModel, WordSearch, make_passage
from suffice.text.dates import find_dates
from suffice.text.parts import build_statement

TEXTS = {
    "bees.txt": "Karl von Frisch decoded the waggle dance of bees in 1927.\n"
    "In May 1973 Karl von Frisch received the Nobel Prize for the dance of bees.\n"
    "The dance of bees was first described in the early 1920s.\n",
    "hives.txt": "The Langstroth hive needs little space in the garden.\nThe Langstroth hive costs 200 euros in the shop.\n"
    "The Warre hive costs 150 euros in the shop.\n",
}


@pytest.fixture(autouse=True)
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("CACHE", "DATA", "CONFIG"):
        monkeypatch.setenv(f"SUFFICE_{name}_DIR", str(tmp_path / name.lower()))
    monkeypatch.setenv("SUFFICE_MODEL", "extractive")
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "docs"
    folder.mkdir()
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    return folder


def ask(question: str, docs: Path | None, alpha: float | None = 1.0, **options: Any) -> Report:
    return asyncio.run(research(question, docs=docs, alpha=alpha if docs else None, **options))


def names(report: Report) -> list[str]:
    return [skill["name"] for skill in report.metadata["skills"]]


def assert_supported(report: Report) -> None:
    assert report.claims
    assert all(claim.support == "supported" and claim.spans for claim in report.claims)


def test_deep_has_no_gate(docs: Path) -> None:
    report = ask("/deep Who decoded the waggle dance?", docs)
    assert report.task == "Who decoded the waggle dance?"
    assert names(report) == ["deep"]
    assert "worth" not in report.stop.expression
    assert report.stop.reason in ("planner_done", "read_all", "budget_rounds", "budget_queries")


def test_the_users_own_options_win_over_a_skill(docs: Path) -> None:
    report = ask("/deep Who decoded the waggle dance?", docs, stop="fixed(1)")
    assert len(report.stop.rounds) == 1


def test_automatic_skill_is_named_and_can_be_turned_off(docs: Path) -> None:
    question = "Give a comprehensive account of the waggle dance"
    assert ask(question, docs).metadata["skills"][0]["why"] == 'the question says "comprehensive"'
    assert not names(ask(question, docs, auto_skills=False))


def test_timeline_is_in_order(docs: Path) -> None:
    report = ask("/timeline dance of bees", docs)
    assert [row["date"] for row in report.metadata["timeline"]] == ["1920s", "1927", "1973-05"]
    assert report.final_answer.index("1920s") < report.final_answer.index("1927") < report.final_answer.index("1973-05")
    assert_supported(report)


def test_a_sentence_with_two_dates_stands_at_both(docs: Path) -> None:
    (docs / "shop.txt").write_text("The opening of the bee shop moves from 15 June 2026 to 20 July 2026.\n")
    report = ask("/timeline opening of the bee shop", docs)
    assert [entry["date"] for entry in report.metadata["timeline"]][-2:] == ["2026-06-15", "2026-07-20"]


def script(**answers: Any) -> ScriptedModel:
    usual = {"plan": [PlanResponse(())], "reflect": [ReflectionResponse(True, 0.9, (), ())]}
    return ScriptedModel(usual | {role: [answer] for role, answer in answers.items()})


def test_a_strong_models_own_account_is_the_timeline(docs: Path) -> None:
    told = "In 1927 Karl von Frisch decoded the waggle dance [1]. In May 1973 he received the Nobel Prize [1]."
    model = script(draft=SynthesisResponse(told, told))
    report = ask("/timeline Karl von Frisch and the dance of bees", docs, model=model, review=False)
    assert "### Timeline" not in report.final_answer
    assert [entry["date"] for entry in report.metadata["timeline"]] == ["1927", "1973-05"]


def test_a_strong_models_own_table_is_the_comparison_and_its_rows_are_checked(docs: Path) -> None:
    rows = "| Langstroth hive | It costs 200 euros [1]. |\n| Warre hive | It costs 150 euros [1]. |"
    table = f"Both cost money [1].\n\n| Hive | Price |\n|---|---|\n{rows}"
    model = script(draft=SynthesisResponse(table, ""))
    report = ask("/compare Langstroth hive vs Warre hive by price", docs, model=model, review=False)
    assert report.final_answer.count("| Hive | Price |") == 1
    assert "### Comparison" not in report.final_answer
    cells = report.metadata["comparison"]["cells"]
    assert "150 euros" in cells["Warre hive / Price"]
    assert any("Warre hive" in claim.text for claim in report.claims)


def test_quotations_that_a_skill_adds_are_not_sent_to_the_model(docs: Path) -> None:
    sentence = "The Langstroth hive needs little space in the garden [1]."
    model = script(draft=SynthesisResponse(sentence, sentence))
    ask("/compare Langstroth hive vs Warre hive by price and space", docs, model=model, review=False)
    [checked] = [prompt for prompt in model.prompts if isinstance(prompt, CheckDraft)]
    assert checked.statements == ("1. The Langstroth hive needs little space in the garden [1].",)


def test_sentences_of_mails_and_letters_are_dated_by_the_day_above_them(tmp_path: Path) -> None:
    header = "From: Anna Lind <anna@example.org>\nSubject: Repair\nDate: Tue, 04 Mar 2025 09:12:00 +0100"
    told = "The crew closed the bridge this morning. It rains."
    (tmp_path / "mail.eml").write_text(f"{header}\n\nDear Jo,\n\n{told}\n\nOn 12 May 2025 the bridge opens again.\n")
    letter = (
        "Holm Ltd\n12 Quay Street\nTarn, 10 March 2025\n\nDear Ms Lind,\n\nThe new beam of the bridge costs 12,400 EUR."
    )
    (tmp_path / "letter.txt").write_text(f"{letter}\n")
    rows = ask("/timeline bridge", tmp_path).metadata["timeline"]
    assert [(row["date"], row["text"]) for row in rows] == [
        ("2025-03-04", "The crew closed the bridge this morning."),
        ("2025-03-10", "The new beam of the bridge costs 12,400 EUR."),
        ("2025-05-12", "On 12 May 2025 the bridge opens again."),
    ]


def test_the_date_of_an_event_is_its_own_and_not_that_of_its_document(tmp_path: Path) -> None:
    minutes = "# Minutes of 12 March 2024\n\nThe council chose a design for the footbridge. It met at nine."
    (tmp_path / "minutes.md").write_text(f"{minutes} Work is to begin in September 2024.\n")
    log = "## 9 September 2024\n\nThe site was fenced.\n\n## 2 October 2024\n\nConcrete was poured."
    (tmp_path / "log.md").write_text(f"# Log of the footbridge\n\n{log}\n")
    (tmp_path / "bills.csv").write_text("date,what,EUR\n2024-10-30,Footbridge,900\n2024-11-02,Summer fair,31\n")
    report = ask("/timeline footbridge", tmp_path)
    assert [(row["date"], row["dated_by"]) for row in report.metadata["timeline"]] == [
        ("2024-03-12", "document"),
        ("2024-09", "sentence"),
        ("2024-09-09", "heading"),
        ("2024-10-02", "heading"),
        ("2024-10-30", "sentence"),
    ]
    assert "- **document of 2024-03-12**: The council chose a design" in report.final_answer
    assert_supported(report)


def test_the_claim_of_a_row_is_the_row(tmp_path: Path) -> None:
    table = "# Works on the quay\n\n| Day | Works |\n|---|---|\n| 4 May 2023 | The quay was dredged |\n"
    (tmp_path / "quay.md").write_text(table)
    report = ask("/timeline quay", tmp_path)
    assert any("dredged" in claim.text for claim in report.claims)
    assert not any(claim.text.startswith("| Day") for claim in report.claims)


def test_timeline_says_that_the_sources_have_no_dates(tmp_path: Path) -> None:
    (tmp_path / "canal.md").write_text(
        "# Tarn canal\n\nThe Tarn canal was dug by prisoners of war. It has 1024 rings.\n"
    )
    (tmp_path / "mill.md").write_text("# Harrow mill\n\nThe mill was built in 1802.\n")
    report = ask("/timeline Tarn canal", tmp_path)
    assert report.metadata["timeline"] == []
    assert "there is no timeline" in render_markdown(report)
    assert "prisoners of war" in report.final_answer
    assert "1802" not in report.final_answer
    (tmp_path / "canal.md").write_text("# Tarn canal\n\nIt opened in 1797. Prisoners of war dug it.\n")
    assert [row["date"] for row in ask("/timeline Tarn canal", tmp_path).metadata["timeline"]] == ["1797"]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("It came on 2020-03-01.", "2020-03-01"),
        ("It came on the 3rd of May, 1998.", "1998-05-03"),
        ("It came on Sept. 4, 2001.", "2001-09-04"),
        ("It needs 2048 bytes of 1024 pages.", "None"),
        ("It was dug between 1791 and 1797.", "1791"),
        ("Bought in March 1843, it was sold on 3 May 1851.", "1843-03"),
        ("On 12/07/1952 the last barge passed.", "1952"),
    ],
)
def test_dates(text: str, date: str) -> None:
    assert str(next(iter(find_dates(text)), None)) == date


def test_compare_fills_a_table_and_leaves_gaps_open(docs: Path) -> None:
    report = ask("/compare Langstroth hive vs Warre hive by costs and space", docs)
    rows = [line for line in report.final_answer.splitlines() if line.startswith("|")]
    assert rows[0] == "|  | costs | space |"
    assert "200 euros" in rows[2]
    assert "little space" in rows[2]
    assert "150 euros" in rows[3]
    assert rows[3].endswith("| *nothing found* |"), "an empty cell says that it is empty"


def test_compare_needs_two_things(docs: Path) -> None:
    assert parse_comparison("Compare A, B and C in terms of price").alternatives == ("A", "B", "C")
    with pytest.raises(InputError, match="two things"):
        ask("/compare hives", docs)


def test_check_judges_the_given_text(docs: Path) -> None:
    text = "Karl von Frisch decoded the waggle dance of bees in 1927. Ada Lovelace decoded the waggle dance of bees."
    report = ask(f"/check {text}", docs)
    assert report.claims[0].support == "supported"
    assert report.claims[1].support in ("contradicted", "unsupported")
    assert "Ada Lovelace" in report.final_answer
    assert "- ○ **unsupported**" in report.final_answer or "- ✗ **contradicted**" in report.final_answer


def test_check_asks_a_strong_model_about_all_claims_at_once(docs: Path) -> None:
    words = "Karl von Frisch decoded the waggle dance of bees in 1927."
    answer = CheckDraftResponse(
        (CheckedStatement(1, "contradicted", "[1]", words), CheckedStatement(2, "stated", "[1]", words))
    )
    model = script(check_draft=answer)
    text = "Ada Lovelace decoded the waggle dance of bees. It was decoded in 1927 by Karl von Frisch."
    report = ask(f"/check {text}", docs, model=model)
    assert [claim.support for claim in report.claims] == ["contradicted", "supported"]
    assert [prompt.role for prompt in model.prompts].count("check_draft") == 1


def test_a_skill_instead_of_the_search_reports_no_empty_rounds(docs: Path) -> None:
    text = render_markdown(ask("/check Karl von Frisch decoded the waggle dance of bees in 1927.", docs))
    assert "/check cites 1 source, without rounds of search" in text
    assert "0 rounds" not in text
    assert "0 queries" not in text


def test_check_says_that_no_source_is_near_to_a_claim(docs: Path) -> None:
    report = ask("/check Penguins sleep on ice.", docs)
    assert report.status == "answered"
    assert report.sources == ()
    assert "Claims of the text: 1 unsupported" in report.final_answer
    assert "(no source says it): Penguins sleep on ice." in report.final_answer


def test_deep_answers_both_parts_of_a_question() -> None:
    contracts = Path(__file__).parents[2] / "examples/documents/contracts"
    for question in (
        "What are the notice periods and the fees?",
        "What availability does the provider guarantee, and by how much may the fee be raised?",
    ):
        report = ask(f"/deep {question}", contracts, alpha=None)
        assert report.status == "answered"
        assert (
            "The monthly fee is 480 EUR. It may be raised once a year, by at most 4 %"
            in report.final_answer.replace("**", "")
        )
        assert "notice period" in report.final_answer or "99.5 %" in report.final_answer


def test_recall_finds_a_run_by_a_fact(docs: Path) -> None:
    ask("Who decoded the waggle dance?", docs, keep=True)
    for _ in range(2):
        report = ask("/recall Karl von Frisch 1927", None, keep=True)
        assert report.metadata["recalled"] == ["Who decoded the waggle dance?"]


def test_recall_searches_nothing(docs: Path) -> None:
    ask("Who decoded the waggle dance?", docs, keep=True)
    report = ask("/recall Who decoded the waggle dance?", None, keep=True)
    assert report.final_answer.count("Karl von Frisch decoded the waggle dance") == 1
    assert report.usage.searches == 0
    assert [source.location.rpartition("/")[2] for source in report.sources] == ["bees.txt:1-3"]
    assert ask("/recall What is a submarine?", None, keep=True).status == "no_evidence"


def test_recall_keeps_every_source_of_a_fact(docs: Path) -> None:
    sentence = "Karl von Frisch decoded the waggle dance in 1927, and the Warre hive costs 150 euros [1] [2]."
    joined = CheckedStatement(1, "joined", "[1]", "Karl von Frisch decoded the waggle dance of bees in 1927.")
    model = script(draft=SynthesisResponse(sentence, sentence), check_draft=CheckDraftResponse((joined,)))
    ask("Who decoded the waggle dance, and what does a hive cost?", docs, model=model, review=False, keep=True)
    report = ask("/recall Who decoded the waggle dance?", None, keep=True)
    assert {Path(source.location.partition(":")[0]).name for source in report.sources} == {"bees.txt", "hives.txt"}
    assert report.claims[0].citations == ("[1]", "[2]")


def test_recall_needs_stored_runs(docs: Path) -> None:
    with pytest.raises(InputError, match="stores nothing"):
        ask("/recall Who decoded it?", None)


def test_email_and_panel_and_cite(docs: Path) -> None:
    report = ask("/email /panel /cite Who decoded the waggle dance?", docs)
    assert "**Subject:** Who decoded the waggle dance\n\nHello," in report.final_answer
    assert report.final_answer.rstrip().endswith("Kind regards")
    assert [failure.message for failure in report.error_log if failure.message.startswith("/panel")]
    assert report.metadata["inferences"] == 0
    assert "#" not in report.final_answer.replace("bees.txt#", "")
    assert "Frisch" in report.summary


def test_a_strong_model_writes_the_whole_mail(docs: Path) -> None:
    lines = (
        "**Subject:** The dance is decoded",
        "Dear Ms Lind,",
        "Karl von Frisch decoded it in 1927 [1].",
        "Yours\n\nAda",
    )
    mail = "\n\n".join(lines)
    model = script(draft=SynthesisResponse(mail, mail))
    report = ask("/email Who decoded the waggle dance of bees?", docs, model=model, review=False)
    assert report.final_answer.startswith("**Subject:** The dance is decoded\n\nDear Ms Lind,\n\nKarl von Frisch")
    assert "Hello" not in report.final_answer
    assert "Kind regards" not in report.final_answer
    assert report.summary == "Karl von Frisch decoded it in 1927 [1]."


def test_inference_is_marked() -> None:
    marks = [mark_inference(build_statement(text)).mark for text in ("Bees dance [1].", "So they talk.", "Cost:")]
    assert marks == ["", "*(inference)*", ""]


def test_github_reads_readme_structure_and_issues(tmp_path: Path) -> None:
    repository = tmp_path / "hive"
    (repository / "src").mkdir(parents=True)
    (repository / "README.md").write_text("# Hive\n\nHive counts the bees that enter a wooden box.\n")
    (repository / "src" / "count.py").write_text('"""Count bees at the door of the box."""\n')
    issue = {"number": 7, "title": "Counting stops at night", "state": "OPEN", "body": "The box is dark.", "labels": []}
    (repository / "issues.json").write_text(json.dumps([issue]))
    report = ask("/github Why does counting stop?", repository)
    assert "Hive counts the bees that enter a wooden box." in report.final_answer
    assert "has 3 readable files" in report.final_answer
    assert "Issue 7 (open): Counting stops at night" in report.final_answer
    assert report.metadata["github"]["issues"] == {"open": 1}
    assert_supported(report)
    report = ask("/github What does Hive count?", repository)
    assert report.excerpts
    answer = render_html(report).partition('id="answer"')[2].partition("</section>")[0]
    assert "The repository</h" in answer, "below the excerpts"


def test_user_skill_reaches_the_writer_and_rewrites(tmp_path: Path) -> None:
    for name, more in (("plainly", ""), ("verse", "metadata:\n  suffice-hooks: after_writing\n")):
        path = tmp_path / "config" / "skills" / name / "SKILL.md"
        path.parent.mkdir(parents=True)
        path.write_text(f"---\nname: {name}\ndescription: x\n{more}---\nWrite as for {name}.")
    sentence = "Karl von Frisch decoded the waggle dance in 1927 [1]."
    model = ScriptedModel(
        {
            "plan": [PlanResponse((), complexity="deep")],
            "reflect": [ReflectionResponse(True, 0.9, (), ())],
            "draft": [SynthesisResponse(sentence, sentence)],
            "rewrite": [SynthesisResponse(f"In verse: {sentence} The moon is made of cheese [1].", sentence)],
        }
    )
    search = WordSearch([make_passage("a", "Karl von Frisch decoded the waggle dance in 1927.", "Bees")])
    report = ask("/plainly /verse Who decoded the waggle dance?", None, search=search, model=model, review=False)
    [draft] = [prompt for prompt in model.prompts if prompt.role == "draft"]
    assert "Write as for plainly." in draft.render()
    assert "Write as for verse." not in draft.render()
    assert "Karl von Frisch decoded the waggle dance in 1927" in report.final_answer
    assert "cheese" not in report.final_answer


def test_planner_and_reviewer_learn_what_the_skill_asks_for(docs: Path) -> None:
    sentence = "The Langstroth hive costs 200 euros in the shop [1]."
    scores = Evaluation(9, 9, 9, 9, 9, 9)
    model = script(draft=SynthesisResponse(sentence, sentence), evaluate=scores)
    ask("/compare Langstroth hive vs Warre hive by price", docs, model=model)
    rendered = {prompt.role: prompt.render() for prompt in model.prompts}
    assert "a column for each criterion" in rendered["plan"]
    assert "a column for each criterion" in rendered["evaluate"]
    model = script(draft=SynthesisResponse(sentence, sentence), evaluate=scores)
    ask("What does the Langstroth hive cost?", docs, model=model)
    rendered = {prompt.role: prompt.render() for prompt in model.prompts}
    assert "instruction" not in rendered["plan"], "without a skill nothing is said of one"


def test_report_says_which_skills_were_active_and_why(docs: Path) -> None:
    report = ask("Give a comprehensive account of the waggle dance", docs)
    expected = 'Skills: /deep, because the question says "comprehensive"'
    assert expected in render_markdown(report)
    assert "Skills: /deep" in render_html(report)
    assert "Skills:" not in render_markdown(ask("Who decoded the waggle dance?", docs))


def test_messages_of_a_chat_are_dated_by_their_time(docs: Path) -> None:
    lines = (
        "[2025-09-03, 10:30] Mira: The dance class moves to Monday.",
        "[2025-09-01, 09:12] Ade: The dance class is off.",
    )
    (docs / "chat.txt").write_text("\n".join((*lines, "[2025-09-04, 08:00] Ade: Then all of us will come.")))
    report = ask("/timeline dance class", docs)
    dates = [row["date"] for row in report.metadata["timeline"]]
    assert dates[-2:] == ["2025-09-01", "2025-09-03"]
