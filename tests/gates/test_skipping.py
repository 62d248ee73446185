"""Skipping: what a gate says on the preview of a round, how skips combine, and what bounds them."""

import json

import pytest

from suffice.errors import InputError
from suffice.gates import barren, fixed
from suffice.gates.leaf import LeafGate
from suffice.gates.parse import parse_gate
from suffice.gates.worth import worth

READ = {"worth.pair_cover": 0.4, "worth.second_adds": 0.1, "worth.missing_names": 1.0, "spend.rounds": 1.0}
RICH = {"preview.round": 2.0, "preview.new": 5.0, "preview.adds": 0.4, "preview.linked": 0.9, "preview.named": 1.0}
POOR = {"preview.round": 2.0, "preview.new": 1.0, "preview.adds": 0.0, "preview.linked": 0.0, "preview.named": 0.0}


class says(LeafGate):
    """A gate that always says the same."""

    def __init__(self, stop, skip=False):
        super().__init__()
        self.stop, self.skip, self.skips = stop, skip, skip

    def judge(self, readings, seed=0):
        return self.make_verdict(self.stop, "exhausted", "it says so", skip=self.skip)


STOPS, GOES_ON, UNKNOWN, SKIPS = says(True), says(False), says(None), says(None, skip=True)


@pytest.mark.parametrize(
    ("gate", "stop", "skip"),
    [
        (SKIPS | GOES_ON, None, True),
        (SKIPS | STOPS, True, False),
        (UNKNOWN | SKIPS, None, True),
        (SKIPS & GOES_ON, False, False),
        (SKIPS & UNKNOWN, None, False),
        (SKIPS & SKIPS, False, True),
        (STOPS & SKIPS, False, True),
        (SKIPS.after(3), False, True),
        (SKIPS.patience(2), None, True),
        (SKIPS.gap_aware(), None, True),
    ],
)
def test_a_stop_wins_over_a_skip_and_a_conjunction_needs_every_part(gate, stop, skip):
    verdict = gate.judge([{}])
    assert (verdict.stop, verdict.skip, gate.skips) == (stop, skip, True)
    assert not skip or "it says so" in verdict.because or isinstance(gate, type(SKIPS.after(3)))


def test_poor_results_are_skipped_and_rich_ones_are_read():
    gate = worth(preview=0.1)
    assert gate.judge([READ, POOR]).skip
    assert not gate.judge([READ, RICH]).skip
    assert gate.judge([READ, POOR]).signals["preview.p"][0] < 0.1 < gate.judge([READ, RICH]).signals["preview.p"][0]
    assert "these results hold new evidence" in gate.judge([READ, POOR]).because


def test_the_first_results_are_always_read_and_without_a_preview_nothing_is_skipped():
    assert not worth(preview=0.1).judge([POOR]).skip
    assert not worth(preview=0.1).judge([READ, {"preview.round": 2.0}]).skip
    assert not worth().judge([READ, POOR]).skip
    assert not worth().skips


def test_a_cheap_preview_lowers_the_chance_at_which_the_search_stops():
    after = [{**READ, **RICH, "preview.round": 1.0}]
    whole, tenth = worth().judge(after), worth(preview=0.1).judge(after)
    assert whole.signals["worth.p"] == (pytest.approx(tenth.signals["worth.p"][0]), 0.1)
    assert tenth.signals["worth.p"][1] == pytest.approx(0.01)


def test_after_a_skip_the_belief_of_the_round_before_counts():
    skipped = {**POOR, "spend.rounds": 1.0, "preview.skipped": 1.0}
    verdict = worth(preview=0.1).judge([READ, skipped])
    assert verdict.stop is False
    assert verdict.signals["worth.p"][0] < worth(preview=0.1).judge([READ]).signals["worth.p"][0]  # A later round.


def test_a_price_in_tokens_compares_what_a_round_costs():
    spent = {**READ, "spend.tokens": 1_000.0, "spend.usd": None}
    assert worth(20_000, unit="tokens").judge([spent]).signals["worth.p"][1] == pytest.approx(0.05)
    assert worth(2_000, unit="tokens").judge([spent]).stop
    assert worth(0.5, unit="usd").judge([spent]).stop is None  # The model's price is not known.


@pytest.mark.parametrize(
    "text", ["worth(preview=2)", "worth(unit=euro)", "worth(unit=tokens)", "worth(price=0, unit=usd)", "barren(n=0)"]
)
def test_bad_values_are_refused(text):
    with pytest.raises(InputError, match=text.partition("(")[0]):
        parse_gate(text)


@pytest.mark.parametrize("text", ["worth(preview=0.1) | barren(n=3)", "worth(price=500, unit=tokens)", "barren"])
def test_the_text_of_a_gate_reads_back(text):
    assert str(parse_gate(text)) == text


def test_a_weights_file_without_a_preview_model_only_stops(tmp_path):
    file = tmp_path / "old.json"
    level = {"name": "bare", "bias": -1.0, "weights": {"log_round": -1.0}}
    file.write_text(json.dumps({"price": 0.1, "standout": 0.2, "levels": [level]}), encoding="utf-8")
    gate = worth(file=str(file), preview=0.1)
    assert not gate.skips
    assert not gate.judge([READ, POOR]).skip


def test_barren_stops_after_skips_in_a_row():
    gate = barren(2) | fixed(9)
    assert not gate.judge([READ, {"preview.skipped": 1.0, "spend.rounds": 1.0}]).stop
    verdict = gate.judge([READ, {"preview.skipped": 2.0, "spend.rounds": 1.0}])
    assert (verdict.stop, verdict.reason) == (True, "exhausted")
