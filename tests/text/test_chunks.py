from hypothesis import given
from hypothesis import strategies as st

from suffice.text.chunks import (
    MAX_CHARS,
    MAX_LINE_CHARS,
    MIN_CHARS,
    TARGET_CHARS,
    Structure,
    chunk_lines,
    split_lines,
    split_text,
)

LINE = st.one_of(
    st.just(""),
    st.just("   "),
    st.text(alphabet="abc .é東", max_size=120),
    st.integers(1000, 3000).map(lambda n: "word " * (n // 5)),
    st.integers(MAX_LINE_CHARS, 9000).map(lambda n: "A sentence here. " * (n // 17 + 1)),
)
LINES = st.lists(LINE, max_size=80)
NUMBERS = st.sets(st.integers(1, 90), max_size=20)


@given(LINES, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_chunks_are_exact_ordered_bounded_and_cover_every_line(
    lines: list[str], starts: set[int], blocks: set[int], kept: set[int], unbroken: set[int]
) -> None:
    found = chunk_lines(lines, Structure(starts, blocks, kept, unbroken))
    covered: set[int] = set()
    previous = 0
    for chunk in found:
        assert chunk.text.strip()
        giant = chunk.first == chunk.last and len(lines[chunk.first - 1]) > MAX_LINE_CHARS
        if giant:
            assert chunk.text in lines[chunk.first - 1]
            assert chunk.first >= previous
        else:
            assert chunk.text == "\n".join(lines[chunk.first - 1 : chunk.last])
            assert chunk.first > previous
        assert len(chunk.text) <= MAX_CHARS or (chunk.first == chunk.last and not giant)
        covered.update(range(chunk.first, chunk.last + 1))
        previous = chunk.last
    assert {n for n, line in enumerate(lines, 1) if line.strip()} <= covered


@given(LINES, st.integers(2, 1000))
def test_the_first_line_number_only_shifts(lines: list[str], first: int) -> None:
    plain = [(c.text, c.first + first - 1, c.last + first - 1) for c in chunk_lines(lines)]
    assert [(c.text, c.first, c.last) for c in chunk_lines(lines, first=first)] == plain


@given(st.text(alphabet="ab c.!\n東。", max_size=6000))
def test_slices_keep_every_character_but_border_space(text: str) -> None:
    found = split_text(text)
    assert "".join("".join(found).split()) == "".join(text.split())
    assert all(len(part) <= MAX_CHARS and part in text for part in found)


def test_only_lf_crlf_and_cr_end_a_line() -> None:
    assert split_lines("a\r\nb\rc\nd\x0ce\u2028f\n") == ["a", "b", "c", "d\x0ce\u2028f"]
    assert split_lines("") == []
    assert split_lines("\n\n") == ["", ""]


def test_a_text_within_the_limit_stays_whole() -> None:
    assert [(c.first, c.last) for c in chunk_lines(["x" * 500, "", "y" * 500, "", "z" * 500])] == [(1, 5)]


def test_a_long_text_is_cut_at_paragraphs_near_the_target() -> None:
    lines = ["A sentence of forty characters is here ok."] * 9 + [""]
    found = chunk_lines(lines * 10)
    assert all(split_lines(c.text)[-1] != "" and c.first % 10 == 1 for c in found)
    assert all(MIN_CHARS <= len(c.text) <= TARGET_CHARS for c in found)


def test_a_paragraph_without_blank_lines_is_cut_at_a_sentence_end() -> None:
    lines = ["this line runs on and on and has no ending at all,", "until here it ends."] * 60
    assert all(c.text.endswith("ends.") for c in chunk_lines(lines))


def test_sections_are_separated_and_small_sections_joined() -> None:
    lines = ["# A", "a" * 400, "# B", "b" * 400, "# C", "c", "# D", "d" * 300]
    found = chunk_lines(lines, Structure(section_starts={1, 3, 5, 7}))
    assert [(c.first, c.last) for c in found] == [(1, 2), (3, 4), (5, 8)]


def test_the_tail_of_a_section_joins_its_own_section_not_the_next() -> None:
    lines = ["# A", "a" * 880, "", "b" * 800, "", "tail", "# B", "c" * 900]
    assert [(c.first, c.last) for c in chunk_lines(lines, Structure(section_starts={1, 7}))] == [(1, 2), (4, 6), (7, 8)]


def test_lines_that_must_not_be_broken_before_begin_no_chunk() -> None:
    lines = ["x" * 80, ""] * 30
    free = {c.first for c in chunk_lines(lines)}
    kept = chunk_lines(lines, Structure(unbroken=free - {1}))
    assert not {c.first for c in kept} & (free - {1})


def test_a_giant_line_is_cut_at_sentences_under_its_own_number() -> None:
    found = chunk_lines(["short", "This is a sentence. " * 300, "end"])
    assert found[0].first == 1
    assert found[-1].first == 3
    middle = [c for c in found if c.first == 2]
    assert len(middle) > 3
    assert all(c.last == 2 and c.text.endswith("sentence.") for c in middle)


def test_source_lines_are_cut_where_indentation_is_least() -> None:
    lines = ["if x:", "    do_something(with_this, and_that)", "    and_again(with_this, and_more)"] * 40
    assert all(c.text.startswith("if x:") for c in chunk_lines(lines))


def test_a_list_stays_with_its_lead_in() -> None:
    lines = ["x" * 850, "", "The steps are:", "", "- one " * 130]
    assert [(c.first, c.last) for c in chunk_lines(lines, Structure(kept_with_previous={5}))] == [(1, 1), (3, 5)]
    assert [(c.first, c.last) for c in chunk_lines(lines)] == [(1, 3), (5, 5)]


def test_a_block_that_fits_is_not_cut_although_no_blank_line_parts_it() -> None:
    lines = ["A sentence here ends."] * 30 + ["```"] + ["code()  # ok." * 8] * 13 + ["```"] + ["More text here."] * 30
    whole = Structure(block_starts={31, 46}, unbroken=set(range(32, 46)))
    assert any(c.first <= 31 and c.last >= 45 for c in chunk_lines(lines, whole))
