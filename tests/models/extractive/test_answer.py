"""Answers by quotation: what is shown, what is never concluded, and when the question is refused."""

import asyncio
import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.answers import Draft
from suffice.api import research
from suffice.models.extractive.answer import quote_answer
from suffice.models.reader.model import get_reader
from suffice.models.reading import AnswerSpan
from suffice.testing import WordSearch, make_passage
from suffice.text.question import read_question
from suffice.text.quotations import build_excerpt, render_quotation
from suffice.types import Passage, Place


class FixedReader:
    """Finds the given words, where a passage has them, with the given probability."""

    def __init__(self, words: str, probability: float) -> None:
        self.words, self.probability = words, probability

    def read(self, question: str, passages: Sequence[str]) -> list[AnswerSpan]:
        starts = [passage.find(self.words) for passage in passages]
        return [
            AnswerSpan(self.probability, start, start + len(self.words)) if start >= 0 else AnswerSpan(0.01, 0, 1)
            for start in starts
        ]

    def reread(self, question: str, passages: Sequence[str]) -> list[AnswerSpan]:
        return self.read(question, passages)


def passage(text: str, title: str = "", kind: str = "markdown", number: int = 0) -> Passage:
    return Passage(f"{title}{number}{text[:9]}", text, title, Place("page.md", (1, 1 + text.count("\n"))), kind)


def ask(question: str, *passages: Passage, reader: FixedReader | None = None, count: int = 0) -> Draft:
    return quote_answer(read_question(question), passages, None, reader, count=count)


DANCE = passage("Karl von Frisch decoded the waggle dance in 1927. Bees are insects.", "Bees")
BRIDGE = passage("The Forth Bridge was opened in 1890. John Fowler designed the Forth Bridge.", "Bridges")
TEXTS = st.lists(
    st.sampled_from(
        [
            "The waggle dance shows the sun.",
            "A *starred* hive | costs <b>ten</b>",
            "- 1. Honey\n- Dr. Frisch decoded the dance",
            "# Dance\n\n`maxsize` is a_b",
            "```\ndance()\n```",
            "東京 is the hive of “bees”",
            "| dance | hive |\n|---|---|\n| bees | sun |",
        ]
    ),
    min_size=1,
    max_size=6,
).map("\n\n".join)
QUESTIONS = st.sampled_from(["What does the waggle dance show?", "Who decoded the dance of bees?", "What is a hive?"])


@given(QUESTIONS, st.lists(TEXTS, min_size=1, max_size=4, unique=True))
def test_what_is_shown_is_in_the_source(question: str, texts: list[str]) -> None:
    answer = ask(question, *(passage(text, f"Note {n}") for n, text in enumerate(texts)))
    for quotation in (*answer.quotations, *(one.quotation for one in answer.closest)):
        assert quotation.spans == tuple(sorted(quotation.spans))
        for start, end in quotation.spans:
            assert 0 <= start < end <= len(quotation.passage.text)
        shown = re.sub(r"[\s*]", "", build_excerpt(quotation, "[1]").text)
        assert shown == re.sub(r"[\s*]", "", quotation.text)


def test_a_question_of_two_parts_is_read_part_by_part() -> None:
    class PartReader(FixedReader):
        """Answers only the second question, alone."""

        def read(self, question: str, passages: Sequence[str]) -> list[AnswerSpan]:
            found = super().read(question, passages)
            return found if question == "who designed the Forth Bridge?" else [AnswerSpan(0.01, 0, 1)] * len(found)

    question = "What does the bridge weigh and who designed the Forth Bridge?"
    answer = ask(question, DANCE, BRIDGE, reader=PartReader("John Fowler", 0.9))
    assert [one.title for one in answer.quotations][:1] == ["Bridges"]
    [span] = answer.quotations[0].marked
    assert BRIDGE.text[slice(*span)] == "John Fowler designed the Forth Bridge."
    assert not read_question("Which bridge was designed by Fowler and opened by the king?").parts
    assert not read_question("What is the difference between the hive and the nest?").parts
    assert read_question("What are the notice periods and the fees?").parts == [
        "What are the notice periods?",
        "the fees?",
    ]


def test_evidence_for_both_sides_of_a_comparison_is_enough_without_the_words_that_ask_for_it() -> None:
    text = "The notice period of the lease is three months. The notice period of the hosting contract is 30 days."
    question = "What is the difference between the notice period of the lease and the hosting contract?"
    reader = FixedReader("three months", 0.99)
    assert ask(question, passage(text, "Contracts"), reader=reader).sufficiency == "yes"
    less = ask(question.replace("hosting contract", "catering contract"), passage(text, "Contracts"), reader=reader)
    assert less.sufficiency == "partly"


def test_what_leads_is_read_again_and_the_careful_look_decides() -> None:
    class CarefulReader(FixedReader):
        """Takes the wrong passage at first sight."""

        again = 0

        def read(self, question: str, passages: Sequence[str]) -> list[AnswerSpan]:
            return [AnswerSpan(0.8 if "Page 0" in passage else 0.3, 0, 1) for passage in passages]

        def reread(self, question: str, passages: Sequence[str]) -> list[AnswerSpan]:
            self.again += len(passages)
            return [AnswerSpan(0.9 if self.words in passage else 0.3, 0, 1) for passage in passages]

    others = [passage(f"Page {number} is about a dance of the moor.", number=number) for number in range(9)]
    reader = CarefulReader("John Fowler", 0.9)
    answer = ask("Who designed the Forth Bridge?", *others, BRIDGE, reader=reader)
    assert answer.quotations[0].passage == BRIDGE
    assert reader.again < len(others) + 1, "what stays behind is not read again"


def test_without_evidence_there_is_no_answer_and_the_closest_passages_are_named() -> None:
    for question in ("Who painted Guernica?", "What is the melting point of tungsten?", "How do whales sleep?"):
        answer = ask(question, DANCE, BRIDGE)
        assert (answer.quotations, answer.short_answer, answer.sufficiency) == ((), "", "no")
    closest = ask("Who painted Kubernetes in the colours of Erika Mustermann's bridge?", BRIDGE, DANCE).closest
    assert closest[0].quotation.title == "Bridges"
    assert "Kubernetes" in closest[0].missing
    assert "bridge" not in closest[0].missing
    assert ask("Who decoded the waggle dance?") == Draft(origin="quoted", sufficiency="no")


def test_the_passage_that_answers_is_quoted_with_its_place() -> None:
    answer = ask("Who designed the Forth Bridge?", DANCE, BRIDGE, reader=FixedReader("John Fowler", 0.999))
    (quotation,) = answer.quotations
    assert "John Fowler designed the Forth Bridge." in quotation.text
    assert [quotation.passage.text[start:end] for start, end in quotation.highlight] == ["John Fowler"]
    assert quotation.location == "page.md:1-1"
    assert answer.sufficiency == "yes"
    assert render_quotation(quotation, "[2]") == (
        "### Bridges · `page.md:1-1`\n\n> The Forth Bridge was opened in 1890. **John Fowler** designed the Forth Bridge. [2]"
    )


def test_a_short_answer_is_a_span_that_the_reader_is_sure_of() -> None:
    sure, unsure = FixedReader("John Fowler", 0.999), FixedReader("John Fowler", 0.3)
    assert ask("Who designed the Forth Bridge?", BRIDGE, reader=sure).short_answer == "John Fowler"
    assert ask("Who designed the Forth Bridge?", BRIDGE, reader=unsure).short_answer == ""
    assert ask("Did John Fowler design the Forth Bridge?", BRIDGE, reader=sure).short_answer == ""
    assert ask("Wer hat die Forth Bridge entworfen?", BRIDGE, reader=sure).short_answer == ""


@pytest.mark.parametrize(("bound", "found"), [("at most ", "most 4 %"), ("Up to ", "4 %"), ("by ", "4 %")])
def test_a_bound_belongs_to_its_figure(bound: str, found: str) -> None:
    fees = passage(f"The lease is long. {bound}4 % is what the monthly fee may rise by.", "Lease")
    answer = ask("How much may the monthly fee rise?", fees, reader=FixedReader(found, 0.99))
    assert answer.short_answer == f"{bound if bound != 'by ' else ''}4 %"


@pytest.mark.parametrize(("found", "whole"), [("40", "40%"), ("5", "5,700"), ("12", "12-month"), ("1987", "1987")])
def test_a_figure_is_never_cut(found: str, whole: str) -> None:
    text = "The fee fell by 40%, to 5,700 EUR (since 1987), for a 12-month lease."
    answer = ask("What was the fee?", passage(text, "Lease"), reader=FixedReader(found, 0.99))
    assert answer.short_answer == whole
    assert f"**{whole}**" in render_quotation(answer.quotations[0], "[1]")


def test_words_that_begin_in_the_title_are_no_short_answer() -> None:
    titled = passage("Bridge. It was opened in 1890.", "The Forth")
    answer = ask("Which bridge was opened in 1890?", titled, reader=FixedReader("The Forth\nBridge", 0.99))
    assert answer.short_answer == ""


def test_a_question_of_two_parts_gets_no_short_answer() -> None:
    sure = FixedReader("John Fowler", 0.999)
    assert ask("Who designed the Forth Bridge?", BRIDGE, reader=sure).short_answer
    assert ask("Who designed the Forth Bridge and when was it opened?", BRIDGE, reader=sure).short_answer == ""


def test_of_a_comparison_both_sides_are_shown_and_none_is_chosen() -> None:
    linux, mac = passage("Quill runs on Linux with kernel 5.", "Linux"), passage("Quill runs on macOS 13.", "macOS")
    answer = ask("Does Quill run on Linux or macOS?", linux, mac, reader=FixedReader("Linux", 0.999))
    assert [quotation.passage for quotation in answer.quotations] == [linux, mac]
    assert answer.short_answer == ""
    quill, reed = passage("Quill is an editor for plain text.", "Quill"), passage("Reed is a flute.", "Reed")
    both = ask("Are Quill and Reed both databases?", quill, reed)
    assert both.short_answer == ""
    assert both.sufficiency != "yes"


def test_what_the_reader_found_decides_though_another_sentence_has_more_words_and_is_marked_if_it_is_certain() -> None:
    bees = passage("The waggle dance of the honeybee tells where food is. Karl von Frisch decoded it in 1927.", "Bees")
    question = "Who decoded the waggle dance of the honeybee?"
    [sure] = ask(question, bees, reader=FixedReader("Karl von Frisch", 0.85)).quotations
    assert [bees.text[start:end] for start, end in sure.highlight] == ["Karl von Frisch"]
    [unsure] = ask(question, bees, reader=FixedReader("Karl von Frisch", 0.4)).quotations
    assert [bees.text[start:end] for start, end in unsure.highlight] == ["Karl von Frisch decoded it in 1927."]
    [certain] = ask(question, bees, reader=FixedReader("Karl von Frisch", 0.999)).quotations
    assert [bool(build_excerpt(one, "[1]").highlight) for one in (unsure, sure, certain)] == [False, False, True]


def test_a_sentence_or_item_is_marked_where_words_and_reader_agree() -> None:
    dance = passage(
        "Bees live in a hive. Karl von Frisch decoded the waggle dance\nin 1927. It is a figure of eight.", "Bees"
    )
    [quotation] = ask("Who decoded the waggle dance?", dance, reader=FixedReader("Karl von Frisch", 0.8)).quotations
    assert [dance.text[start:end] for start, end in quotation.highlight] == ["Karl von Frisch"], (
        "the check compares words"
    )
    excerpt = build_excerpt(quotation, "[1]")
    assert "*" not in excerpt.text
    assert [excerpt.text[start:end] for start, end in excerpt.highlight] == [
        "Karl von Frisch decoded the waggle dance in 1927."
    ]
    assert "**Karl von Frisch decoded the waggle dance in 1927.** It is" in render_quotation(quotation, "[1]")
    rules = passage("  1. A hive holds one queen.\n  2. The waggle dance was decoded\n     by Karl von Frisch.", "Bees")
    [quotation] = ask("Who decoded the waggle dance?", rules, reader=FixedReader("Karl von Frisch", 0.8)).quotations
    assert render_quotation(quotation, "[1]").endswith(
        "> 1. A hive holds one queen.\n> 2. **The waggle dance was decoded by Karl von Frisch.**\n>\n> [1]"
    )


def test_an_excerpt_begins_a_little_above_what_the_reader_found_and_goes_on_below_it() -> None:
    above, below = (
        [f"{word} {number} tells of a meadow with flowers." for number in range(20)] for word in ("Row", "Line")
    )
    dance = passage(" ".join([*above, "Karl von Frisch decoded the waggle dance.", *below]), "Bees")
    for probability in (0.4, 0.8):
        reader = FixedReader("Karl von Frisch", probability)
        [quotation] = ask("Who decoded the waggle dance?", dance, reader=reader).quotations
        before, after = quotation.text.split("Karl von Frisch decoded the waggle dance.")
        assert above[-1] in before
        assert len(before) < len(after)
        assert len(quotation.text) <= 600


def test_a_question_of_which_a_part_is_answered_is_not_refused() -> None:
    question = "When did Karl von Frisch decode the dance, and who designed the Eiffel Tower?"
    for reader in (None, FixedReader("1927", 0.9)):
        answer = ask(question, DANCE, reader=reader)
        assert answer.sufficiency == "partly"
        assert [quotation.passage for quotation in answer.quotations] == [DANCE]


def test_an_account_of_a_thing_needs_no_words_of_the_task() -> None:
    moss = [
        passage(f"Moss grows on {thing}. It needs water.", "Moss", number=n)
        for n, thing in enumerate(["bark", "roofs"])
    ]
    for task in ("Give a comprehensive account of Moss", "Write an in-depth overview of moss", "Explain moss"):
        assert ask(task, *moss).sufficiency != "no"


def test_a_long_question_is_not_refused_for_words_that_no_source_has() -> None:
    cache = passage(
        "def lru_cache(maxsize=128, typed=False):\n    # Least-recently-used cache decorator.\n\n"
        "    # If maxsize is reached, the least recently used item is discarded. The cache is threadsafe.\n",
        "functools.lru_cache",
        "code",
    )
    question = (
        "How does functools.lru_cache decide which entry to evict when maxsize is reached, and is it safe to use from "
        "several threads?"
    )
    answer = ask(question, cache, reader=FixedReader("least recently used item", 0.8))
    assert answer.sufficiency != "no"
    assert "least recently used item is discarded" in answer.quotations[0].text


@pytest.mark.parametrize(
    ("asked", "row"), [("May 2025", "2025-05"), ("June 2025", "2025-06"), ("2025-04", "April 2025")]
)
def test_a_month_is_found_however_it_is_written(asked: str, row: str) -> None:
    months = ["2025-03", "2025-05", "2025-06", "2025-07", "January 2025", "February 2025", "April 2025", "2024-05"]
    rows = [passage(f"month: {month}\nelectricity kWh: {500 + i}", "use.xlsx") for i, month in enumerate(months)]
    question = read_question(f"How much electricity was used in {asked}?")
    answer = quote_answer(question, rows, None, get_reader())
    assert row in answer.quotations[0].text


def test_the_same_text_is_shown_once() -> None:
    again = passage(DANCE.text, "Copy")
    assert len(ask("Who decoded the waggle dance?", DANCE, again).quotations) == 1


def test_the_number_of_items_that_is_asked_for_is_shown() -> None:
    mines = [passage(f"The copper mine of {name} is large.", name) for name in ("Arno", "Brel", "Cusk", "Dorn", "Elva")]
    assert len(ask("The top 4 copper mines", *mines, count=4).quotations) == 4


LONG = "The value is checked when the program starts, and a wrong one ends it with a message that names it. "


def test_a_list_is_shown_whole_with_its_lead_in() -> None:
    items = "\n".join(f"- mode {n}: it writes {'x' * 50} {n} times" for n in range(12))
    page = passage(f"{LONG * 4}\n\nThe modes of the printer are:\n\n{items}\n\n{LONG * 3}", "Printer")
    (quotation,) = ask("Which modes does the printer have?", page).quotations
    assert quotation.format == "list"
    assert "The modes of the printer are:" in quotation.text
    assert all(f"mode {n}:" in quotation.text for n in range(12))


def test_a_row_of_a_long_table_comes_with_its_header() -> None:
    rows = "\n".join(f"| colour {n} | {n} euros and {'y' * 30} | some |" for n in range(40))
    page = passage(f"| name | price | stock |\n|---|---|---|\n{rows}\n| teal | 7 euros | none |", "Paint")
    (quotation,) = ask("What is the price of teal?", page).quotations
    assert quotation.text.startswith("| name | price | stock |")
    assert "| teal | 7 euros | none |" in quotation.text
    assert len(quotation.text) < 800


def test_of_a_short_page_the_section_is_quoted_that_the_reader_is_sure_of_else_all_with_their_headings() -> None:
    text = "## May I stay longer?\n\nYes.\n\n## Whom do I call in an emergency?\n\nCall the travel desk, day and night."
    sure, unsure = FixedReader("the travel desk", 0.9), FixedReader("the travel desk", 0.4)
    (quotation,) = ask("Whom do I call in an emergency?", passage(text, "Travel"), reader=sure).quotations
    assert quotation.text == "Call the travel desk, day and night."
    assert quotation.title == "Travel > Whom do I call in an emergency?"
    (quotation,) = ask("Whom do I call in an emergency?", passage(text, "Travel"), reader=unsure).quotations
    assert quotation.text == "Yes.\nWhom do I call in an emergency?\nCall the travel desk, day and night."
    assert quotation.title == "Travel > May I stay longer?"
    excerpt = build_excerpt(quotation, "[1]")
    assert [excerpt.text[start:end] for start, end in excerpt.headings] == ["Whom do I call in an emergency?"]
    assert "> Yes.\n>\n> **Whom do I call in an emergency?**\n>\n> Call" in render_quotation(quotation, "[1]")


def test_a_short_table_is_quoted_with_its_header() -> None:
    table = "| name | price |\n|---|--:|\n| teal | 7 euros |\n| ochre | 9 euros |"
    (quotation,) = ask(
        "What is the price of teal?", passage(f"Paint is sold by weight.\n\n{table}", "Paint")
    ).quotations
    assert table in quotation.text


def test_code_comes_whole_with_the_sentence_above_it() -> None:
    code = "    harvester init\n    harvester run --fast"
    page = passage(f"{LONG * 8}\n\nStart the harvester so:\n\n{code}\n\n{LONG * 8}", "Farm")
    text = ask("How do I start the harvester?", page).quotations[0].text
    assert "Start the harvester so:" in text
    assert "harvester run --fast" in text


def test_a_stretch_stays_in_its_section_and_names_it() -> None:
    page = passage(
        f"# Plants\n\n## Roses\n\n{LONG * 3}\n\n## Ferns\n\nFerns need shade.\n\n## Cacti\n\n{LONG * 3}",
        "Garden > Plants",
    )
    (quotation,) = ask("What do ferns need?", page).quotations
    assert quotation.text == "Ferns need shade."
    assert quotation.title == "Garden > Plants > Ferns"


@pytest.mark.parametrize("kind", ["text", "code", "csv", "chat"])
def test_one_endless_line_does_not_break_it(kind: str) -> None:
    assert ask("What is the waggle dance?", passage("waggle dance " * 5000, "Bees", kind)).sufficiency != "unknown"


def test_a_german_question_does_not_change_how_the_next_english_one_is_read() -> None:
    english = passage("The organisers are painting houses.", "Houses")
    before = ask("Who is painting a house?", english)
    ask("Welche Häuser werden von den Veranstaltern gestrichen?", passage("Die Häuser werden gestrichen.", "Haus"))
    assert ask("Who is painting a house?", english) == before
    assert before.sufficiency != "no"


def test_a_question_in_another_language_is_answered_by_words() -> None:
    french = passage("La hauteur de la tour est de 300 mètres. Elle est en fer.", "Tour")
    answer = ask("Quelle est la hauteur de la tour ?", french, reader=FixedReader("fer", 0.999))
    assert "300 mètres" in answer.quotations[0].text


def test_a_report_says_no_more_than_its_sources() -> None:
    found = [make_passage(f"p{n}", text, f"Note {n}") for n, text in enumerate([DANCE.text, BRIDGE.text])]
    report = asyncio.run(research("Who decoded the waggle dance?", search=WordSearch(found), model="extractive"))
    assert all(claim.support == "supported" for claim in report.claims)
    assert "decoded the waggle dance in 1927" in report.final_answer.replace("*", "")


TASK = "Who is the mayor of the town where the painter Odile Brandt was born?"
ANCHOR = passage(
    "Odile Brandt was a painter. Brandt was born in Velburg in 1871 and studied in Graz.", "Odile Brandt", "text"
)
LAST = passage(
    "Velburg is a town on the river Laaber with a castle from the twelfth century. Its breweries are old. "
    "Since 2014 the mayor of Velburg has been Kathrin Lohse.",
    "Velburg",
    "text",
)
OTHERS = [
    passage(f"The painter {name} was born in the town of {town}. The town is known for its {thing}.", name, "text")
    for name, town, thing in [
        ("Emil Sorge", "Kassel", "lamps"),
        ("Rosa Weck", "Ulm", "spire"),
        ("Otto Lind", "Worms", "wine"),
    ]
]


def test_the_passage_that_the_named_one_leads_to_is_shown() -> None:
    answer = ask(TASK, ANCHOR, *OTHERS, LAST)
    assert "Velburg" in [quotation.title for quotation in answer.quotations[:2]]
    assert len(answer.quotations) > 3
