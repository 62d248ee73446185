"""Entities and facets of a question, and stems."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.text.entities import content_stems, extract_entities, extract_facets, stem_words
from suffice.text.languages import get_analyzer
from suffice.text.tokens import segment_unspaced


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("When did Maria's brother move to New York?", ["Maria", "New York"]),
        ("How does TCP slow start differ from congestion avoidance?", ["TCP"]),
        ("What is the difference between a mutex and a semaphore?", []),
        ('Who wrote "Winter Harbour" before it was filmed?', ["Winter Harbour"]),
        ("In what year was the University of Padua founded?", ["University of Padua"]),
        ("What does os.path.join() return for an absolute argument?", ["os.path.join"]),
        ("Is the parser in tree_walker.py thread-safe?", ["tree_walker.py"]),
        ("Why is max_size ignored by `resize_window`?", ["max_size", "resize_window"]),
        ("The Kestrels released which album in 1969?", ["Kestrels", "1969"]),
        ("How tall is Mount Elbert in metres?", ["Mount Elbert"]),
        ("Did Ludwig van Houten ever live in Graz?", ["Ludwig van Houten", "Graz"]),
        ("What happened on 12/03/2004?", ["12/03/2004"]),
        ("why is the sky blue", []),
        ("", []),
    ],
)
def test_names_in_a_question(question: str, names: list[str]) -> None:
    assert list(extract_entities(question)) == names


def test_a_comparison_has_two_sides() -> None:
    named = [facet.text for facet in extract_facets("Compare PostgreSQL and MySQL replication") if facet.is_named]
    assert named == ["PostgreSQL", "MySQL"]


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Who founded the company that built the Meridian bridge?", ["Meridian", "founded company", "built bridge"]),
        ("List the risks of lock-in, the costs of migration, and the options for an exit.",
         ["risks lock-in", "costs migration", "options exit"]),
        ("why?", []),
        ("What is it?", []),
    ],
)  # fmt: skip
def test_the_parts_of_a_question(question: str, parts: list[str]) -> None:
    assert [facet.text for facet in extract_facets(question)] == parts


def test_a_question_in_another_script_has_a_part() -> None:
    [facet] = extract_facets("東京の人口は何人ですか？")
    assert "東京" in facet.stems


@given(st.text(max_size=120), st.integers(1, 8))
def test_parts_of_any_text(text: str, most: int) -> None:
    parts = extract_facets(text, most)
    assert len(parts) <= most
    assert all(facet.stems and facet.text for facet in parts)
    assert parts == extract_facets(text, most)


@given(st.text(max_size=120))
def test_entities_of_any_text_stand_in_it_and_come_once(text: str) -> None:
    found = extract_entities(text)
    assert len(found) == len(set(found))
    joined = " ".join(text.split())
    assert all(" ".join(name.split()) in joined for name in found)


def test_words_are_compared_by_stem() -> None:
    assert content_stems("The bridges were designed") == content_stems("design a bridge")
    assert stem_words("Café") == stem_words("cafe")
    assert content_stems("of the what is") == frozenset()


@given(st.text(st.characters(max_codepoint=127)) | st.text("aesdingou' _-.", max_size=40))
def test_stems_word_by_word_are_those_of_the_analyzer(text):
    assert stem_words(text) == tuple(get_analyzer().analyze(segment_unspaced(text)))


def test_a_hash_is_no_word_either_way():
    text = f"short {'a' * 70} words {'b' * 64} {'c' * 63}"
    assert stem_words(text) == tuple(get_analyzer().analyze(text))


@pytest.mark.attack("questions that are slow to parse")
@pytest.mark.parametrize(
    "text",
    [
        "$1" * 9900,
        '"$1"' * 5000,
        "[1]" * 6600,
        " ".join(map(str, range(4000))),
        " ".join(f"Na{number}x," for number in range(2500)),
        " ".join(f'"q{number}"' for number in range(2500)),
    ],
    ids=lambda text: text[:12],
)
def test_a_long_question_is_parsed_in_linear_time(text: str) -> None:
    started = process_time()
    extract_facets(text)
    assert process_time() - started < 2, "quadratic parsing takes many seconds"
