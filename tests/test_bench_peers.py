"""The comparison with other tools: the scoring rules of DRBench, and the stub world's answers to each tool's calls."""

import json
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from bench.peers import drbench, stub, world

FACT = "Lee's Market tracks 250 high-risk food products as of Q3 2024, affecting 30% of inventory."
QUESTION = "How can Lee's Market improve food safety?"


# -- scoring ---------------------------------------------------------------------------------------------------------------


def test_figures_have_one_spelling_and_leave_out_periods_and_citations() -> None:
    assert drbench.find_figures("It saved $1.2M in Q2 2024 [3].") == {"1200000"}
    assert drbench.find_figures("1,200,000 crowns, 8 percent, 4.20") == {"1200000", "8%", "4.2"}
    assert drbench.find_figures("1.2 million and 8%") == {"1200000", "8%"}


def test_percentage_is_not_a_plain_number() -> None:
    assert not drbench.find_figures("30% of stores") & drbench.find_figures("30 stores")


def test_names_are_capitalized_words_that_the_question_does_not_hold() -> None:
    assert drbench.find_names("Lee's Market asked Deloitte about HIPAA rules.", QUESTION) == {"deloitte", "hipaa"}


@pytest.mark.parametrize(
    ("text", "is_stated"),
    [
        (FACT, True),
        ("We track 250 high-risk foods [1].\nThese products are 30 % of the inventory.", True),
        ("The firm tracks 250 high-risk food products.", False),  # A figure is missing.
        (
            "There are 250 stores. 30% of the staff are new. The market is growing.",
            False,
        ),  # Same figures, another matter.
        ("It tracks 250 food products.\n" + "Other words stand here.\n" * 5 + "That is 30% of the inventory.", False),
    ],
)
def test_fact_is_stated_when_one_place_holds_its_figures_and_half_its_words(text: str, is_stated: bool) -> None:
    assert drbench.ScoredText(text).states(FACT, QUESTION) is is_stated


def test_report_is_scored_against_insights_distractors_and_other_tasks(tmp_path: Path) -> None:
    distractor = "Employee turnover averaged 12% with 150 new hires."
    facts = (
        drbench.Fact(FACT, "a.pdf", True),
        drbench.Fact(distractor, "b.pdf", False),
        drbench.Fact("x 7", "c.pdf", True),
    )
    task = drbench.Task("T", QUESTION, tmp_path, facts)
    row = drbench.score_report(
        task, FACT, cited={"a.pdf", "b.pdf"}, found={"a.pdf", "b.pdf", "c.pdf"}, others=[facts[1]]
    )
    assert (row["insights_stated"], row["insights"], row["distractors_stated"], row["others_stated"]) == (1, 2, 0, 0)
    assert (row["gold_files_cited"], row["gold_files_found"], row["gold_files"], row["files_cited"]) == (1, 2, 2, 2)
    assert (row["marks_held"], row["marks"]) == (2, 3)


def test_citation_is_right_when_the_file_holds_figures_and_most_words() -> None:
    assert drbench.cites_rightly("It tracks 250 food products.", f"Report.\n{FACT}")
    assert not drbench.cites_rightly("It tracks 260 food products.", FACT)
    assert not drbench.cites_rightly("Robots paint blue bridges.", FACT)


def test_table_shows_shares_over_all_tasks() -> None:
    row = dict.fromkeys(
        """insights distractors others marks other_marks gold_files files citations insights_stated distractors_stated
        others_stated marks_held other_marks_held gold_files_cited gold_files_found files_cited files_found citations_right
        words rounds searches calls tokens seconds cpu_seconds""".split(),
        1,
    )
    rows = [{**row, "task": "A", "model": "m"}, {**row, "task": "B", "model": "m", "insights": 3, "citations": 0}]
    table = drbench.make_table(rows)
    assert "| insights stated | 50.0 % |" in table
    assert "| tasks | 2 |" in table


# -- stub world --------------------------------------------------------------------------------------------------------------


def ask(temper: world.Temper, text: str, *, tools: tuple[str, ...] = (), seen: str = "", **body: Any) -> Any:
    """Return the scripted model's answer: a text, or the tool calls as (name, arguments)."""
    messages = [{"role": "user", "content": text}]
    if seen:
        messages.append({"role": "tool", "content": seen})
    body |= {"messages": messages}
    if tools:
        body["tools"] = [{"type": "function", "function": {"name": name}} for name in tools]
    place = world.World("saturated")
    said = world.ScriptedModel(place, temper, latency=0)(body)
    assert not place.unknown_prompts
    if said.raw is None:
        return said.text
    calls = json.loads(said.raw)["choices"][0]["message"]["tool_calls"]
    return [(call["function"]["name"], json.loads(call["function"]["arguments"])) for call in calls]


def test_plans_have_the_number_of_queries_that_is_asked_for() -> None:
    plan = 'Write 4 search queries to research "x".\nYou must respond with a list of strings in the following format: ["a"].'
    assert len(set(json.loads(ask("eager", plan)))) == 4
    deep = "generate 2 unique search queries. Format as 'Query: <query>' followed by 'Goal: <goal>' for each pair: x"
    assert ask("eager", deep).count("Query: ") == ask("eager", deep).count("Goal: ") == 2
    questions = "Generate 1 high-quality internet search questions to answer: x\nFormat: One question per line"
    assert ask("eager", questions).startswith("Q: ")


def test_new_queries_are_about_aspects_that_the_prompt_does_not_name() -> None:
    prompt = "Write 3 search queries; respond with a list of strings. Known: salt trade, fishing fleet."
    assert not any("salt trade" in query or "fishing fleet" in query for query in json.loads(ask("eager", prompt)))


def test_temper_decides_whether_an_agent_goes_on() -> None:
    for tools in (
        ("ConductResearch", "ResearchComplete"),
        ("tavily_search", "ResearchComplete"),
        ("web_search", "fetch"),
    ):
        assert ask("content", "x", tools=tools)[0][0] == tools[0]
        assert ask("eager", "x", tools=tools, seen="results")[0][0] == tools[0]
    assert ask("content", "x", tools=("tavily_search", "ResearchComplete"), seen="r") == [("ResearchComplete", {})]
    assert isinstance(ask("content", "Write.", tools=("web_search",), seen="r"), str)


def test_structured_answers_fill_the_schema() -> None:
    schema = {"properties": {"need_clarification": {}, "question": {}, "verification": {}}}
    answer = json.loads(ask("eager", "x", response_format={"type": "json_schema", "json_schema": {"schema": schema}}))
    assert answer["need_clarification"] is False


def test_reports_are_made_of_sentences_that_were_shown() -> None:
    line = "The last pan closed in 1911 when rock salt from the mainland became cheaper."
    assert line in ask("eager", f"Write a report. Sources: {line} Nobody knows this sentence.")
    assert "Nobody knows" not in ask("eager", f"Write a report. Sources: {line} Nobody knows this sentence.")


def test_prompt_that_no_tool_is_known_to_send_is_noted() -> None:
    place = world.World("saturated")
    world.ScriptedModel(place, "eager", latency=0)({"messages": [{"role": "user", "content": "Sing a song."}]})
    assert place.unknown_prompts


@pytest.mark.parametrize(("name", "documents"), [("saturated", 5), ("rich", 160)])
def test_search_answers_as_searxng_and_tavily_do_and_counts(name: world.WorldName, documents: int) -> None:
    assert len(world.make_documents(name)) == documents
    with world.running(name, "eager", latency=0) as place:

        def fetch(url: str, body: dict[str, Any] | None = None) -> str:
            request = urllib.request.Request(url, json.dumps(body).encode() if body else None)
            with urllib.request.urlopen(request, timeout=60) as answer:
                return str(answer.read().decode())

        found = json.loads(fetch(f"{place.search_url}/search?q=sorrel+salt&format=json"))["results"]
        assert len(found) == min(documents, world.RESULTS)
        assert found[0]["url"] in fetch(f"{place.search_url}/search?q=sorrel+salt&format=html")
        tavily = json.loads(
            fetch(f"{place.search_url}/search", {"query": "salt", "max_results": 2, "include_raw_content": True})
        )
        assert len(tavily["results"]) == 2
        assert len(tavily["results"][0]["raw_content"]) > 50
        assert "<article>" in fetch(found[0]["url"])
        vectors = json.loads(fetch(f"{place.model_url}/embeddings", {"input": ["a b", "c"], "model": "m"}))["data"]
        assert [len(one["embedding"]) for one in vectors] == [world.DIMENSIONS] * 2
        assert (place.counts["searches"], place.counts["pages"], place.counts["calls"]) == (3, 1, 0)


def test_comparison_table_has_a_line_for_each_tool_and_world() -> None:
    row = dict.fromkeys("calls prompt_tokens searches pages documents seconds cpu_seconds peak_megabytes".split(), 7)
    rows = [
        {**row, "tool": "suffice", "world": "rich", "temper": "eager", "ended": "ok", "calls": 1200},
        {**row, "tool": "suffice", "world": "rich", "temper": "content", "ended": "ok"},
        {**row, "tool": "gpt-researcher", "world": "rich", "temper": "eager", "ended": "exit 1"},
    ]
    table = stub.make_table(rows)
    assert "| rich | suffice | 1,200 / 7 | 7 |" in table
    assert "| rich | gpt-researcher (exit 1) | 7 |" in table
