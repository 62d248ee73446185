"""The verdict on one claim: which sources disagree about it."""

import asyncio
from dataclasses import replace

import pytest

from suffice.claims.checkers import EvidenceSpan, LexicalChecker
from suffice.claims.split import extract_claims
from suffice.claims.verdict import build_evidence, judge_claim
from suffice.testing import make_passage


def disagree(one, other, titles=("Tin", "Ore")):
    cited, against = (make_passage(title, text, title) for title, text in zip(titles, (one, other), strict=True))
    [claim] = extract_claims(f"{one[:-1]} [1].")
    verdict = asyncio.run(judge_claim(claim, [cited], [against], LexicalChecker()))
    assert verdict.support == "supported"
    return bool(verdict.contradicting)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("In 2020 the Velholm mine produced 120 t of tin.", "In 2021 the Velholm mine produced 150 t of tin."),
        ("In 2020 the Velholm mine produced 120 t of tin.", "In 2021 the Velholm mine produced 120 t of tin."),
        ("Season 2 of Velholm Nights had 10 episodes on air.", "Season 3 of Velholm Nights had 12 episodes on air."),
        ("Season 2 of Velholm Nights had 10 episodes on air.", "Season 3 of Velholm Nights had 10 episodes on air."),
        (
            "The first album of Karsund has sold 5 million copies.",
            "The second album of Karsund has sold 6 million copies.",
        ),
        ("The Velholm mine produced 120 t of tin ore yearly.", "The Karsund mine produced 150 t of tin ore yearly."),
        (
            "The film grossed 5 million dollars at the box office.",
            "The film grossed 6 million dollars at the box office.",
        ),
        ("In March the Velholm mine produced 120 t of tin.", "In March 2021 the Velholm mine produced 150 t of tin."),
    ],
    ids=["years", "same figure", "seasons", "same count", "albums", "names", "no name", "one year"],
)
def test_different_matters_are_no_disagreement(one, other):
    assert not disagree(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("In 2020 the Velholm mine produced 120 t of tin.", "In 2020 the Velholm mine produced 150 t of tin."),
        ("The Velholm mine of tin ore was opened in 1887.", "The Velholm mine of tin ore was opened in 1891."),
        ("The Velholm mine of tin ore is still open today.", "The Velholm mine of tin ore is not open today."),
    ],
    ids=["figure", "year", "negation"],
)
def test_sources_that_disagree(one, other):
    assert disagree(one, other)


def test_a_sentence_without_a_name_is_about_its_title():
    one, other = (f"The film grossed {n} million dollars at the box office." for n in (5, 6))
    assert disagree(one, other, ("Nights", "nights"))


def test_the_evidence_shows_no_heading_and_nothing_beyond_it():
    text = "# Hosting\n\nIt runs for two years.\n\n## 7. Fees\n\nThe monthly fee of the host is 480 EUR.\n\n## 8. End\n\nNo."
    [claim] = extract_claims("The monthly fee of the host is 480 EUR.")
    passage = make_passage("a", text, "Hosting")
    verdict = asyncio.run(judge_claim(claim, [], [passage], LexicalChecker()))
    evidence = build_evidence(verdict, "[1]")
    assert evidence is not None
    assert evidence.text == "The monthly fee of the host is 480 EUR."


@pytest.mark.parametrize(
    ("kind", "checker", "overlap", "support"),
    [
        ("text", "reader", 0.4, "contradicted"),
        ("code", "reader", 0.4, "unsupported"),
        ("code", "reader", 0.6, "contradicted"),
        ("code", "lexical", 0.4, "contradicted"),
    ],
)
def test_the_reader_contradicts_nothing_by_unrelated_code(kind, checker, overlap, support):
    source = replace(make_passage("p", "The bridge was never built, says the mayor of Graz.", "Bridge"), kind=kind)

    async def check(claim, passages):
        return [EvidenceSpan(0, 26, "contradicts", 0.9, overlap, checker=checker) for _ in passages]

    claim = next(extract_claims("The bridge was built by the mayor of Graz."))
    assert asyncio.run(judge_claim(claim, [], [source], check)).support == support


def test_beside_a_quoted_sentence_only_passages_that_may_disagree_are_read():
    read = []

    async def check(claim, passages):
        read.extend(passage.title for passage in passages)
        return await LexicalChecker()(claim, passages)

    [claim] = extract_claims("The mill at Velburg was built in 1871 by the river [1].")
    quoted = make_passage("1", "The mill at Velburg was built in 1871 by the river.", "quoted")
    other = make_passage("2", "The mill at Velburg was built in 1902 by the river.", "other year")
    unrelated = make_passage("3", "Bread is sold at Velburg on market days. A baker came in 1930.", "unrelated")
    verdict = asyncio.run(judge_claim(claim, [quoted], [other, unrelated], check))
    assert read == ["quoted", "other year"]
    assert [quote.passage.title for quote in verdict.contradicting] == ["other year"]
