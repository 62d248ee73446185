"""Text formats: prose, source code, tables, HTML, and encodings."""

from pathlib import Path

import pytest

from suffice.search.files import DocumentChunk, UnreadableFile, read_file, read_text
from suffice.search.files.chunk import INEXACT_KINDS
from suffice.text.chunks import MAX_CHARS, MIN_CHARS, split_lines


def assert_exact_lines(text: str, chunks: list[DocumentChunk]) -> None:
    lines = split_lines(text)
    covered: set[int] = set()
    for chunk in chunks:
        assert chunk.lines is not None
        assert chunk.kind not in INEXACT_KINDS
        first, last = chunk.lines
        assert chunk.text == "\n".join(lines[first - 1 : last])
        assert not covered & set(range(first, last + 1))
        covered.update(range(first, last + 1))
    assert {n for n, line in enumerate(lines, 1) if line.strip()} <= covered


BODY = "A sentence that fills the paragraph with words. " * 8


def test_markdown_titles_are_heading_paths() -> None:
    text = f"---\ntitle: x\n---\n# Guide\n\n{BODY}\n\n## Install\n\n{BODY}\n\n```sh\n# not a heading\n\nrun\n```\n"
    text += f"\nUse\n===\n\n{BODY}\n\n## More\n\n{BODY}\n"
    chunks = read_text(text, "g.md")
    assert_exact_lines(text, chunks)
    assert [p.title for p in chunks] == ["Guide", "Guide > Install", "Use", "Use > More"]
    assert {p.kind for p in chunks} == {"markdown"}


def test_small_sections_share_a_chunk_under_their_common_heading() -> None:
    text = "# Guide\n\n## A\n\nshort a\n\n## B\n\nshort b\n"
    assert [p.title for p in read_text(text, "g.md")] == ["Guide"]


def test_rst_levels_follow_the_order_of_styles() -> None:
    text = f"=====\nTitle\n=====\n\n{BODY}\n\nPart\n----\n\n{BODY}\n\nDeep\n~~~~\n\n{BODY}\n\nNext\n----\n\n{BODY}\n"
    chunks = read_text(text, "x.rst")
    assert_exact_lines(text, chunks)
    assert [p.title for p in chunks] == ["Title", "Title > Part", "Title > Part > Deep", "Title > Next"]


def test_carriage_returns_and_form_feeds_keep_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo\x0cstill two\rthree\n")
    assert read_file(path) == [DocumentChunk("one\ntwo\x0cstill two\nthree", "a.txt", "text", lines=(1, 3))]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("\ufeffGrüße".encode(), "Grüße"),
        ("Grüße".encode("utf-16"), "Grüße"),
        ("Grüße aus Köln".encode("cp1252"), "Grüße aus Köln"),
        ("<!-- charset=koi8-r --> привет".encode("koi8-r"), "<!-- charset=koi8-r --> привет"),
        ("äöü ßßß ".encode() * 9 + b"\xff", "äöü ßßß " * 9 + "\ufffd"),
    ],
)
def test_encodings(tmp_path: Path, data: bytes, expected: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(data)
    assert read_file(path)[0].text == expected


def test_python_chunks_are_definitions_with_comments_and_docstrings() -> None:
    filler = "".join(f"        value_{n} = compute_something({n})\n" for n in range(20))
    text = (
        '"""Module."""\nimport os\n\n\n# about f\n@wraps\ndef f():\n    """Says.\n\n    More.\n    """\n'
        + filler.replace("        ", "    ")
        + "\n\nclass Big:\n    '''Doc.'''\n\n    def one(self):\n" + filler
        + "\n    # about two\n    def two(self):\n" + filler
        + "\n    def three(self):\n" + filler + "\n\nTAIL = 1\n"
    )  # fmt: skip
    chunks = read_text(text, "pkg/mod.py")
    assert_exact_lines(text, chunks)
    assert [p.title for p in chunks] == ["mod.f", "mod.Big", "mod.Big.two", "mod.Big.three"]
    assert "# about f\n@wraps\ndef f():" in chunks[0].text
    assert chunks[2].text.startswith("    # about two")
    assert all(MIN_CHARS <= len(p.text) <= MAX_CHARS for p in chunks)


def test_python_that_does_not_parse_falls_back_to_patterns(tmp_path: Path) -> None:
    text = "print 'old'\n" + "".join(f"def f{n}(x):\n    print x, '{'y' * 300}'\n\n" for n in range(8))
    chunks = read_text(text, "old.py")
    assert_exact_lines(text, chunks)
    assert chunks[1].title == "old.py: f1"


@pytest.mark.parametrize(
    ("name", "header"),
    [
        ("a.js", "export async function work(a) {"),
        ("a.ts", "const work = (a) => {"),
        ("a.go", "func (s *Server) work(a int) error {"),
        ("a.rs", "pub(crate) fn work(a: i32) {"),
        ("a.c", "static int work(int a) {"),
        ("a.java", "public class work {"),
        ("a.rb", "def work(a)"),
        ("a.sh", "work() {"),
        ("a.sql", "CREATE TABLE IF NOT EXISTS work ("),
        ("a.r", "work <- function(a) {"),
    ],
)
def test_other_languages_are_split_at_definitions(name: str, header: str) -> None:
    text = "".join(
        header.replace("work", f"work{n}") + "\n" + "    step = step + 1;\n" * 30 + "}\n\n" for n in range(4)
    )
    chunks = read_text(text, name)
    assert_exact_lines(text, chunks)
    assert [p.title for p in chunks] == [f"{name}: work{n}" for n in range(4)]


def test_csv_rows_are_unchanged_and_columns_are_the_title() -> None:
    text = "name;note\n" + 'Ann;"two\nlines, quoted and long enough to matter"\n' * 60
    chunks = read_text(text, "people.csv")
    assert_exact_lines(text, chunks)
    assert len(chunks) > 2
    assert {p.title for p in chunks} == {"people.csv: name, note"}
    assert all(p.text.startswith(("name;", "Ann;")) for p in chunks)


def test_html_text_has_its_source_lines() -> None:
    text = (
        "<html><head><title>The Page</title><style>p{}</style>\n<body>\n<nav>Menu</nav>\n<h1>Top</h1>\n"
        f"<p>First <b>bold</b>\nwords &amp; more. {BODY}</p>\n<script>var x;</script>\n<h2>Sub</h2>\n"
        "<table>\n<tr><td>a</td>\n<td><p>b</p></td></tr></table>\n"
        "<ul><li>item</li></ul><pre>x\n  y</pre>\n<footer>Legal</footer>"
    )
    chunks = read_text(text, "p.html")
    assert [(p.title, p.lines, p.kind in INEXACT_KINDS) for p in chunks] == [
        ("The Page > Top", (4, 6), True),
        ("The Page > Top > Sub", (8, 13), True),
    ]
    assert chunks[0].text.startswith("Top\nFirst bold words & more.")
    assert chunks[1].text == "Sub\na | b\nitem\nx\n  y"


def test_html_with_an_unknown_section_is_read() -> None:
    assert "hello" in read_text("<html><p>hello</p><![foo bar]><p>x</p>", "a.html")[0].text


@pytest.mark.parametrize(
    ("data", "name", "cause"),
    [
        (b"", "a.txt", "empty"),
        (b" \n ", "a.py", "empty"),
        (b"ab\x00cd", "a.txt", "binary"),
        (bytes(range(1, 256)) * 9, "a.unknown", "binary"),
        (b"x", "a.doc", "save it as .docx"),
        (b"<script>1</script>", "a.html", "no text"),
    ],
)
def test_unreadable_file_names_the_cause(tmp_path: Path, data: bytes, name: str, cause: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UnreadableFile, match=cause) as caught:
        read_file(tmp_path / name)
    assert name in str(caught.value)


def test_too_large_and_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.search.files.decode.MAX_BYTES", 10)
    (tmp_path / "a.txt").write_text("x" * 11)
    with pytest.raises(UnreadableFile, match="larger than"):
        read_file(tmp_path / "a.txt")
    with pytest.raises(UnreadableFile, match="cannot be opened"):
        read_file(tmp_path / "none.txt")


def test_missing_permission_raises_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UnreadableFile, match=r"a\.txt cannot be read; check its permissions"):
        read_file(tmp_path / "a.txt")
