"""The chart of the readings."""

from dataclasses import replace
from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from suffice.report import chart
from suffice.types import RoundRecord, Stop, Verdict

SVG = "{http://www.w3.org/2000/svg}"


def _words(svg: str) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(svg).iter(f"{SVG}text")]


def test_the_readings_that_ended_the_run_come_first(stop: Stop) -> None:
    words = _words(chart.render_chart(stop))
    labels = {
        "overlap with the round before": 0, "results not seen before": 1, "new words found": 2, "question covered": 3
    }  # fmt: skip
    assert [labels[word] for word in words if word in labels] == [0, 1, 2, 3]


def test_the_stop_and_the_thresholds_are_labelled(stop: Stop) -> None:
    words = _words(chart.render_chart(stop))
    assert "stopped after round 5" in words
    assert {"stops from 60 %", "stops below 30 %"} <= set(words)


def test_it_has_a_description_for_screen_readers(stop: Stop) -> None:
    root = ElementTree.fromstring(chart.render_chart(stop))
    assert root.get("role") == "img"
    described = root.findtext(f"{SVG}desc") or ""
    assert "overlap with the round before: unknown, 12 %, unknown, 64 %, 79 % (stops from 60 %)" in described
    assert "Rejected rounds: 3" in described


def test_an_unknown_reading_is_a_gap_in_the_line(stop: Stop) -> None:
    root = ElementTree.fromstring(chart.render_chart(stop))
    lengths = [len((line.get("points") or "").split()) for line in root.iter(f"{SVG}polyline")]
    assert lengths == [1, 2, 4, 2, 2, 5]


def test_two_charts_share_no_id(stop: Stop) -> None:
    ids = [
        e.get("id")
        for p in ("a", "b")
        for e in ElementTree.fromstring(chart.render_chart(stop, prefix=p)).iter()
        if e.get("id")
    ]
    assert len(ids) == len(set(ids)) == 4


def test_without_readings_there_is_no_chart(stop: Stop) -> None:
    assert chart.render_chart(replace(stop, rounds=())) == ""


def test_a_reading_that_only_a_verdict_recorded_is_drawn(stop: Stop) -> None:
    verdict = Verdict(
        "any", True, "saturated", parts=(Verdict("own", True, "saturated", signals={"own.value": (4.0, 5.0)}),)
    )
    first, last = RoundRecord(1, True, (), 0, {}, ()), RoundRecord(2, True, (), 0, {}, (verdict,))
    assert "own.value" in _words(chart.render_chart(replace(stop, reason="saturated", round=2, rounds=(first, last))))


def test_one_round_has_no_course_to_draw(stop: Stop) -> None:
    assert chart.render_chart(replace(stop, round=1, rounds=stop.rounds[:1])) == ""


@given(
    st.lists(
        st.dictionaries(st.sampled_from(["novelty.words", "overlap.upr"]), st.none() | st.floats(width=32)), max_size=40
    ),
    st.integers(-1, 41),
    st.floats(width=32),
)
def test_it_is_well_formed_for_any_readings(readings: list[dict[str, float | None]], last: int, limit: float) -> None:
    verdict = Verdict("g<>", True, "exhausted", signals={"overlap.upr": (None, limit)})
    records = tuple(RoundRecord(i, i % 3 != 0, (), 0, read, (verdict,)) for i, read in enumerate(readings, start=1))
    svg = chart.render_chart(Stop("exhausted", "g<>", last, "heuristic", "", records), width=350)
    if svg:
        root = ElementTree.fromstring(svg)
        for circle in root.iter(f"{SVG}circle"):
            assert 0 <= float(circle.get("cx") or "nan") <= 350
