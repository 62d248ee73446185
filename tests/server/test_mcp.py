"""The MCP door, used by the official client: in memory, and as the program over standard input and output."""

import asyncio
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from suffice.api import Options
from suffice.server.mcp import build_server

RIVER = "The Ilse rises on the Brocken. It flows through Ilsenburg and meets the Oker near Börßum.\n"
MILL = "The paper mill of Ilsenburg was founded in 1581. Water of the Ilse drove its hammers.\n"


@pytest.fixture
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "river.md").write_text(RIVER, encoding="utf-8")
    (folder / "mill.md").write_text(MILL, encoding="utf-8")
    monkeypatch.setenv("SUFFICE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("SUFFICE_DATA_DIR", str(tmp_path / "data"))
    return folder


def talk(docs: Path, *calls: tuple[str, dict[str, Any]], heard: list[str] | None = None) -> list[tuple[bool, str]]:
    """The answers of a session: whether each was an error, and its text."""

    async def note(progress: float, total: float | None, message: str | None) -> None:
        if heard is not None:
            heard.append(message or "")

    async def work() -> list[tuple[bool, str]]:
        answers = []
        async with Client(build_server(Options(docs=[docs], model="extractive", alpha=1.0))) as client:
            for name, arguments in calls:
                result = await client.call_tool(name, arguments, progress_callback=note)
                answers.append((bool(result.is_error), "".join(part.text for part in result.content)))
        return answers

    return asyncio.run(work())


def test_a_question_is_answered_with_sources_and_progress(docs: Path) -> None:
    heard: list[str] = []
    [(failed, answer)] = talk(docs, ("research", {"question": "When was the paper mill founded?"}), heard=heard)
    assert not failed
    assert "1581" in answer
    assert "mill.md:1" in answer
    assert any("round 1" in words for words in heard)
    assert any("stopped" in words for words in heard)


def test_search_then_fetch_only_what_was_shown(docs: Path) -> None:
    secret = docs / "mill.md"
    [before, found] = talk(docs, ("fetch", {"location": str(secret)}), ("search", {"query": "paper mill", "k": 1}))
    assert before[0]
    assert "search first" in before[1]
    location = found[1].splitlines()[1]
    [_, fetched] = talk(docs, ("search", {"query": "paper mill", "k": 1}), ("fetch", {"location": location}))
    assert not fetched[0]
    assert "hammers" in fetched[1]


def test_a_stop_is_explained_and_another_gate_tried(docs: Path) -> None:
    async def work() -> tuple[str, str]:
        async with Client(build_server(Options(docs=[docs], model="extractive", alpha=1.0))) as client:
            answer = await client.call_tool("research", {"question": "Where does the Ilse rise?"})
            run = answer.content[0].text.rsplit("run: ", 1)[1].strip()
            why = await client.call_tool("explain_stop", {"run": run, "stop": "fixed(1)"})
            file = await client.call_tool("explain_stop", {"run": run, "stop": "worth(file='/etc/passwd')"})
            assert file.is_error
            return why.content[0].text, file.content[0].text

    why, refused = asyncio.run(work())
    assert "Stopped after" in why
    assert "fixed(1) would have stopped it after round 1" in why
    assert "may not name a file" in refused


@pytest.mark.parametrize(
    ("tool", "arguments", "words"),
    [
        ("research", {"question": "  "}, "question is empty"),
        ("research", {"question": "What?", "strategy": "telepathy"}, "no strategy"),
        ("research", {"question": "What?", "stop": "nonsense("}, "no gate named"),
        ("search", {"query": "mill", "k": 0}, "between 1 and"),
        ("explain_stop", {"run": "none"}, "no run"),
    ],
)
def test_bad_input_is_one_sentence(docs: Path, tool: str, arguments: dict[str, Any], words: str) -> None:
    [(failed, answer)] = talk(docs, (tool, arguments))
    assert failed
    assert words in answer
    assert "Traceback" not in answer


def test_the_program_speaks_over_standard_input_and_output(docs: Path, tmp_path: Path) -> None:
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "suffice", "mcp", "--docs", str(docs), "--model", "extractive", "--alpha", "1"],
        env={
            "SUFFICE_CACHE_DIR": str(tmp_path / "cache"),
            "SUFFICE_DATA_DIR": str(tmp_path / "data"),
            "HOME": str(tmp_path),
        },
    )

    async def work() -> tuple[set[str], str]:
        async with Client(command) as client:
            tools = {tool.name for tool in (await client.list_tools()).tools}
            found = await client.call_tool("search", {"query": "paper mill"})
            return tools, found.content[0].text

    tools, found = asyncio.run(work())
    assert tools == {"research", "search", "fetch", "explain_stop"}
    assert "1581" in found


def test_the_program_speaks_over_http(docs: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "suffice", "mcp", "--docs", str(docs), "--model", "extractive", "--alpha", "1"]
    program = subprocess.Popen([*command, "--port", str(port)], stderr=subprocess.DEVNULL)

    async def work() -> str:
        async with Client(f"http://127.0.0.1:{port}/mcp") as client:
            return (await client.call_tool("search", {"query": "paper mill"})).content[0].text

    try:
        while socket.socket().connect_ex(("127.0.0.1", port)):
            assert program.poll() is None
            time.sleep(0.05)
        assert "1581" in asyncio.run(work())
    finally:
        program.terminate()
        program.wait(10)
