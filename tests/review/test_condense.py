"""What a judge with little room sees of a long text."""

from hypothesis import given
from hypothesis import strategies as st

from suffice.review.loop import condense
from suffice.text.markdown import find_headings

blocks = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 60)), min_size=1, max_size=12)


def text_of(blocks):
    return "\n\n".join(
        f"{'#' * level} Part {number}\n\n" + "It is so. " * length for number, (level, length) in enumerate(blocks)
    )


@given(blocks, st.integers(200, 2000))
def test_every_heading_stays_in_order_and_so_does_the_end(blocks, most):
    text = text_of(blocks)
    short = condense(text, most)
    assert [part.title for part in find_headings(short)] == [part.title for part in find_headings(text)]
    assert short.endswith(text[-20:])
    room = most + sum(part.body_start - part.start + 10 for part in find_headings(text)) + 20
    assert len(short) <= max(len(text), room)
    if len(text) <= most:
        assert short == text


def test_a_long_text_gets_shorter_and_says_where():
    text = text_of([(2, 300), (2, 300), (2, 300)])
    short = condense(text, 2000)
    assert len(short) < 2300
    assert short.count("[…]") >= 2


def test_a_long_text_without_headings():
    short = condense("word " * 2000, 1000)
    assert len(short) <= 1100
