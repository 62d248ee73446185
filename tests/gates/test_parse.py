"""Gates as text: printed gates parse back, malformed text is rejected in one line, and nothing is evaluated."""

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import (
    budget,
    exhaustion,
    fixed,
    gain,
    judged,
    predicates,
    recall,
    saturation,
    sufficiency,
    unseen,
    worth,
)
from suffice.errors import InputError
from suffice.gates.parse import parse_gate

share = st.floats(0, 1)
inside = st.floats(0, 1, exclude_min=True, exclude_max=True)
above = st.floats(1e-6, 1e9)
leaves = st.one_of(
    st.builds(saturation, st.none() | st.floats(0, 10)),
    st.builds(sufficiency, st.floats(0, 1, exclude_min=True)),
    st.builds(fixed, st.integers(1, 10**9)),
    st.builds(gain, st.floats(1e-9, 1), st.integers(1, 9)),
    st.builds(unseen, st.floats(0, 1, exclude_max=True)),
    st.builds(judged, st.sampled_from(["conservative", "neutral"])),
    st.builds(recall, inside, inside),
    st.just(predicates()),
    st.builds(worth, inside),
    st.builds(exhaustion, share, share, st.integers(1, 9), st.integers(1, 9), st.none() | st.floats(1e-6, 1)),
    st.builds(
        budget,
        st.none() | st.integers(1, 10**9),
        st.none() | st.integers(1, 10**9),
        st.none() | st.integers(1, 10**12),
        st.none() | above,
        st.none() | above,
    ),
)
gates = st.recursive(
    leaves,
    lambda kids: st.one_of(
        st.tuples(kids, kids).map(lambda pair: pair[0] | pair[1]),
        st.tuples(kids, kids).map(lambda pair: pair[0] & pair[1]),
        st.tuples(kids, st.integers(0, 9)).map(lambda pair: pair[0].after(pair[1])),
        st.tuples(kids, st.integers(1, 9)).map(lambda pair: pair[0].patience(pair[1])),
        st.tuples(kids, share).map(lambda pair: pair[0].epsilon(pair[1])),
        st.tuples(kids, st.integers(1, 9999)).map(lambda pair: pair[0].floor(pair[1])),
        st.tuples(kids, st.integers(0, 9)).map(lambda pair: pair[0].gap_aware(pair[1])),
        st.tuples(kids, st.integers(1, 9)).map(lambda pair: pair[0].resample(pair[1])),
    ),
    max_leaves=8,
)
reading = st.none() | share
rounds = st.fixed_dictionaries(
    {
        "overlap.jaccard": reading,
        "overlap.upr": reading,
        "novelty.words": st.none() | st.floats(0, 10),
        "sufficiency.model": reading,
        "coverage.gain": reading,
        "unseen.mass": reading,
        "belief.open": reading,
        "judged.neutral": reading,
        "spend.rounds": st.none() | st.integers(1, 10).map(float),
        "spend.seconds": st.none() | st.floats(0, 100),
    }
)


@given(gates, st.lists(rounds, min_size=1, max_size=5), st.integers(0, 99))
def test_a_gate_prints_as_text_that_parses_back_to_the_same_gate(gate, readings, seed):
    again = parse_gate(str(gate))
    assert again == gate
    assert str(again) == str(gate)
    assert again.needs == gate.needs
    assert again.judge(readings, seed) == gate.judge(readings, seed)


@pytest.mark.parametrize(
    ("text", "gate"),
    [
        ("saturation", saturation()),
        ("saturation()", saturation()),
        ("  saturation ( 4 ) ", saturation(4)),
        ("saturation(by='words')", saturation()),
        ('saturation(by="words")', saturation()),
        ("saturation(by=words, threshold=2)", saturation(2)),
        ("exhaustion(j=0.6, u=0.3, p=2)", exhaustion()),
        ("exhaustion(.7,.2,3)", exhaustion(0.7, 0.2, 3)),
        ("budget(usd=5e-2)", budget(usd=0.05)),
        ("worth(0.3)", worth(price=0.3)),
        ("judged(style=neutral)", judged("neutral")),
        ("fixed(+3)", fixed(3)),
        ("budget(tokens=123456789012345678)", budget(tokens=123456789012345678)),
        ("fixed(007)", fixed(7)),
        ("fixed(3.)", fixed(3)),
        ("((fixed(3)))", fixed(3)),
        ("saturation\u00a0|\tfixed(3)", saturation() | fixed(3)),
        ("saturation.gap_aware(1).resample(2).floor(1800)", saturation().gap_aware(1).resample(2).floor(1800)),
        ("fixed(3) | saturation & sufficiency", fixed(3) | (saturation() & sufficiency())),
        ("(fixed(3) | saturation) & sufficiency", (fixed(3) | saturation()) & sufficiency()),
        ("saturation.after(2).epsilon(0.15)", saturation().after(2).epsilon(0.15)),
        ("(saturation | sufficiency).patience(2)", (saturation() | sufficiency()).patience(2)),
        (
            "exhaustion(p=2) | (saturation & sufficiency).after(2)\n  | budget(rounds=5)",
            exhaustion() | (saturation() & sufficiency()).after(2) | budget(rounds=5),
        ),
    ],
)
def test_texts_as_users_write_them(text, gate):
    assert parse_gate(text) == gate


MALFORMED = [
    "",
    "   ",
    "|",
    "saturation |",
    "| saturation",
    "saturation || fixed(2)",
    "saturation && fixed(2)",
    "saturation fixed(2)",
    "saturation | | fixed(2)",
    "saturation or fixed(2)",
    "not saturation",
    "~saturation",
    "()",
    "(saturation",
    "saturation)",
    "((saturation)",
    "saturation(",
    "saturation(3",
    "saturation(3 4)",
    "saturation(,)",
    "saturation(3,)",
    "budget(rounds=5,)",
    "budget(rounds=)",
    "budget(=5)",
    "budget(rounds==5)",
    "budget(rounds=5 queries=3)",
    "budget(rounds=5, 3)",
    "budget(5, rounds=5)",
    "budget(rounds=5, rounds=6)",
    "budget(rounds=0)",
    "budget(rounds=-1)",
    "budget(rounds=many)",
    "budget(rounds='5')",
    "budget(rounds=1_000)",
    "budget(rounds=1+1)",
    "budget(rounds=2**8)",
    "budget(rounds=[1])",
    "budget(rounds=nan)",
    "budget(rows=5)",
    "saturaton",
    "saturation(threshold=nan)",
    "saturation(threshold=12)",
    "saturation(by=smell)",
    "saturation('words",
    "exhaustion(j=2)",
    "exhaustion(p=1.5)",
    "exhaustion(1, 1, 1, 1, 1, 1)",
    "exhaustion(p=1e999)",
    "worth(price=2)",
    "worth(price=cheap)",
    "worth(file='no/such/file.json')",
    "fixed",
    "fixed()",
    "fixed(0)",
    "fixed(1.5)",
    "fixed(1e999)",
    "fixed(2, 3)",
    "saturation.",
    "saturation.after",
    "saturation.after()",
    "saturation.after(",
    "saturation.after(2",
    "saturation.after(n=2)",
    "saturation.after(two)",
    "saturation.after(true)",
    "saturation.after('2')",
    "saturation.after(-1)",
    "saturation.after(1.5)",
    "saturation.after(1e999)",
    "saturation.after(1, 2)",
    "saturation.patience(0)",
    "saturation.patience(1e999)",
    "saturation.epsilon(2)",
    "saturation.epsilon(-0.1)",
    "saturation.judge(1)",
    "saturation.__class__(1)",
    ".after(2)",
    "5",
    "'saturation'",
    "saturation; fixed(2)",
    "saturation\x00",
    "saturation # a remark",
    "лимит(5)",
    "fixed(3) if saturation else fixed(2)",
    "lambda: fixed(2)",
    "__import__('os').system('true')",
    "budget(rounds=__import__('os'))",
    "fixed(open('x'))",
    "saturation(by=words-1)",
    "saturation(by=r'words')",
    "saturation(by='wor' 'ds')",
    "saturation(by='''words''')",
    "saturation(by=None)",
    "saturation(by=words for words in saturation)",
    "saturation(*words)",
    "saturation.after(1).k",
    "saturation.1",
    "saturation()()",
    "saturation, fixed(2)",
    "saturation and fixed(2)",
    "budget(rounds=0x5)",
    "budget(rounds=5or 3)",
    "budget(rounds=--5)",
    "fixed(not 1)",
    "fixed(not True)",
    "fixed(True.real)",
    "predicates(5)",
    "(" * 500 + "saturation" + ")" * 500,
    "(" * 100_000,
    "not " * 900 + "saturation",
    "saturation if fixed(2) else " * 100 + "gain",
    "saturation" + ".a" * 1_500,
    "saturation" + " " * 4_000 + "| fixed(2)",
    "saturation" + ".after(1)" * 51,
    "saturation" + "\n|" * 3,
]


@pytest.mark.parametrize("text", MALFORMED, ids=lambda text: text[:40] or "empty")
def test_malformed_text_is_rejected_in_one_line(text):
    with pytest.raises(InputError) as rejected:
        parse_gate(text)
    assert str(rejected.value).strip()
    assert len(str(rejected.value).splitlines()) == 1
    assert "__init__" not in str(rejected.value)


@pytest.mark.parametrize(
    ("text", "position", "expected"),
    [
        ("saturation | ?", 14, "unexpected"),
        ("saturation |", 13, "the name of a gate"),
        ("saturation | | gain", 14, "the name of a gate"),
        ("saturation gain", 12, "'|'"),
        ("saturation.", 12, "after, patience, epsilon, floor, gap_aware or resample"),
        ("saturation.before(2)", 12, "after, patience, epsilon, floor, gap_aware or resample"),
        ("saturation.after", 17, "'('"),
        ("saturation.after(two)", 12, "number"),
        ("(saturation", 1, "never closed"),
        ("saturation)", 11, "unmatched"),
        ("budget(rounds=)", 15, "a number, a word or a string"),
        ("budget(=5)", 8, "a number, a word or a string"),
        ("budget(rounds=5 queries=3)", 15, "','"),
        ("budget(rounds=5,)", 17, "a value"),
        ("budget(rounds=5, rounds=6)", 18, "'rounds'"),
        ("budget(rounds=1e999)", 15, "too large"),
        ("worth(file='é\\n\n', price=1 gain)", 26, "','"),
    ],
)
def test_the_error_names_the_position_and_what_is_expected(text, position, expected):
    with pytest.raises(InputError) as rejected:
        parse_gate(text)
    assert str(rejected.value).endswith(f"at character {position}")
    assert expected in str(rejected.value)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("saturaton", "did you mean 'saturation'"),
        ("budget(rows=5)", "rows"),
        ("fixed", "'k'"),
        ("exhaustion(q=2)", "'q'; it takes j, u, p"),
        ("predicates(q=2)", "'q'; it takes no values"),
    ],
)
def test_the_error_names_what_is_unknown_or_missing(text, named):
    with pytest.raises(InputError, match=named):
        parse_gate(text)


@pytest.mark.parametrize("text", ["worth(file='w.json')", "worth(0.1, 'w.json')", "gain | worth(file=w).after(2)"])
def test_a_text_that_may_not_name_a_file(text):
    with pytest.raises(InputError, match="worth may not name a file"):
        parse_gate(text, files=False)
    assert parse_gate("worth(price=0.2) | budget(rounds=5)", files=False)


def test_strings_are_read_literally(tmp_path):
    path = tmp_path / "C:\\new weights, ü # 1.json"
    path.write_bytes((files("suffice.gates") / "worth.json").read_bytes())
    gate = worth(file=str(path))
    assert parse_gate(str(gate)) == gate


def test_nothing_is_evaluated(monkeypatch):
    def fail(*arguments, **options):
        raise AssertionError("the text was run as code")

    monkeypatch.setattr("builtins.eval", fail)
    monkeypatch.setattr("builtins.exec", fail)
    for text in ("eval('1')", "exec('1')", "budget(rounds=eval('1'))", "fixed(2).__init__(3)", "fixed.k(2)"):
        with pytest.raises(InputError):
            parse_gate(text)


@given(st.text(alphabet="sfbe()|&.,='\"0123 _-\n", max_size=30) | st.text(max_size=20))
def test_any_text_gives_a_gate_or_an_input_error(text):
    message, gate = "", None
    try:
        gate = parse_gate(text)
    except InputError as rejected:
        message = str(rejected)
    assert len(message.splitlines()) <= 1
    assert gate is None or parse_gate(str(gate)) == gate


@pytest.mark.parametrize("count", [300, 3000])
@pytest.mark.parametrize("joint", [".after(1)", " | fixed(2)", " & fixed(2)"])
def test_a_very_long_text_gives_a_usable_gate_or_an_input_error(joint, count):
    try:
        gate = parse_gate("saturation" + joint * count)
    except InputError:
        return
    assert gate.judge([{"novelty.words": 0.0, "spend.rounds": 2.0}]).gate
    assert str(gate)
