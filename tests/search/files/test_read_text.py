"""Text formats: prose, source code, tables, HTML, and encodings."""

from pathlib import Path

import pytest

from suffice.search.files.chunk import INEXACT_KINDS, DocumentChunk, UnreadableFile
from suffice.search.files.read import read_document, read_text
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
    assert [p.title for p in chunks] == ["Guide", "Guide > Install", "Use", "Use > More"]
    assert {p.kind for p in chunks} == {"markdown"}


def test_small_sections_share_a_chunk_under_their_common_heading() -> None:
    text = "# Guide\n\n## A\n\nshort a\n\n## B\n\nshort b\n"
    assert [p.title for p in read_text(text, "g.md")] == ["Guide"]


def test_rst_levels_follow_the_order_of_styles() -> None:
    text = f"=====\nTitle\n=====\n\n{BODY}\n\nPart\n----\n\n{BODY}\n\nDeep\n~~~~\n\n{BODY}\n\nNext\n----\n\n{BODY}\n"
    chunks = read_text(text, "x.rst")
    assert [p.title for p in chunks] == ["Title", "Title > Part", "Title > Part > Deep", "Title > Next"]


def test_carriage_returns_and_form_feeds_keep_line_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"one\r\ntwo\x0cstill two\rthree\n")
    assert read_document(path).chunks == [DocumentChunk("one\ntwo\x0cstill two\nthree", "a.txt", "text", lines=(1, 3))]


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
    assert read_document(path).chunks[0].text == expected


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
    assert [p.title for p in chunks] == ["mod > f", "mod > Big", "mod > Big > two", "mod > Big.three, TAIL"]
    assert "# about f\n@wraps\ndef f():" in chunks[0].text
    assert chunks[2].text.startswith("    # about two")
    assert all(MIN_CHARS <= len(p.text) <= MAX_CHARS for p in chunks)


def test_python_that_does_not_parse_falls_back_to_patterns(tmp_path: Path) -> None:
    text = "print 'old'\n" + "".join(f"def f{n}(x):\n    print x, '{'y' * 300}'\n\n" for n in range(8))
    chunks = read_text(text, "old.py")
    assert_exact_lines(text, chunks)
    assert chunks[1].title == "old.py > f1"


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
    assert [p.title for p in chunks] == [f"{name} > work{n}" for n in range(4)]


def test_constants_and_the_signature_of_a_long_function_are_in_the_title(tmp_path: Path) -> None:
    body = "".join(f"    value_{n} = compute_something({n})\n" for n in range(60))
    text = (
        f"import os\n\n\ndef work(a, *, timeout=5.0):\n{body}\n\nDEFAULT_TIMEOUT = Timeout(5.0)\n" + "# filler\n" * 30
    )
    folder = tmp_path / "pkg" / "sub"
    folder.mkdir(parents=True)
    for init in (folder, folder.parent):
        (init / "__init__.py").touch()
    (folder / "mod.py").write_text(text)
    chunks = read_document(folder / "mod.py").chunks
    assert_exact_lines(text, chunks)
    assert chunks[0].title == "pkg.sub.mod > work"
    assert chunks[1].title == "pkg.sub.mod > work(a, *, timeout=5.0)"
    assert chunks[-1].title == "pkg.sub.mod > DEFAULT_TIMEOUT"


def test_csv_rows_are_records_at_their_own_lines() -> None:
    text = "name;note;x\n" + 'Ann;"two\nlines, quoted and long enough to matter";\n' * 60
    chunks = [chunk for chunk in read_text(text, "people.csv") if chunk.section is None]
    assert len(chunks) > 2
    assert chunks[0].text.startswith("Columns: name, note, x\nname: Ann · note: two\nlines, quoted")
    assert chunks[0].title == "people.csv > rows 2–19"
    assert [n for c in chunks if c.lines for n in range(c.lines[0], c.lines[1] + 1)] == list(range(1, 122))
    assert all(c.lines and c.text.count("\n") == c.lines[1] - c.lines[0] for c in chunks)
    assert all(c.text.startswith(("Columns", "name: Ann")) for c in chunks)


def test_values_of_a_column_are_counted_over_all_rows() -> None:
    text = "city,state,height\n" + "".join(f"Town {n},{'AK' if n % 3 else 'NY'},{n}\n" for n in range(30))
    counted = [chunk for chunk in read_text(text, "airports.csv") if chunk.section]
    assert {chunk.section for chunk in counted} == {"all 30 rows"}
    lines = "\n".join(chunk.text for chunk in counted).split("\n")
    assert "rows: 30 · columns: city, state, height" in lines
    assert "highest height: 29 (Town 29, AK) · lowest height: 0 (Town 0, NY)" in lines
    assert "state, 2 values: AK, NY" in lines
    assert "state: AK · rows: 20 · highest height: 29 · lowest height: 1" in lines
    assert not any(line.startswith("city: ") for line in lines)  # Every city is another row.


def test_a_small_table_is_not_counted() -> None:
    assert all(chunk.lines for chunk in read_text("a,b\nx,1\nx,2\n", "small.csv"))


def test_a_long_record_stands_alone_under_its_name() -> None:
    text = f"id,Name,About\n1,Bob,{'words ' * 100}\n2,Eve,{'words ' * 100}\n"
    assert [(c.title, c.lines) for c in read_text(text, "p.csv")] == [
        ("p.csv", (1, 1)),
        ("p.csv > Bob", (2, 2)),
        ("p.csv > Eve", (3, 3)),
    ]


def test_a_table_without_a_header_has_only_records() -> None:
    text = "2001,5.5\n2002,6.5\n\n2003,7.5\n"
    assert [(c.text, c.lines) for c in read_text(text, "n.csv")] == [
        ("2001 · 5.5\n2002 · 6.5", (1, 2)),
        ("2003 · 7.5", (4, 4)),
    ]


def test_a_quote_that_is_never_closed_loses_no_row() -> None:
    text = "a,b\n" + '1,"open\n' + "2,x\n" * 3000
    chunks = read_text(text, "q.csv")
    assert sum(c.text.count("2,x") for c in chunks) == 3000


def test_html_is_light_markdown_with_its_source_lines() -> None:
    text = (
        "<html><head><title>The Page</title><style>p{}</style>\n<body>\n<nav>Menu</nav>\n<h1>Top</h1>\n"
        f"<p>First <b>bold</b>\nwords &amp; <code>more</code>. {BODY}</p>\n<script>var x;</script>\n"
        '<h2>Sub<a class="headerlink" href="#sub">¶</a></h2>\n'
        f"<p>{BODY}</p><table>\n<tr><th>Name</th>\n<th><p>Age</p></th></tr><tr><td>Bob</td><td>5</td></tr></table>\n"
        '<ul><li>item<ol><li>first</li></ol></li></ul><pre><code class="language-py">x\n  y</code></pre>\n'
        "<dl><dt>Term</dt><dd>Meaning</dd></dl><footer>Legal</footer>"
    )
    chunks = read_text(text, "p.html")
    assert [(p.title, p.lines, p.kind in INEXACT_KINDS) for p in chunks] == [
        ("The Page > Top", (4, 6), True),
        ("The Page > Top > Sub", (8, 14), True),
    ]
    assert chunks[0].text.startswith("# Top\n\nFirst bold words & `more`.")
    assert chunks[1].text.startswith("## Sub\n\nA sentence")
    assert chunks[1].text.endswith(
        "| Name | Age |\n| --- | --- |\n| Bob | 5 |\n\n- item\n  1. first\n\n```py\nx\n  y\n```\n\n- Term:\n  Meaning"
    )


def test_html_documentation_of_a_function_is_titled_by_its_name() -> None:
    text = (
        '<title>API</title><dl class="py method"><dt class="sig" id="flask.Flask.run"><span>run</span>(host=None)'
        f"<a class='headerlink'>¶</a></dt><dd><p>{BODY}</p></dd></dl><p>{BODY}</p>"
    )
    chunks = read_text(text, "p.html")
    assert chunks[0].text.startswith("`run(host=None)`\n\nA sentence")
    assert [c.title for c in chunks] == ["API > run", "API"]


def test_html_navigation_around_the_main_part_and_layout_tables() -> None:
    text = f"<html><div>Menu Login</div><main><p>{BODY}</p></main><div>Cookies</div>"
    assert read_text(text, "p.html")[0].text == BODY.strip()
    layout = f"<html><table><tr><td>Left</td><td><h1>Top</h1><table><tr><td>{BODY}</td></tr></table></td></tr></table>"
    assert read_text(layout, "p.html")[0].text == f"Left\n\n# Top\n\n{BODY.strip()}"


def test_the_navigation_of_a_docbook_manual_is_no_text() -> None:
    table = (
        "<table><tr><th>Chapter 2</th></tr><tr><td><a href='a'>Prev</a></td><td><a href='b'>Next</a></td></tr></table>"
    )
    body = "<p>Press q to quit.</p>"
    page = f"<title>Keys</title><div class='navheader'>{table}</div>{body}<div class='navfooter'>{table}</div>"
    [chunk] = read_text(page, "keys.html")
    assert chunk.text.strip() == "Press q to quit."


def test_deeply_nested_html_is_read() -> None:
    for tags in ("<ul><li>x", "<table><tr><td>x", "<dl><dt>a<dd>b", "<div>"):
        assert read_text(f"<html>{tags * 20_000}end", "p.html")


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
        read_document(tmp_path / name)
    assert name in str(caught.value)


def test_too_large_and_missing_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("suffice.search.files.decode.MAX_BYTES", 10)
    (tmp_path / "a.txt").write_text("x" * 11)
    with pytest.raises(UnreadableFile, match="larger than"):
        read_document(tmp_path / "a.txt")
    with pytest.raises(UnreadableFile, match="cannot be opened"):
        read_document(tmp_path / "none.txt")


def test_missing_permission_raises_unreadable_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UnreadableFile, match=r"a\.txt cannot be read; check its permissions"):
        read_document(tmp_path / "a.txt")


def test_a_table_of_a_few_rows_is_counted() -> None:
    text = "id,status\n1,open\n2,closed\n3,open\n4,closed\n5,open\n"
    assert "status: open · rows: 3" in "\n".join(chunk.text for chunk in read_text(text, "orders.csv"))


def test_the_underlined_head_of_a_table_is_not_a_title() -> None:
    text = "Sources\n=======\n\nName         Stratum   Poll\n=======================\nwren             2     6\n"
    assert {chunk.title for chunk in read_text(text, "faq.txt")} == {"Sources"}
