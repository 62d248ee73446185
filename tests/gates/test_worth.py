"""The default gate: which level it uses, how it explains itself, and that it abstains without its signals."""

import json
import math
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.errors import InputError
from suffice.gates.parse import parse_gate
from suffice.gates.worth import estimate_gain, extract_signals, load_weights, worth

TEXT = {
    "worth.missing_names": 1.0,
    "worth.missing_words": 3.0,
    "worth.pair_cover": 0.5,
    "worth.second_adds": 0.2,
    "worth.standout": 0.3,
}
SPENT = {"spend.rounds": 1.0}


def rounds(count, **last):
    return [{**SPENT}] * (count - 1) + [{**SPENT, **last}]


@pytest.mark.parametrize(
    ("readings", "level"),
    [
        ({**TEXT, "sufficiency.model": 0.7}, "text+reader"),
        (TEXT, "text"),
        ({**TEXT, "worth.missing_names": None, "sufficiency.model": 0.7}, "words+reader"),  # no name in the question
        ({**TEXT, "worth.missing_names": None}, "words"),
        ({"sufficiency.model": 0.7}, "reader"),  # no texts
        ({}, "bare"),
        ({**TEXT, "sufficiency.model": 1.0}, "text"),  # a plain yes carries no probability
        ({**TEXT, "sufficiency.model": 0.0}, "text"),
        ({**TEXT, "worth.pair_cover": None}, "bare"),
    ],
)
def test_the_richest_level_whose_signals_are_known_is_used(readings, level):
    weights = load_weights(None)
    signals = extract_signals(readings, 2, weights.standout)
    own = next(one for one in read_shipped()["levels"] if one["name"] == level)
    total = own["bias"] + sum(weight * signals[name] for name, weight in own["weights"].items())
    assert estimate_gain(readings, 2, weights) == pytest.approx(1 / (1 + math.exp(-total)))


def read_shipped():
    return json.loads((files("suffice.gates") / "worth.json").read_text(encoding="utf-8"))


def test_the_shipped_weights_state_their_provenance():
    data = read_shipped()
    assert {"sets", "licences", "agents", "episodes", "rows", "transfer"} <= data["provenance"].keys()
    assert [level["name"] for level in data["levels"]][-1] == "bare"


unit = st.floats(0, 1)


@given(st.integers(1, 20), st.integers(0, 8), unit, unit, st.none() | unit, st.none() | st.floats(0.0001, 0.9999))
def test_the_log_odds_are_the_weighted_sum_of_the_signals(number, missing, pair, second, lead, sure):
    readings = {**TEXT, "worth.missing_names": float(missing), "worth.pair_cover": pair, "worth.second_adds": second}
    readings |= {"worth.standout": lead, "sufficiency.model": sure}
    weights = load_weights(None)
    p = estimate_gain(readings, number, weights)
    signals = extract_signals(readings, number, weights.standout)
    bias, weighed = next(level for level in weights.levels if None not in map(signals.get, level[1]))
    assert 0 < p < 1
    total = bias + sum(weight * signals[name] for name, weight in weighed.items())
    assert math.log(p / (1 - p)) == pytest.approx(total)


def test_each_signal_moves_the_estimate_in_the_right_direction():
    def p(number=2, **changed):
        return estimate_gain({**TEXT, **changed}, number, load_weights(None))

    assert p(5) < p(2) < p(1)
    assert p(**{"worth.missing_names": 4.0}) > p(**{"worth.missing_names": 0.0})
    assert p(**{"worth.pair_cover": 1.0}) < p(**{"worth.pair_cover": 0.0})
    assert p(**{"sufficiency.model": 0.9}) < p(**{"sufficiency.model": 0.2})
    # A reader's certainty counts up to 95 %.
    assert p(**{"sufficiency.model": 0.96}) == p(**{"sufficiency.model": 0.9999})


def test_it_stops_below_its_price_and_explains_why():
    expensive, cheap = worth(price=0.9), worth(price=0.001)
    stopped, going = expensive.judge(rounds(3, **TEXT)), cheap.judge(rounds(3, **TEXT))
    assert (stopped.stop, stopped.reason, stopped.promise) == (True, "diminished", "estimate")
    assert going.stop is False
    [(value, price)] = stopped.signals.values()
    assert price == 0.9
    assert f"another round brings new evidence is {100 * value:.0f} %, below 90 %" in stopped.because
    assert f"is {100 * value:.2g} %, at least 0.1 %" in going.because


def test_a_higher_price_stops_earlier():
    history = [{**SPENT, **TEXT} for _ in range(12)]

    def stop(price):
        return next((n for n in range(1, 13) if worth(price).judge(history[:n]).stop), 99)

    stops = [stop(price) for price in (0.02, 0.05, 0.1, 0.2, 0.5, 0.9)]
    assert stops == sorted(stops, reverse=True)
    assert stops[0] > stops[-1]


@pytest.mark.parametrize(
    "readings", [[], [{}], [{"novelty.words": 3.0}], [{**TEXT}], [{**SPENT}, {"novelty.words": 1.0}]]
)
def test_it_abstains_before_the_round_is_complete(readings):
    assert worth(price=0.999).judge(readings).stop is None


def write(path, **changed):
    level = {"name": "only", "bias": 0.0, "weights": {"log_round": -1.0, "pair_cover": -2.0}}
    path.write_text(json.dumps({"price": 0.25, "standout": 0.1, "levels": [level], **changed}), encoding="utf-8")
    return str(path)


def test_weights_from_a_file(tmp_path):
    file = write(tmp_path / "own.json")
    gate = worth(file=file)
    assert gate.price == 0.25
    assert gate.judge(rounds(1, **{**TEXT, "worth.pair_cover": 0.0})).signals["worth.p"][0] == pytest.approx(0.5)
    assert gate.judge(rounds(1, **{**TEXT, "worth.pair_cover": 1.0})).stop is True
    assert worth(price=0.3, file=file).price == 0.3
    # The only level of this file needs texts; without them the gate abstains.
    assert gate.judge(rounds(9)).stop is None


def test_it_prints_as_text_that_parses_back(tmp_path):
    file = write(tmp_path / "it's own.json")
    for gate in (worth(), worth(0.05), worth(price=0.3, file=file), worth(file=file)):
        assert parse_gate(str(gate)) == gate
        assert parse_gate(str(gate)).price == gate.price
    assert str(worth()) == "worth"
    assert str(worth(0.15)) == "worth(price=0.15)"


def test_extreme_weights_are_valid(tmp_path):
    level = {"name": "sure", "bias": -5000.0, "weights": {"log_round": 0.0}}
    gate = worth(file=write(tmp_path / "own.json", levels=[level]))
    assert gate.judge(rounds(1)).stop is True
    level["bias"] = 5000.0
    assert worth(file=write(tmp_path / "own2.json", levels=[level])).judge(rounds(1)).stop is False


@pytest.mark.parametrize("price", [0, 1, -0.1, 1.5, math.nan])
def test_a_price_is_a_probability(price):
    with pytest.raises(ValueError, match="between 0 and 1"):
        worth(price=price)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "not json",
        "[]",
        "{}",
        '{"price": 0.1, "standout": 0.1, "levels": []}',
        '{"price": 0.1, "standout": 0.1, "levels": 3}',
        '{"price": 0.1, "standout": 0.1, "levels": [{"name": "x", "weights": {}}]}',
        '{"price": 0.1, "standout": 0.1, "levels": [{"name": "x", "bias": "high", "weights": {}}]}',
        '{"price": 0.1, "standout": 0.1, "levels": [{"name": "x", "bias": 0, "weights": [1]}]}',
        '{"price": null, "standout": 0.1, "levels": [{"name": "x", "bias": 0, "weights": {}}]}',
        '{"price": 7, "standout": 0.1, "levels": [{"name": "x", "bias": 0, "weights": {}}]}',
    ],
)
def test_a_broken_file_is_rejected(tmp_path, text):
    path = tmp_path / "broken.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match="worth"):
        worth(file=str(path))


def test_an_unknown_signal_is_rejected(tmp_path):
    level = {"name": "odd", "bias": 0.0, "weights": {"moon_phase": 1.0}}
    with pytest.raises(ValueError, match="moon_phase"):
        worth(file=write(tmp_path / "own.json", levels=[level]))


def test_a_missing_file_says_how_to_make_one(tmp_path):
    with pytest.raises(ValueError, match="suffice lab fit"):
        worth(file=str(tmp_path / "none.json"))


def test_a_price_in_tokens_compares_what_a_round_costs():
    spent = {**TEXT, "spend.rounds": 1.0, "spend.tokens": 1_000.0, "spend.usd": None}
    assert worth(20_000, unit="tokens").judge([spent]).signals["worth.p"][1] == pytest.approx(0.05)
    assert worth(1_001, unit="tokens").judge([spent]).stop
    assert worth(0.5, unit="usd").judge([spent]).stop is None  # The model's price is not known.


@pytest.mark.parametrize("text", ["worth(unit=euro)", "worth(unit=tokens)", "worth(price=0, unit=usd)"])
def test_a_wrong_unit_or_price_is_refused(text):
    with pytest.raises(InputError, match="worth"):
        parse_gate(text)


@pytest.mark.parametrize(
    "text", ["worth(preview=0.1)", "worth(0.2, preview=1) | exhaustion", "barren", "worth | barren(3)"]
)
def test_what_skipped_rounds_is_unknown(text):
    with pytest.raises(InputError, match=r"preview.*it takes price|no gate named 'barren'"):
        parse_gate(text)


def test_a_weights_file_of_an_older_version_is_read(tmp_path):
    file = tmp_path / "old.json"
    level = {"name": "bare", "bias": -1.0, "weights": {"log_round": -1.0}}
    data = {"price": 0.1, "standout": 0.2, "levels": [level], "preview": {**level, "weights": {"adds": 2.0}}}
    file.write_text(json.dumps(data), encoding="utf-8")
    assert worth(file=str(file)).judge(rounds(1, **TEXT)).stop is False
