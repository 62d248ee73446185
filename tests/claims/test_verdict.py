"""The verdict on one claim: what decides, with which exact quote, and why."""

import asyncio
import time
from dataclasses import replace

import numpy as np
import pytest

from suffice.answers import Statement
from suffice.claims.checker import Checker, default_checker, select_text
from suffice.claims.reasons import Reason, describe_reason
from suffice.claims.verdict import MAX_CLAIM_CHARS, MAX_CLAIM_FIGURES, build_evidence, judge_claim
from suffice.testing import make_passage

BRIDGE = make_passage(
    "p",
    "The Meridian bridge was designed by the engineer Ada Halloran and built from 1887 to 1889. It carried trams until "
    "1956, when the line was closed because of rising costs. Today it is open to *cyclists* and\nwalkers only.",
    "Meridian bridge",
)


def judge(text, cited=(BRIDGE,), others=(), checker=None):
    handles = tuple(f"[{number}]" for number, _ in enumerate(cited, 1))
    return asyncio.run(judge_claim(Statement(text, handles), cited, others, checker or default_checker()))


class ScriptedReader:
    """A reader that finds support and contradiction in texts with these words, and counts its pairs."""

    def __init__(self, supports="", contradicts="", probability=0.95):
        self.supports, self.contradicts, self.probability = supports, contradicts, probability
        self.pairs = []

    def judge(self, pairs):
        self.pairs += pairs
        rows = []
        for _, text in pairs:
            yes = bool(self.supports) and all(word in text for word in self.supports.split())
            no = bool(self.contradicts) and all(word in text for word in self.contradicts.split())
            rows.append([self.probability if yes else 0.0, self.probability if no else 0.0, 0.0])
        return np.array(rows).reshape(-1, 3)


@pytest.mark.parametrize(
    "text",
    [
        "Today it is open to cyclists and walkers only.",
        "today it is **open** to cyclists and walkers only",
        "It carried trams until 1956, when the line was closed because of rising costs. Today it is open to cyclists and "
        "walkers only.",
    ],
)
def test_a_quoted_sentence_is_supported_without_the_reader(text):
    reader = ScriptedReader()
    verdict = judge(text, checker=Checker(reader))
    assert verdict.support == "supported"
    assert not reader.pairs
    assert verdict.supporting[0].checker == "verbatim"
    assert verdict.supporting[0].text.startswith(("Today it", "It carried"))
    assert verdict.supporting[0].text.endswith("only.")


@pytest.mark.parametrize("text", ["Today it is open to cyclists", "Trams were tested in the line", "line was closed"])
def test_a_part_of_a_sentence_is_not_a_quotation(text):
    source = make_passage(
        "p", "He denied that Trams were tested in the line. Today it is open to cyclists only.", "Line"
    )
    assert judge(text, [source], checker=Checker(ScriptedReader())).support == "unsupported"


def test_other_words_are_supported_with_the_deciding_sentence_and_a_probability():
    verdict = judge("Rising costs led to the closure of the tram line.")
    [quote] = verdict.supporting
    assert (verdict.support, quote.checker) == ("supported", "reader")
    assert quote.probability > 0.5
    assert quote.text == "It carried trams until 1956, when the line was closed because of rising costs."


def test_the_deciding_sentence_has_the_figures_of_the_claim_and_code_is_shown_without_what_surrounds_it():
    text = '"""Call it again when it fails."""\n\nimport time\n\n"""Call it until it succeeds, at most four times."""'
    code = replace(make_passage("c", text), kind="code")
    verdict = judge(
        "It is called until it succeeds, at most four times.", (), (code,), Checker(ScriptedReader("Call it"))
    )
    assert verdict.supporting[0].text == "Call it until it succeeds, at most four times."
    assert build_evidence(verdict, "[1]").text == "Call it until it succeeds, at most four times."


def test_the_reader_finds_a_contradiction_that_has_no_figure():
    verdict = judge("The bridge was never used by trams.")
    assert (verdict.support, verdict.reason) == ("contradicted", Reason("contradicted"))


def test_another_figure_is_a_contradiction_with_both_values():
    verdict = judge("It carried trams until 1957.")
    assert (verdict.support, verdict.reason) == ("contradicted", Reason("figure", "1956", "1957"))
    assert verdict.contradicting[0].text.startswith("It carried trams until 1956")
    assert describe_reason(verdict.reason) == "the source says 1956, not 1957"


def test_a_figure_that_no_cited_passage_has_is_not_supported_however_sure_the_reader_is():
    reader = ScriptedReader(supports="bridge", probability=0.99)
    verdict = judge("Crowds of 40 people crossed Meridian daily.", checker=Checker(reader))
    assert verdict.support == "unsupported"
    assert verdict.reason == Reason("figure", "", "40")


def test_two_cited_passages_support_a_claim_together_where_none_does_alone():
    one = make_passage("1", "Ada Halloran designed the bridge.", "Bridge")
    two = make_passage("2", "The tram line was closed in 1956.", "Trams")
    text = "Ada Halloran designed the bridge, and its tram line was closed in 1956."
    verdict = judge(text, [one, two], checker=Checker(ScriptedReader(supports="Halloran 1956")))
    assert verdict.support == "supported"
    assert [quote.passage.id for quote in verdict.supporting] == ["1", "2"]
    assert judge(text, [one], [two], checker=Checker(ScriptedReader(supports="Halloran 1956"))).support != "supported"


def test_support_from_another_source_does_not_make_the_citation_right():
    other = make_passage("2", "Bread is sold at Velburg on market days.", "Velburg")
    verdict = judge("Bread is sold at Velburg on market days.", [BRIDGE], [other])
    assert (verdict.support, verdict.reason) == ("unsupported", Reason("other_source"))
    assert verdict.uncited_support.passage.id == "2"


def test_sources_that_disagree_are_both_shown():
    one = make_passage("1", "The mill at Velburg was built in 1871 by the river.", "Mill")
    two = make_passage("2", "The mill at Velburg was built in 1902 by the river.", "Mill")
    three = make_passage("3", "Bread is sold at Velburg on market days. A baker came in 1930.", "Bread")
    reader = ScriptedReader(contradicts="1902")
    verdict = judge("The mill at Velburg was built in 1871 by the river.", [one], [two, three], Checker(reader))
    assert verdict.support == "supported"
    assert [quote.passage.id for quote in verdict.contradicting] == ["2"]
    assert len(reader.pairs) == 1, "only a passage about the same matter is read"
    unsure = Checker(ScriptedReader(contradicts="1902", probability=0.7))
    assert not judge("The mill at Velburg was built in 1871 by the river.", [one], [two], unsure).contradicting


def test_rows_of_one_file_do_not_disagree():
    one, two = (
        replace(
            make_passage(str(n), f"The mill at Velburg had {n} wheels in period {n}.", path="mills.csv"), kind="csv"
        )
        for n in (1, 2)
    )
    text = "The mill at Velburg had 1 wheels in period 1."
    assert not judge(text, [one], [two], Checker(ScriptedReader(contradicts="2 wheels"))).contradicting


def test_an_unrelated_passage_that_is_not_cited_contradicts_nothing():
    code = make_passage("1", "def open_gate(force=False): raise GateError", "gate.py")
    checker = Checker(ScriptedReader(contradicts="gate"))
    assert judge("The town council meets on Mondays in winter.", [], [code], checker).support == "unsupported"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Who built the bridge?", "question"),
        ("The main points are:", "introduction"),
        ("So they say.", "too_little"),
        ("1 bridge | 1871 | 163", "too_little"),
    ],
)
def test_what_states_nothing_is_unknown(text, kind):
    verdict = judge(text, [], [BRIDGE])
    assert (verdict.support, verdict.reason) == ("unknown", Reason(kind))


def test_a_claim_that_is_too_long_is_unknown_and_a_long_source_takes_no_longer_than_its_length():
    began = time.process_time()
    assert judge("word " * MAX_CLAIM_CHARS).reason == Reason("too_long")
    figures = f"The values are {' '.join(map(str, range(MAX_CLAIM_FIGURES + 1)))}."
    assert judge(figures, [make_passage("f", " ".join(map(str, range(1_000))), "Values")]).reason == Reason("too_long")
    noise = make_passage("n", "not " * 25_000 + ". " + "1999, " * 100, "Noise")
    judge("The word was made of a word in 1999.", [noise])
    assert time.process_time() - began < 60


def test_of_a_long_passage_the_sentences_near_the_claim_are_read_together():
    filler = "The harbour was busy on every day of that long summer. " * 60
    text = f"The mill has two wheels. {filler}The mill was built by Ada Berg. {filler}"
    read = select_text("Ada Berg built the mill with two wheels.", make_passage("p", text, "Mill"))
    assert "two wheels" in read
    assert "Ada Berg" in read
    assert len(read) < 2_000


def test_many_pairs_are_judged_at_once_and_none_twice():
    reader = ScriptedReader(supports="Halloran")
    checker = Checker(reader)
    pairs = [("Ada planned it.", "By Halloran."), ("Ada planned it.", "By Berg."), ("Ada planned it.", "By Halloran.")]
    first, second, third = asyncio.run(checker(pairs))
    assert (first.supported, second.supported) == (0.95, 0.0)
    assert first == third
    asyncio.run(checker(pairs))
    assert len(reader.pairs) == 2


def test_without_the_reader_common_words_and_figures_decide(monkeypatch):
    monkeypatch.setattr("suffice.claims.checker.find_reader", lambda: None)
    checker = default_checker()
    assert checker.name == "words"
    assert judge("The Meridian bridge was designed by Ada Halloran.", checker=checker).support == "supported"
    assert judge("The Meridian bridge was designed by Ada Halloran in 1901.", checker=checker).support != "supported"
    assert judge("Whales sing in the northern sea.", checker=checker).support == "unsupported"


def test_the_evidence_shows_no_heading_and_nothing_beyond_it():
    text = "# Hosting\n\nIt runs for two years.\n\n## 7. Fees\n\nThe monthly fee of the host is 480 EUR.\n\n## 8. End\n\nNo."
    verdict = judge("The monthly fee of the host is 480 EUR.", [], [make_passage("a", text, "Hosting")])
    evidence = build_evidence(verdict, "[1]")
    assert evidence is not None
    assert evidence.text == "The monthly fee of the host is 480 EUR."


@pytest.mark.parametrize(("kind", "support"), [("markdown", "contradicted"), ("code", "unsupported")])
def test_code_that_a_claim_does_not_cite_supports_but_contradicts_by_figures_alone(kind, support):
    note = replace(make_passage("n", '"""The closed line never carried trams."""'), kind=kind)
    against = Checker(ScriptedReader(contradicts="trams"))
    assert judge("The closed line carried trams.", (), (note,), against).support == support
    assert judge("The closed line carried trams.", (), (note,), Checker(ScriptedReader("trams"))).support == "supported"
    limit = replace(make_passage("c", "DEFAULT_TIMEOUT = 20.0  # Seconds that one try may take."), kind=kind)
    against = Checker(ScriptedReader(contradicts="try"))
    assert judge("One try may take 30 seconds.", (), (limit,), against).support == "contradicted"


def test_the_evidence_marks_the_quoted_sentence_and_not_single_words():
    text = "It was opened in spring. The Meridian bridge was designed by Ada Halloran in 1932. She died in 1961."
    verdict = judge("Ada Halloran designed the Meridian bridge.", [], [make_passage("a", text)])
    evidence = build_evidence(verdict, "[1]")
    assert evidence is not None
    marked = [evidence.text[start:end] for start, end in evidence.highlight]
    assert marked == ["The Meridian bridge was designed by Ada Halloran in 1932."]
    assert evidence.text == text


PRICES = replace(
    make_passage(
        "t",
        "Article: GW-1 · Name: Telemetry gateway LTE · Price (EUR): 540 · Weight (kg): 1.1\n"
        "Article: GW-2 · Name: Telemetry gateway 5G · Price (EUR): 890 · Weight (kg): 1.3\n"
        "Article: FM-200 · Name: Flow meter · Price (EUR): 310 · Weight (kg): 2.9\n"
        "Article: FM-100 · Name: Flow meter small · Price (EUR): 210 · Weight (kg): 2.4",
        "Price list",
    ),
    kind="xlsx",
)


@pytest.mark.parametrize(
    ("claim", "row"),
    [
        ("GW-2 costs 890 EUR.", 1),
        ("FM-100 weighs 2.4 kg.", 3),
        ("The Telemetry gateway LTE costs 540 EUR.", 0),
        ("The flow meter costs 310 EUR.", 2),
    ],
)
def test_a_claim_is_read_against_the_row_of_a_table_that_it_is_about(claim, row):
    verdict = judge(claim, (PRICES,))
    assert verdict.support == "supported"
    assert verdict.supporting[0].text == PRICES.text.splitlines()[row]
    assert build_evidence(verdict, "[1]").text == PRICES.text.splitlines()[row]


def test_a_claim_about_two_rows_is_read_against_both_when_one_has_more_of_its_words():
    rows = "item: bolt · price: 10 EUR\nitem: hex nut · price: 90 EUR\nitem: washer · price: 3 EUR"
    goods = replace(make_passage("t", rows, "Prices"), kind="csv")
    assert judge("Bolts cost 10 EUR and hex nuts cost 90 EUR.", (goods,)).support == "supported"
    assert judge("A bolt costs 90 EUR.", (goods,)).support != "supported"


@pytest.mark.parametrize("claim", ["GW-2 costs 540 EUR.", "FM-200 weighs 2.4 kg.", "A gateway costs 2,000 EUR."])
def test_the_figure_of_another_row_supports_nothing(claim):
    assert judge(claim, (PRICES,)).support != "supported"


POLICIES = make_passage(
    "i",
    "# Insurance summary\n\n| Policy | Insurer | Sum insured | Excess | Premium a year |\n|---|---|---|---|---|\n"
    "| Product liability | Calder Re | 2,000,000 GBP | 5,000 GBP | 6,480 GBP |\n"
    "| Property | Northgate Mutual | 850,000 GBP | 1,000 GBP | 2,310 GBP |\n"
    "| Cyber | Calder Re | 500,000 GBP | 2,500 GBP | 3,150 GBP |\n\nAll policies are renewed on 1 July.",
    "Insurance summary",
)


@pytest.mark.parametrize(
    ("claim", "quote"),
    [
        ("The excess of the cyber policy is 2,500 GBP.", "| Cyber |"),
        ("The property policy costs 2,310 GBP a year.", "| Property |"),
        ("The policies are renewed on 1 July.", "All policies"),
    ],
)
def test_a_table_in_a_text_is_read_with_the_names_of_its_columns(claim, quote):
    for cited in ((POLICIES,), ()):
        verdict = judge(claim, cited, (POLICIES,))
        assert verdict.support == "supported"
        assert verdict.supporting[0].text.startswith(quote)


@pytest.mark.parametrize(
    "claim", ["The excess of the cyber policy is 5,000 GBP.", "The cyber policy costs 2,310 GBP a year."]
)
def test_a_figure_of_another_row_of_a_table_in_a_text_supports_nothing(claim):
    verdict = judge(claim, (POLICIES,))
    assert verdict.support == "contradicted"
    assert verdict.contradicting[0].text.startswith("| Cyber |")


def test_the_quote_is_the_sentence_without_which_the_passage_does_not_say_it():
    """No sentence says it alone, and the title has as many of its words."""

    class PassageReader(ScriptedReader):
        def judge(self, pairs):
            rows = super().judge(pairs)
            rows[[len(text) < 60 for _, text in pairs]] = 0.0
            return rows

    law = make_passage(
        "l", "SUPPLY AGREEMENT\n\nKestrel supplies KM-20.\n\nGerman law applies. It runs for three years.", "c"
    )
    verdict = judge(
        "The supply agreement is governed by the law of Germany.", (law,), checker=Checker(PassageReader("German"))
    )
    assert verdict.supporting[0].text == "German law applies."


def test_a_claim_that_no_source_states_comes_with_what_is_nearest():
    lease = make_passage(
        "l", "The Tenant has paid a deposit of 12,450 GBP. The roof is not part of the premises.", "Lease"
    )
    verdict = judge("Tidewell paid its bank a deposit of 12,450 GBP.", (), (lease,))
    assert verdict.support == "unsupported"
    assert verdict.deciding_quote.text == "The Tenant has paid a deposit of 12,450 GBP."
