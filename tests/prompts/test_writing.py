"""Written answers as models of every size write them."""

from suffice.prompts.writing import parse_markdown_answer


def test_findings_without_an_answer_become_the_answer() -> None:
    """A model of 1.5 billion parameters wrote this."""
    read = parse_markdown_answer("## Key findings\n\nAda built it [1].\n\nBo taught Ada [2].\n\n## Risks\n\nNone.\n")
    assert read.answer == "Ada built it [1].\n\nBo taught Ada [2]."
    assert read.summary == "Ada built it [1]."
    assert (read.key_findings, read.risks) == ((), ())


def test_lists_at_the_end_become_fields() -> None:
    read = parse_markdown_answer("Ada built it [1].\n\n## Key findings\n- Ada built it [1].")
    assert (read.answer, read.key_findings) == ("Ada built it [1].", ("Ada built it [1].",))


def test_a_comment_in_code_is_not_a_heading() -> None:
    text = "Ada built it [1].\n\n```python\n# risks\nx = 1\n```"
    assert parse_markdown_answer(text).answer == text
