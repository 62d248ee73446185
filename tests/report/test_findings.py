"""Findings of a broad question: which sentences are quoted, how the same fact is joined, and the report made of them."""

from dataclasses import replace

import pytest

from suffice.answers import Draft, FindingList, Quotation, SectionHeading
from suffice.models.embeddings.static import embed_static
from suffice.report.findings import find_findings, list_parts, sort_by_aspect
from suffice.report.survey import FIRST_HEADING, MISSING_HEADING, write_survey
from suffice.text.parts import render_parts
from suffice.types import Passage, Place

QUESTION = "How can Kolbe Mills use solar power to improve grain quality?"


def make_passage(text: str, path: str, kind: str = "text", section: str | None = None, title: str = "") -> Passage:
    place = Place(path, section=section)
    return Passage(f"{place}#{hash(text)}", text, title or path, place, kind)


def find(*texts: str, question: str = QUESTION) -> list[str]:
    files = [[make_passage(text, f"{number}.md")] for number, text in enumerate(texts, 1)]
    return [finding.text.text for finding in find_findings(question, files, {}, embed_static)]


def make_sheet(rows: list[tuple[str, str]]) -> list[Passage]:
    return [
        make_passage(
            f"Quarter: {quarter}\nSolar_Share: {share}",
            "Kolbe_Power.xlsx",
            "xlsx",
            f"sheet Power row {number}",
            "Kolbe_Power.xlsx, sheet Power",
        )
        for number, (quarter, share) in enumerate(rows, 2)
    ]


def render(draft: Draft) -> str:
    numbers: dict[str, str] = {}
    return render_parts(draft.parts, lambda one: numbers.setdefault(one.passage.place.path, f"[{len(numbers) + 1}]"))


def test_a_sentence_with_figures_comes_before_one_that_repeats_the_question() -> None:
    found = find(
        "This report explores how Kolbe Mills can use solar power to improve grain quality. "
        "Since 2021 our solar dryers cut spoiled grain by 14 % and saved 80,000 euros a year. Hello, thanks for coming."
    )
    assert "14 %" in found[0]
    assert not any("This report" in text for text in found[:1])


def test_a_number_of_the_question_is_no_news() -> None:
    found = find(
        "Rule 204 matters for the grain quality of Kolbe Mills. We lost 3 % of the grain of Kolbe Mills to mould.",
        question="How does rule 204 change grain quality at Kolbe Mills?",
    )
    assert "3 %" in found[0]


def test_the_number_of_a_note_is_not_a_figure() -> None:
    found = find(
        "4 The grain of Kolbe Mills is dried outside. The solar dryers of Kolbe Mills save 40 EUR of grain a day."
    )
    assert "40 EUR" in found[0]


def test_a_sentence_that_refers_back_is_quoted_with_the_one_before() -> None:
    found = find("The dryers cut spoiled grain by 14 %. This saved Kolbe Mills 80,000 euros in solar power costs.")
    assert any("14 %" in text and "80,000" in text for text in found)
    assert len(found) == 1, "the first sentence is not quoted twice"


def test_a_short_sentence_is_quoted_with_the_one_before() -> None:
    text = "The new hall was opened in spring. Solar dryers saved 80,000 euros."
    assert find(text) == [text]


def test_a_line_that_is_no_sentence_is_no_finding() -> None:
    found = find(
        "Solar power and grain quality at Kolbe Mills, counted by 12 millers over 9 weeks\n\n"
        "Dear Pavel and Ines,\n\nOur solar dryers cut spoiled grain by 14 %. And the second dryer will be"
    )
    assert found == ["Our solar dryers cut spoiled grain by 14 %."]
    assert find("solar dryers at Kolbe Mills cut spoiled grain by 14 %"), "a message without any full stop is kept"
    assert find("Solar dryers at Kolbe Mills cut spoiled grain by 14 %.[3]"), "a mark of a note may follow"


def test_an_item_that_is_no_sentence_is_shown_with_what_leads_to_it() -> None:
    text = (
        "# Mill\n\n## Spending on solar power\n\n- Dryers at Kolbe Mills in the east: 31,600 euros\n\n"
        "{}- A roof of 900 panels: 12 euros"
    )
    for lead, shown in (
        ("", "Spending on solar power"),
        ("The board of Kolbe Mills refused:\n\n", "The board of Kolbe Mills refused"),
    ):
        files = [[make_passage(text.format(lead), "a.md")]]
        report = render(
            write_survey(QUESTION, sort_by_aspect(QUESTION, find_findings(QUESTION, files, {}, embed_static)))
        )
        assert "Spending on solar power: Dryers at Kolbe Mills in the east: 31,600 euros [1]" in report
        assert f"- {shown}: A roof of 900 panels: 12 euros [1]" in report


def test_the_same_fact_of_two_files_is_one_finding() -> None:
    files = [
        [make_passage("Solar dryers at Kolbe Mills cut spoiled grain by 14 %.", "a.md")],
        [make_passage("At Kolbe Mills solar dryers cut the spoiled grain by 14 %.", "b.md")],
    ]
    (finding,) = find_findings(QUESTION, files, {}, embed_static)
    assert [one.passage.place.path for one in finding.quotations] in (["a.md", "b.md"], ["b.md", "a.md"])
    assert not finding.against


def test_another_value_for_the_same_matter_is_a_disagreement() -> None:
    files = [
        [make_passage("In 2023 solar dryers at Kolbe Mills cut spoiled grain by 14 %.", "a.md")],
        [make_passage("In 2023 solar dryers at Kolbe Mills cut spoiled grain by 9 %.", "b.md")],
    ]
    (finding,) = find_findings(QUESTION, files, {}, embed_static)
    assert len(finding.against) == 1
    text = render(write_survey(QUESTION, sort_by_aspect(QUESTION, [finding])))
    assert "14 %" in text
    assert "But: " in text
    assert "9 %" in text


def test_another_value_for_another_year_is_no_disagreement() -> None:
    files = [
        [make_passage("In 2023 solar dryers at Kolbe Mills cut spoiled grain by 14 %.", "a.md")],
        [make_passage("In 2021 solar dryers at Kolbe Mills cut spoiled grain by 9 %.", "b.md")],
    ]
    assert [finding.against for finding in find_findings(QUESTION, files, {}, embed_static)] == [(), ()]


def test_another_value_in_a_document_about_something_else_is_no_disagreement() -> None:
    files = [
        [make_passage("The monthly fee for the solar dryers is 480 EUR.", "hosting.md")],
        [make_passage("The monthly fee for the solar dryers is 690 EUR.", "cleaning.md")],
    ]
    assert [finding.against for finding in find_findings(QUESTION, files, {}, embed_static)] == [(), ()]


def test_another_value_is_shown_where_only_figures_and_a_few_words_differ() -> None:
    files = [
        [make_passage("The fee for solar dryers at Kolbe Mills is 25,000 EUR since the last renewal.", "a.md")],
        [make_passage("The fee for solar dryers at Kolbe Mills is 15,000 EUR.", "b.md")],
    ]
    [finding] = find_findings(QUESTION, files, {}, embed_static)
    assert len(finding.against) == 1


def test_a_sheet_is_a_table_with_its_latest_rows_first() -> None:
    rows = make_sheet([("Q1 2023", "10 %"), ("Q2 2024", "31 %"), ("Q4 2023", "22 %"), ("Q3 2023", "20 %")])
    found = sort_by_aspect(QUESTION, find_findings(QUESTION, [rows], {}, embed_static))
    assert isinstance(found[0].text, Quotation)
    assert "Q2 2024" in found[0].text.text
    draft = write_survey(QUESTION, found, rows)
    table = next(part for part in draft.parts if isinstance(part, FindingList) and part.columns)
    assert table.columns == ("Quarter", "Solar Share")
    twice = write_survey(QUESTION, [replace(found[0], aspect=name) for name in ("power", "cost")], rows)
    assert sum(isinstance(part, FindingList) and bool(part.columns) for part in twice.parts) == 1
    text = render(draft)
    assert "**Kolbe Power:** Quarter: Q2 2024; Solar Share: 31 % [1]" in text
    assert text.index("| Q2 2024 | 31 % | [1] |") < text.index("| Q1 2023 | 10 % | [1] |")


def test_a_row_of_a_table_in_a_text_names_its_columns_and_the_table_is_shown_once() -> None:
    text = "Solar power by mill.\n\n| mill | share |\n|---|--:|\n| North | 31 % |\n| South | 22 % |\n| East | 9 % |"
    passages = [make_passage(text, "mills.md", title="Mills")]
    found = sort_by_aspect(QUESTION, find_findings(QUESTION, [passages], {}, embed_static))
    report = render(write_survey(QUESTION, found, passages))
    assert "- **Mills:** mill: East; share: 9 % [1]" in report
    assert "| mill | share |  |" in report
    assert report.count("South") == 1, "a record that the table shows is not listed again"
    assert "| --" not in report.replace("| --- | --- | --- |", "")


def test_a_table_keeps_the_column_that_says_what_its_rows_are_about() -> None:
    rows = "".join(
        f"| The mill in the {side} of the town | {n} % |\n" for n, side in enumerate(("north", "south", "east"), 5)
    )
    passages = [make_passage(f"Solar power by mill.\n\n| mill | share |\n|---|--:|\n{rows}", "mills.md", title="Mills")]
    found = sort_by_aspect(QUESTION, find_findings(QUESTION, [passages], {}, embed_static))
    assert "| mill | share |  |" in render(write_survey(QUESTION, found, passages))


def test_a_table_keeps_a_column_of_short_phrases_and_a_fifth_column() -> None:
    dues = ("when work begins", "when the pilings stand", "one year after acceptance", "two years after acceptance")
    rows = "".join(f"| {n} | {9 + n} % | {due} |\n" for n, due in enumerate(dues, 1))
    text = f"Solar power is paid in instalments.\n\n| instalment | share | due |\n|---|--:|---|\n{rows}"
    passages = [make_passage(text, "contract.md", title="Contract")]
    found = sort_by_aspect(QUESTION, find_findings(QUESTION, [passages], {}, embed_static))
    report = render(write_survey(QUESTION, found, passages))
    assert "| 3 | 12 % | one year after acceptance | [1] |" in report
    wide = "".join(f"| 2024-0{n} | {n}0 | {n}1 | {n}2 | {n}3 litres |\n" for n in range(1, 5))
    text = f"Solar power by month.\n\n| month | a | b | c | diesel |\n|---|---|---|---|---|\n{wide}"
    passages = [make_passage(text, "months.md", title="Months")]
    found = sort_by_aspect(QUESTION, find_findings(QUESTION, [passages], {}, embed_static))
    assert "| month | a | b | c | diesel |  |" in render(write_survey(QUESTION, found, passages))


def test_the_number_of_a_heading_gathers_nothing_and_is_not_shown() -> None:
    question = "What is known about the harbour and its boats?"
    texts = {
        "Contract > 1 Work": "Dredging costs 4 million euros. The pilings are replaced by 14 new ones.",
        "Inspection": "Divers inspected 46 pilings on 1 March. The quay lost 1 m of sand in 1 year.",
        "Timetable": "From 1 June the boats leave every 40 minutes. A ticket costs 4 euros from 1 May.",
    }
    files = [[make_passage(text, f"{n}.md", title=title)] for n, (title, text) in enumerate(texts.items())]
    found = sort_by_aspect(question, find_findings(question, files, {}, embed_static))
    assert {one.aspect for one in found} >= {"Inspection", "Timetable"}


def test_the_report_has_sections_and_says_what_is_missing() -> None:
    question = "How can Kolbe Mills use solar power to improve grain quality and worker safety?"
    texts = [
        "Solar power covers 31 % of what our mill needs. A solar power roof costs 90,000 euros.",
        "Better grain quality raised the price by 6 %. The grain quality of 2023 was rated 8 of 10.",
        "In summer 40 % of the solar power is sold. Solar power prices fell by 12 %.",
    ]
    files = [[make_passage(text, f"{number}.md")] for number, text in enumerate(texts)]
    found = sort_by_aspect(question, find_findings(question, files, {}, embed_static))
    draft = write_survey(question, found)
    headings = [part.text for part in draft.parts if isinstance(part, SectionHeading)]
    assert headings[0] == FIRST_HEADING
    assert headings[-1] == MISSING_HEADING
    assert {"Solar power", "Grain quality"} & set(headings)
    assert "worker safety" in render(draft).split(MISSING_HEADING)[1]
    assert draft.aspects[-1] == "worker safety"
    unquoted = make_passage("Worker safety is the task of the foreman.", "3.md")
    assert MISSING_HEADING not in render(write_survey(question, found, [unquoted])), "a passage that was read names it"


def test_length_limits_the_words_and_quotes_every_file_first() -> None:
    long = " ".join(
        f"Solar dryer number {n} of Kolbe Mills saved {n * 7} tonnes of grain quality losses." for n in range(9)
    )
    files = [[make_passage(long, "long.md")], [make_passage("Our solar power share is 31 %.", "short.md")]]
    found = sort_by_aspect(QUESTION, find_findings(QUESTION, files, {}, embed_static))
    text = render(write_survey(QUESTION, found, length=25))
    assert "31 %" in text
    assert len(text.split()) < 45


def sort_under_headings(*pairs: tuple[str, str], question: str = "What is known about the harbour?") -> dict[str, str]:
    files = [
        [Passage(str(i), text, title, Place(f"{i}.md", lines=(1, 9)), "text")] for i, (title, text) in enumerate(pairs)
    ]
    found = find_findings(question, files, {}, embed_static)
    return {finding.text.text: finding.aspect for finding in sort_by_aspect(question, found)}


def test_an_aspect_is_named_by_the_heading_that_its_findings_share() -> None:
    dredging = (
        "The harbour basin is dredged to 12 m every 4 years.",
        "Dredged mud of 90,000 t is dumped north of the harbour.",
    )
    ferries = "Ferries from the harbour carry 2 million guests a year.", "A ferry leaves the harbour every 15 minutes."
    aspects = sort_under_headings(
        *((f"Annual report {i} > Dredging", text) for i, text in enumerate(dredging)),
        *((f"Timetable {i} > Ferry traffic", text) for i, text in enumerate(ferries)),
    )
    assert [aspects[text] for text in (*dredging, *ferries)] == ["Dredging"] * 2 + ["Ferry traffic"] * 2


def test_an_aspect_has_an_authors_name_and_never_the_words_that_findings_happen_to_share() -> None:
    aspects = sort_under_headings(
        ("Lease", "The harbour hall is let for 900 euros a month with three months' notice."),
        ("Lease", "Its lease gives the harbour club 40 of the seats."),
        ("Cleaning", "Three months' notice is needed to end the work of 8 cleaners at the harbour."),
        ("Cleaning", "The harbour is cleaned 5 times a week."),
    )
    assert set(aspects.values()) == {"Lease", "Cleaning"}


def test_a_heading_gathers_findings_of_other_files_only_if_they_have_all_its_words() -> None:
    findings = [
        ("Letter of the mayor", "Ferry traffic at the harbour grew by 9 %."),
        ("Budget", "The mayor opened 3 new piers."),
    ]
    for heading, count in (("Ferry traffic", 2), ("Notes on ferry traffic", 0), ("Ferry traffic, 14 May 2025", 0)):
        aspects = sort_under_headings((heading, "The harbour has 12 berths for the ferry traffic."), *findings)
        assert list(aspects.values()).count(heading) == count


def test_a_heading_that_only_names_a_time_is_no_aspect() -> None:
    pairs = [("Q3 2024", f"The harbour sold {n} berths in Q3 2024.") for n in (12, 340)]
    assert set(sort_under_headings(*pairs).values()) == {"Findings"}


def test_instead_of_a_page_the_words_of_the_file_name_are_the_aspect() -> None:
    texts = ("Dredging the harbour costs 4 million euros.", "Every 4 years 90,000 t of mud leave the harbour.")
    files = [
        [Passage(text, text, f"dredging-report_2025.pdf, page {n}", Place("a/dredging-report_2025.pdf", page=n), "pdf")]
        for n, text in enumerate(texts, 1)
    ]
    found = find_findings("What is known about the harbour?", files, {}, embed_static)
    assert {one.aspect for one in sort_by_aspect("What is known about the harbour?", found)} == {"Dredging report 2025"}


def test_without_a_label_there_is_one_section() -> None:
    aspects = sort_under_headings(
        ("One", "The harbour basin is dredged to 12 m every 4 years."),
        ("Two", "A ferry leaves every 15 minutes, and 2 million guests use it."),
    )
    assert set(aspects.values()) == {"Findings"}


def test_nothing_is_written_without_findings() -> None:
    assert write_survey(QUESTION, []).is_empty


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("How can Kolbe Mills leverage solar power and grain dryers?", ["solar power", "grain dryers"]),
        ("Give an overview of water rights", ["water rights"]),
        ("What do our contracts say about notice periods?", ["notice periods"]),
        ("What is moss?", []),
        ("What must every household know about waste collection?", ["waste collection"]),
        ("What do the plans of Corvid Mail offer and how do they differ?", []),
    ],
)
def test_the_parts_of_a_question(question: str, parts: list[str]) -> None:
    assert list_parts(question) == parts
