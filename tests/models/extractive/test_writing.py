"""The extractive draft: it quotes sentences of the sources and writes none of its own."""

import asyncio
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.api import research
from suffice.models.extractive import ExtractiveModel
from suffice.prompts import Draft, SynthesisResponse
from suffice.testing import WordSearch, make_passage
from suffice.types import Note, Passage, Place, Report


def ask(prompt: Any) -> Any:
    return asyncio.run(ExtractiveModel()(prompt)).answer


def note(text: str, handle: int = 1, title: str = "", kind: str = "text") -> Note:
    return Note(text, (f"[{handle}]",), title, kind)


def drafted(task: str, *notes: Note, gaps: tuple[str, ...] = ()) -> SynthesisResponse:
    answer: SynthesisResponse = ask(Draft(task, notes, gaps, ()))
    return answer


DANCE = note("Karl von Frisch decoded the waggle dance in 1927. Bees are insects.", 1, "Bees")
BRIDGE = note("The Forth Bridge was opened in 1890. John Fowler designed the Forth Bridge.", 2, "Bridges")

SUBJECTS = st.sampled_from(
    [
        "The waggle dance",
        "A *starred* hive",
        "lru_cache[1]",
        "The_queen_",
        "Dr. Frisch",
        "`maxsize`",
        "1. Honey",
        "東京",
    ]
)
VERBS = st.sampled_from(
    ["shows", "costs <b>ten</b>", "is a_b", "was decoded in 1927 by", "means | that", "\\escapes", "& amp; ~~ends~~"]
)
OBJECTS = st.sampled_from(
    ["the sun", "the dance\nof bees", "nothing at all", "e.g. flowers", "a price of 3.50", "#5 - or [2]", "“the hive”"]
)
SENTENCES = st.builds(lambda *parts: " ".join(parts), SUBJECTS, VERBS, OBJECTS)
TEXTS = st.lists(SENTENCES, min_size=1, max_size=4).map(". ".join)
QUESTIONS = st.sampled_from(
    [
        "What does the waggle dance show?",
        "Who decoded the waggle dance?",
        "What is lru_cache?",
        "When was the dance of bees decoded?",
    ]
)


def plain_words(text: str) -> list[str]:
    return re.sub(r"[`*_]", "", text).rstrip(".").split()


def researched(question: str, texts: list[str]) -> Report:
    found = [make_passage(f"p{n}", text, f"Note {n}", path=f"{n}.txt") for n, text in enumerate(texts)]
    return asyncio.run(research(question, search=WordSearch(found), model="extractive"))


@settings(max_examples=60, deadline=None)
@given(QUESTIONS, st.lists(TEXTS, min_size=1, max_size=4, unique=True))
def test_every_sentence_is_in_a_source(question: str, texts: list[str]) -> None:
    report = researched(question, texts)
    sources = {source.id: source for source in report.sources}
    for claim in report.claims:
        assert claim.support == "supported", claim
        assert claim.citations
        for span in claim.spans:
            text = texts[int(sources[span.source].title.removeprefix("Note "))]
            assert span.quote in text
            if span.stance == "contradicts":  # Another sentence that seems to say otherwise.
                continue
            # Word for word: only the marks of code and emphasis, and a full stop at the end, may differ.
            assert plain_words(span.quote) == plain_words(claim.text)


@settings(max_examples=20, deadline=None)
@given(QUESTIONS, st.lists(TEXTS, min_size=1, max_size=4, unique=True))
def test_the_same_input_gives_the_same_answer(question: str, texts: list[str]) -> None:
    first, second = researched(question, texts), researched(question, texts)
    assert (first.final_answer, first.claims, first.gaps) == (second.final_answer, second.claims, second.gaps)


def test_without_evidence_the_answer_is_empty() -> None:
    for question in ("Who painted Guernica?", "What is the melting point of tungsten?", "How do whales sleep?"):
        answer = drafted(question, DANCE, BRIDGE)
        assert (answer.answer, answer.excerpts, answer.short_answer, answer.sufficiency) == ("", (), "", "no")
    assert drafted("Who decoded the waggle dance?") == SynthesisResponse("", sufficiency="no")


def test_without_evidence_the_closest_passages_are_named_with_what_they_lack() -> None:
    closest = drafted("Who painted the Forth Bridge in Kubernetes colours?", DANCE, BRIDGE).closest
    assert closest[0].title == "Bridges"
    assert "Kubernetes" in closest[0].missing
    assert "Bridge" not in closest[0].missing


def test_a_name_that_no_source_mentions_means_no_evidence() -> None:
    """Everything matches except the person that the question is about."""
    assert drafted("When did Erika Mustermann decode the waggle dance?", DANCE).answer == ""


def test_the_answer_quotes_the_sentence_that_answers() -> None:
    answer = drafted("Who designed the Forth Bridge?", DANCE, BRIDGE)
    assert "**John Fowler** designed the Forth Bridge. [2]" in answer.answer
    assert answer.short_answer == "John Fowler"
    (excerpt,) = answer.excerpts
    assert excerpt.source == "[2]"
    assert [excerpt.text[start:end] for start, end in excerpt.highlight] == ["John Fowler"]
    assert "[1]" not in answer.answer
    assert answer.summary.endswith("[2]")


def test_a_question_in_another_language_is_answered() -> None:
    french = note("La hauteur de la tour est de 300 mètres. Elle est en fer.", 1, "Tour")
    assert "300 mètres" in drafted("Quelle est la hauteur de la tour ?", french).answer


def test_a_repeated_sentence_is_quoted_once() -> None:
    again = note("Karl von Frisch decoded the waggle dance in 1927. He was Austrian.", 2, "Copy")
    answer = drafted("Who decoded the waggle dance?", DANCE, again)
    assert answer.answer.count("decoded the waggle dance in 1927") == 1


def test_gaps_become_open_questions() -> None:
    assert drafted("Who decoded the waggle dance?", DANCE, gaps=("the date",)).open_questions == ("the date",)


def test_code_is_quoted_as_code() -> None:
    source = note(
        'def waggle(angle):\n    """Return the dance direction."""\n    return angle % 360\n', 1, "dance.py", "code"
    )
    answer = drafted("What direction does the dance return?", source)
    assert "> ```\n> def waggle(angle):\n> ```" in answer.answer
    assert "**Return the dance direction.**" in answer.answer


CODE = '''def dance(angle):
    """Show the waggle dance. The angle is kept."""
    # The waggle dance turns. Then it stops.
    return angle % 360  # the dance `angle` e.g. 90. Not more
'''
LIST = """Steps of the waggle dance:
1. Dance in a circle. Then turn.
2) The dance ends
- *Waggle* while the dance lasts
# Dance heading
Quelle est la danse ? La danse : la voici !
"""


@pytest.mark.parametrize(("text", "kind"), [(CODE, "code"), (LIST, "text"), (LIST, "markdown")])
def test_comments_and_list_items_are_quoted_whole(text: str, kind: str) -> None:
    source = Passage("p", text, "Dance", Place("dance", (1, text.count("\n"))), kind)
    report = asyncio.run(research("What is the waggle dance angle?", search=WordSearch([source])))
    assert report.claims
    for claim in report.claims:
        assert claim.support == "supported", claim
        assert all(span.quote in text for span in claim.spans)


def test_an_example_in_a_manual_comes_after_the_sentence_about_it() -> None:
    manual = note(
        "The parser reads a file of rules.\n\nrules = parser.read('rules.txt')\n\nparser.read(rules)", 1, "Parser"
    )
    answer = drafted("How does the parser read a file of rules?", manual)
    assert answer.summary == "The parser reads a file of rules. [1]"
    assert "> ```\n> rules = parser.read('rules.txt')\n> ```" in answer.answer


def test_a_passage_with_one_endless_sentence_does_not_break_it() -> None:
    table: Passage = make_passage("p", "waggle dance " * 5000)
    report = asyncio.run(research("What is the waggle dance?", search=WordSearch([table])))
    assert report.status in ("no_evidence", "answered", "partial")


def test_the_parts_of_one_document_are_not_a_chain() -> None:
    term = note("# Shop lease\n\nThe tenant may extend it by a written notice nine months before.", 1, "Shop lease")
    rent = note("## Rent\n\nThe rent is 2,150 EUR a month. The deposit is three months' rent.", 2, "Shop lease")
    found = drafted("What is the notice period?", term, rent)
    shown = found.excerpts[0].text if found.excerpts else found.closest[0].text
    assert "written notice" in shown


def test_a_question_about_a_rule_is_not_answered_by_a_date() -> None:
    lease = note(
        'The lease between the landlord and Alder Books ("tenant") was signed on 20 May 2022. '
        "The tenant may extend it once by a notice at least nine months before the end.",
        title="Shop lease",
    )
    found = drafted("When must the tenant extend the lease?", lease)
    assert found.short_answer == ""
    assert "nine months" in found.excerpts[0].text


def test_the_date_that_ends_a_contract_is_shown_and_not_the_one_on_which_it_was_signed() -> None:
    signed = note("The cleaning contract was signed on 14 March 2023.", 1, "Cleaning contract")
    term = note("The contract runs from 1 April 2023 until 31 March 2026.", 2, "Cleaning contract")

    answer = drafted("When does the cleaning contract end?", signed, term)

    assert "31 March 2026" in answer.excerpts[0].text
    assert answer.short_answer in ("", "31 March 2026")


def test_items_of_an_ordered_list_are_no_table_of_contents() -> None:
    minutes = note(
        "Present: Helen Marsh, Olga Brandt.\n\n## Decisions\n\n1. The budget is approved.\n2. Raj Patel leads operations.\n"
        "3. An office in Porto is opened.",
        1,
        "Board meeting",
        "markdown",
    )

    first = drafted("List all decisions of the board meeting.", minutes).excerpts[0]

    assert all(words in first.text for words in ("budget", "Raj Patel", "Porto"))
    assert first.title == "Board meeting > Decisions"


def test_a_short_lead_in_is_shown_with_its_list() -> None:
    contract = note(
        'Between Harrow Ltd ("the client") and Brightside Cleaning GmbH ("the contractor").\n\nThe contractor cleans:\n\n'
        "- the offices\n- the kitchen\n- the windows",
        1,
        "Cleaning contract",
        "markdown",
    )

    assert "- the kitchen" in drafted("What does the cleaning contractor clean?", contract).excerpts[0].text


def test_what_stands_below_a_lone_name_is_about_it() -> None:
    reference = note(
        "`SESSION_COOKIE_NAME`\n\nThe name of the cookie.\n\nDefault: `'session'`\n\n`SESSION_COOKIE_PATH`\n\n"
        "The path of the session cookie.\n\nDefault: `None`",
        1,
        "Builtin values",
    )

    answer = drafted("What is the session cookie called if I do not set SESSION_COOKIE_NAME?", reference)

    assert "Default: `'session'`" in answer.excerpts[0].text
    assert answer.excerpts[0].title == "Builtin values > SESSION_COOKIE_NAME"


def test_the_heading_of_a_next_section_replaces_the_first_one_in_the_title() -> None:
    changes = note(
        "## 2.0.0\n\n- Bees can dance.\n\n## 1.0.0\n\n- Wasps build nests of paper.", 1, "Changes > 2.0.0", "markdown"
    )

    assert drafted("What do wasps build?", changes).excerpts[0].title == "Changes > 1.0.0"


def test_an_introduction_without_what_it_introduces_is_not_shown() -> None:
    text = "Bees dance for food.\n\nThe steps are:\n\n" + "\n".join(
        f"- step {n} of the long way {'x' * 60}" for n in range(12)
    )

    assert "The steps are" not in drafted("What do bees dance for?", note(text, 1, "Bees", "markdown")).excerpts[0].text


def test_a_name_that_only_looks_like_a_word_of_the_text_is_missing() -> None:
    manual = note("The tool works over a window of five rounds.", 1, "The tool", "markdown")

    assert drafted("Does the tool work on Windows?", manual).sufficiency != "yes"


def test_who_did_something_is_named_after_by() -> None:
    changes = note(
        "- Breaking change: Rename `skip_defaults` to `exclude_unset`, #915 by @dmontagu\n- Fix a typo, #2 by @ann",
        1,
        "v1.0",
        "markdown",
    )

    assert drafted("Who renamed skip_defaults to exclude_unset?", changes).short_answer == "@dmontagu"
    assert drafted("Who decoded the waggle dance?", DANCE).short_answer == "Karl von Frisch"


def test_a_contrast_that_introduces_a_list_answers_a_comparison() -> None:
    tools = note(
        "`SlowCase` and `FastCase` are the same except for how they reset the database:\n\n"
        "- A `SlowCase` truncates all tables.\n- A `FastCase` rolls back a transaction.",
        1,
        "Tools > SlowCase",
    )
    other = note("`FastCase` is the most common class. It inherits from `SlowCase`.", 2, "Tools > FastCase")

    first = drafted("What is the difference between FastCase and SlowCase?", tools, other).excerpts[0].text

    assert "truncates all tables" in first
    assert "rolls back a transaction" in first


def test_a_version_that_a_sentence_states_is_no_release() -> None:
    changes = note("## 3.0.0\n\n- The minimum version of PostgreSQL is now 15.", 1, "Changelog", "markdown")

    assert drafted("What is the minimum version of PostgreSQL?", changes).short_answer == "15"
    assert drafted("Which version raised the minimum version of PostgreSQL?", changes).short_answer in ("", "3.0.0")


def test_a_sentence_in_a_long_clause_of_a_contract_is_found() -> None:
    padding = "The grant covers the claims of each party and nothing else in this text. " * 10
    clauses = note(
        f"2. Warranty. The Work comes without a warranty of non-infringement.\n\n"
        f"3. Patents. {padding}If You file a suit for patent infringement, the license terminates.\n\n"
        f"4. Trademarks. This license grants no trademarks.",
        1,
        "LICENSE",
    )
    answer = drafted("Does the licence terminate after a suit for patent infringement?", clauses)
    assert "If You file a suit for patent infringement, the license terminates." in answer.excerpts[0].text


def test_lettered_conditions_come_as_a_list_with_what_introduces_them() -> None:
    conditions = note(
        "You may distribute copies, provided that You meet these conditions:\n\n"
        "(a) You must pass on this text; and\n\n(b) You must mark modified files.\n\nNothing else is asked of You.",
        1,
        "LICENSE",
    )
    answer = drafted("What must I do when I distribute modified files?", conditions)
    assert answer.excerpts[0].format == "list"
    assert answer.excerpts[0].text.startswith("You may distribute copies")
    assert "> - (b) You must mark modified files." in answer.answer


def test_a_sentence_that_begins_with_a_pronoun_is_about_the_subject_before_it() -> None:
    owl = note(
        "The barn owl lives in old buildings near open fields. It wakes at dusk and hunts until dawn.", 1, "Birds"
    )
    other = note("The barn owl is named after barns. A keeper wakes at six.", 2, "Birds of the zoo")
    answer = drafted("When does the barn owl wake?", other, owl)
    assert "It wakes at dusk" in answer.excerpts[0].text
    assert answer.summary.startswith("It wakes at dusk")


def test_a_sentence_that_names_all_that_is_asked_for_comes_before_one_with_more_words() -> None:
    about = note("This part on completion tells how a shell of Click finds its built-in completion code.", 1, "Shells")
    named = note(
        "It is long. The built-in shells are `bash`, `zsh`, `fish` and `powershell`.", 2, "Completion of Click"
    )
    answer = drafted("For which shells does Click have built-in completion?", about, named)
    assert "The built-in shells are" in answer.excerpts[0].text


def test_a_long_row_of_a_table_is_found() -> None:
    story = "the pump stood still and was started again by hand " * 14
    rows = note(
        f"id: 1 · station: North · report: {story}\nid: 2 · station: South · report: all well", 1, "log", kind="csv"
    )
    answer = drafted("What is the report of the station North?", rows)
    assert "station: North" in answer.excerpts[0].text


def test_a_question_about_a_condition_is_answered_by_a_sentence_with_one() -> None:
    clause = note(
        "Subject to these terms each party grants a patent license for claims that are infringed by its own part of the work. "
        + "The grant is free of charge in every country and for every purpose that the parties can think of today or later on. "
        * 4
        + "If You start litigation over patent infringement, then any license granted to You shall terminate.",
        1,
        "LICENSE",
    )
    answer = drafted("Does the licence end if I sue for patent infringement?", clause)
    assert "If You start litigation" in answer.excerpts[0].text


@pytest.mark.parametrize(
    ("question", "sentence", "name"),
    [
        ("Who is the treasurer of the club?", "Present: Hanne Vik (chair), Tomas Rehak (treasurer)", "Tomas Rehak"),
        ("Who was the chair?", "The treasurer Tomas Rehak spoke, then Hanne Vik, the chair, left.", "Hanne Vik"),
        ("Who is the current maintainer of Git?", "The current maintainer of Git is Junio C Hamano.", "Junio C Hamano"),
        (
            "Who added SQL to Postgres?",
            "In 1994, Andrew Yu and Jolly Chen added SQL to Postgres.",
            "Andrew Yu and Jolly Chen",
        ),
    ],
)
def test_a_person_is_named_by_role_in_full_and_with_others(question: str, sentence: str, name: str) -> None:
    other = note("The club cannot afford the web page of Pixelwerk. Git and Postgres are free.", 2, "Club")
    answer = drafted(question, other, note(sentence, 1, "Notes of the club"))
    assert answer.excerpts[0].text == sentence
    assert answer.short_answer == name


def test_a_name_in_the_question_is_no_role() -> None:
    answer = drafted(
        "Who is Ada Lovelace?", note("Ada Lovelace is Countess of Lovelace and wrote a program.", 1, "Ada")
    )
    assert answer.short_answer == ""


def test_names_below_a_heading_for_authors_answer_who_wrote_it() -> None:
    contents = note(
        "- F.1. Concepts:\n- F.2. Functions:\n- F.3. Authors:\n\nThe trgm module compares strings.", 1, "trgm"
    )
    authors = note(
        "## F.3. Authors\n\nOleg Bartunov, Moscow\n\nTeodor Sigaev, Moscow\n\nThis module is sponsored by Delta Ltd.",
        2,
        "trgm",
    )
    answer = drafted("Who are the authors of trgm?", contents, authors)
    assert answer.excerpts[0].text.startswith("Oleg Bartunov, Moscow\n\nTeodor Sigaev")


def test_a_list_that_is_cut_between_two_passages_is_shown_to_its_end() -> None:
    def part(text: str, handle: int, lines: tuple[int, int]) -> Note:
        return Note(text, (f"[{handle}]",), "Logging in", "text", True, Place("auth.txt", lines))

    first = "The server knows these methods of authentication:\n\n- trust: all are let in\n- password: a word is sent"
    noise = part("Logging in takes a second. A method of the server may fail.", 2, (30, 31))
    answer = drafted(
        "Which methods of authentication does the server know?",
        part(first, 1, (1, 4)),
        noise,
        part("- peer: the system knows\n- LDAP: a directory knows\n\nPick one of them.", 3, (5, 8)),
    )
    assert [excerpt.source for excerpt in answer.excerpts] == ["[1]", "[3]"]
    assert answer.excerpts[1].text == "- peer: the system knows\n- LDAP: a directory knows"


def test_a_firm_is_named_in_full() -> None:
    answer = drafted("Who repaired the quad?", note("The quad was repaired by Lindgren & Sons in May.", 1, "Boats"))
    assert answer.short_answer == "Lindgren & Sons"


def test_the_parts_of_a_name_in_code_are_words() -> None:
    tree = note(
        "All failures:\n\n* HTTPError\n* ConnectTimeout, a TimeoutException\n* ReadTimeout, a TimeoutException",
        1,
        "errors",
    )
    other = note("The httpx client has a pool. It has no timeout of its own.", 2, "httpx")
    answer = drafted("Which timeout exceptions does httpx have?", other, tree)
    assert "ReadTimeout" in answer.excerpts[0].text


def test_who_founded_something_is_answered_by_its_founder_and_not_by_where_it_is_found() -> None:
    spread = note(
        "Its developers of the Debian project can be found in many Western countries.", 1, "The Debian project"
    )
    founder = note("Ian Murdock, founder of the Debian project, was its first leader.", 2, "The Debian project")
    answer = drafted("Who founded the Debian project?", spread, founder)
    assert answer.short_answer == "Ian Murdock"
    assert drafted("Who founded the Debian project?", spread).short_answer == ""


def test_a_name_that_is_only_mentioned_is_no_short_answer() -> None:
    caption = note("The GNU General Public License (GPL) has an author and many readers.", 1, "Licenses")
    assert drafted("Who is the author of the GNU General Public License?", caption).short_answer != "GPL"
    title = note("Origin of the Debian name", 1, "Names of Debian")
    assert drafted("Where does the name Debian come from?", title).short_answer == ""
