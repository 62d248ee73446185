"""``suffice guard``: a real hook, started as the clients start it, with the events they send."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from suffice import guard
from suffice.guard import Watch, classify_call

PAGE = [f"Sentence number {i} says something about the nesting of bees." for i in range(40)]


def make_event(query: str, response: Any, **changes: Any) -> dict[str, Any]:
    """The event that Claude Code sends after a tool call."""
    return {
        "session_id": "3f0c-session",
        "transcript_path": "/home/ann/.claude/projects/x/3f0c.jsonl",
        "cwd": "/home/ann/project",
        "permission_mode": "default",
        "hook_event_name": "PostToolUse",
        "tool_name": "WebSearch",
        "tool_input": {"query": query},
        "tool_response": response,
        "tool_use_id": "toolu_01",
        **changes,
    }


def make_codex_event(command: str, response: Any) -> dict[str, Any]:
    """The event that Codex sends after a shell command."""
    event = make_event("", response, tool_name="Bash", tool_input={"command": command})
    return {**event, "transcript_path": None, "model": "gpt-5", "turn_id": "1"}


def call_hook(event: Any, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Call the hook as a client does: a new process that reads the event from standard input."""
    data = event if isinstance(event, bytes) else json.dumps(event).encode()
    command = [sys.executable, "-m", "suffice", "guard", "hook"]
    environment = {**os.environ, "SUFFICE_DATA_DIR": str(folder)}
    return subprocess.run(command, input=data, capture_output=True, env=environment, timeout=120)


def read_advice(done: subprocess.CompletedProcess[bytes]) -> str | None:
    """Return the advice in the form that the clients document; nothing else may be printed."""
    assert done.returncode == 0
    assert done.stderr == b""
    if not done.stdout:
        return None
    answer = json.loads(done.stdout)
    assert answer.keys() == {"hookSpecificOutput"}
    assert answer["hookSpecificOutput"]["hookEventName"] == "PostToolUse"
    advice: str = answer["hookSpecificOutput"]["additionalContext"]
    assert "\n" not in advice
    return advice


def test_an_agent_that_loops_is_told_once(tmp_path: Path, suffice: Any) -> None:
    rewordings = [
        "bees nest",
        "nesting of bees",
        "where do bees nest",
        "bee nests explained",
        "more on bee nests",
        "bees",
    ]
    results = {"results": [{"title": "Bees", "url": "http://example.org/bees", "text": line} for line in PAGE[:5]]}
    advice = [read_advice(call_hook(make_event(query, results), tmp_path / "data")) for query in rewordings]
    assert [text is not None for text in advice] == [False, False, False, False, True, False]
    text = advice[4]
    assert text is not None
    assert "last 4 searches" in text
    assert "nothing new" in text

    report = json.loads(suffice("guard", "report", "--json").out)
    assert report["session"] == "3f0c-session"
    assert (report["searches"], report["reads"]) == (6, 0)
    assert [each["new_share"] for each in report["rounds"]] == [1, 0, 0, 0, 0, 0]
    assert report["could_have_stopped"]["after_look"] == 5
    assert f"{sum(each['tokens'] for each in report['rounds'][1:5]):,} tokens" in text
    assert "after number 5" in suffice("guard", "report", "3f0c").out


def test_an_agent_that_finds_new_things_is_never_told(tmp_path: Path) -> None:
    for start in range(0, 40, 5):
        done = call_hook(make_event("the same query", {"results": PAGE[start : start + 5]}), tmp_path)
        assert read_advice(done) is None


def test_codex_is_told_too(tmp_path: Path) -> None:
    output = "\n".join(PAGE[:10])
    commands = ["cat bees.md", "sed -n 1,20p bees.md", "head -20 bees.md", "rg -n bees", "cat -n bees.md | head -20"]
    advice = [read_advice(call_hook(make_codex_event(command, output), tmp_path)) for command in commands]
    assert advice[:4] == [None] * 4
    assert "last 4 searches and reads" in str(advice[4])


def test_each_sub_agent_has_seen_only_its_own_results(tmp_path: Path) -> None:
    for number in range(8):
        event = make_event("bees", PAGE[:5], agent_id=f"agent-{number % 4}")
        assert read_advice(call_hook(event, tmp_path)) is None


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b'{"session_id": "a", "hook_ev', "cannot be read"),
        (b"", "cannot be read"),
        (b"\xff\xfe", "cannot be read"),
        (b"[" * 100_000, "cannot be read"),
        (b"[1]", "cannot be read"),
        (json.dumps(make_event("q", "r", hook_event_name="PreToolUse")).encode(), "PreToolUse"),
        (b'{"x": "' + b"y" * (guard.MAX_EVENT_BYTES + 10), "longer than"),
    ],
)
def test_a_bad_event_never_fails_the_agent(data: bytes, reason: str, tmp_path: Path) -> None:
    done = call_hook(data, tmp_path)
    assert done.returncode == 0
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1
    assert reason in done.stderr.decode()


def test_a_folder_that_cannot_be_written_never_fails_the_agent(tmp_path: Path) -> None:
    (tmp_path / "data").write_text("a file where the folder should be")
    done = call_hook(make_event("bees", PAGE), tmp_path / "data")
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.count(b"\n") == 1


def test_a_huge_result_is_not_compared_so_nothing_is_said_about_it(tmp_path: Path) -> None:
    huge = "\n".join(f"row {i} of a very long table with value {i * 7}" for i in range(250_000))
    for _ in range(2):
        assert read_advice(call_hook(make_event("all rows", huge), tmp_path)) is None
    [state] = (tmp_path / "guard").glob("*.jsonl")
    assert state.stat().st_size < 10_000
    assert [look.readings["overlap.upr"] for look in guard.read_looks(state)] == [None, None]


def test_hooks_of_one_session_at_the_same_time_are_all_counted(tmp_path: Path) -> None:
    events = [make_event(f"query {i}", PAGE[i : i + 3]) for i in range(6)]
    with ThreadPoolExecutor(6) as pool:
        done = list(pool.map(lambda event: call_hook(event, tmp_path), events))
    assert all(each.returncode == 0 for each in done)
    [state] = (tmp_path / "guard").glob("*.jsonl")
    looks = guard.read_looks(state)
    late = sum(
        b"lock" in each.stderr.lower() for each in done
    )  # On a busy machine one may wait too long; it then says so.
    assert len(looks) == 6 - late
    assert len({digest for look in looks for digest in look.new}) == sum(len(look.new) for look in looks)


def test_a_half_written_line_does_not_take_the_next_one_with_it(tmp_path: Path) -> None:
    assert read_advice(call_hook(make_event("bees", PAGE[:5]), tmp_path)) is None
    [state] = (tmp_path / "guard").glob("*.jsonl")
    with state.open("ab") as file:
        file.write(b'\n{"kind": "sea')
    assert read_advice(call_hook(make_event("bees", PAGE[:5]), tmp_path)) is None
    assert len(guard.read_looks(state)) == 2


def test_no_text_of_a_result_is_stored(tmp_path: Path) -> None:
    call_hook(make_event("the .env file", "password: hunter2 and some more words here"), tmp_path)
    [state] = (tmp_path / "guard").glob("*.jsonl")
    assert "hunter2" not in state.read_text()
    assert state.stat().st_mode & 0o077 == 0


def test_a_session_id_cannot_leave_the_folder(tmp_path: Path) -> None:
    call_hook(make_event("bees", PAGE, session_id="../../escape"), tmp_path / "data")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_folder_of_others_does_not_say_where_the_state_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".env").write_text(f"SUFFICE_DATA_DIR={tmp_path / 'theirs'}\nSUFFICE_KEEP_RUNS=nonsense\n")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "mine"))
    monkeypatch.delenv("SUFFICE_DATA_DIR")
    assert guard.get_state_folder() == tmp_path / "mine" / "suffice" / "guard"


def test_report_without_a_session_says_how_to_begin(suffice: Any) -> None:
    result = suffice("guard", "report")
    assert result.status == 2
    assert "suffice install --guard" in result.err


@pytest.mark.parametrize(
    ("tool", "arguments", "kind"),
    [
        ("WebSearch", {"query": "bees"}, "search"),
        ("Grep", {"pattern": "bees"}, "search"),
        ("Read", {"file_path": "/a"}, "read"),
        ("WebFetch", {"url": "http://example.org"}, "read"),
        ("mcp__github__search_code", {"q": "bees"}, "search"),
        ("mcp__suffice__fetch", {"id": "a.md"}, "read"),
        ("mcp__jira__create_issue_search", {}, None),
        ("Edit", {"file_path": "/a"}, None),
        ("Bash", {"command": "rg bees | head -5"}, "search"),
        ("Bash", {"command": "cd src && cat a.py"}, "read"),
        ("Bash", {"command": "cat a.py && rm a.py"}, None),
        ("Bash", {"command": "sed -i s/a/b/ a.py"}, None),
        ("Bash", {"command": "make test"}, None),
        ("Bash", {"command": "cat > a.py <<'EOF'\nprint(1)\nEOF"}, None),
        ("Bash", {"command": "cat a.py > b.py"}, None),
        ("Bash", {"command": "rg bees 2>/dev/null\ncat a.py 2>&1"}, "search"),
        ("Bash", {"command": "cat a.py\nrm a.py"}, None),
        ("Bash", {"command": "echo 'unclosed"}, None),
        ("Bash", None, None),
    ],
)
def test_only_searches_and_reads_are_watched(tool: str, arguments: Any, kind: str | None) -> None:
    found = classify_call(tool, arguments)
    assert (found and found[0]) == kind


def test_the_same_files_for_other_words_are_news() -> None:
    """Which files match is what was asked, so the same list answers another question."""
    watch = Watch()
    looks = [watch.observe("Grep", {"pattern": f"word{i}"}, {"filenames": ["src/a.py", "src/b.py"]}) for i in range(6)]
    assert [look and look.advice for look in looks] == [None] * 6
    looks = [watch.observe("Grep", {"pattern": "word5"}, {"filenames": ["src/a.py", "src/b.py"]}) for _ in range(4)]
    assert looks[-1] is not None
    assert "nothing new" in str(looks[-1].advice)


def test_a_long_new_text_outweighs_the_menu_around_it() -> None:
    watch = Watch()
    menu = [f"Menu entry {i}" for i in range(20)]
    for i in range(6):
        article = " ".join(f"word{i}x{j}" for j in range(300))
        look = watch.observe("WebFetch", {"url": f"http://example.org/{i}"}, "\n".join([*menu, article]))
        assert look is not None
        assert look.advice is None


def test_a_failed_call_brought_nothing_known() -> None:
    watch = Watch()
    failed = {"isError": True, "content": [{"type": "text", "text": "The server is down, please try it again later."}]}
    looks = [watch.observe("mcp__web__search", {"query": "bees"}, failed) for _ in range(6)]
    assert [look and look.advice for look in looks] == [None] * 6


def test_the_line_comes_again_only_when_the_loop_has_doubled() -> None:
    watch = Watch()
    looks = [watch.observe("Read", {"file_path": "a"}, PAGE[0]) for _ in range(20)]
    assert [i for i, look in enumerate(looks) if look and look.advice] == [4, 8, 16]


def test_json_inside_a_text_is_read_and_an_echo_of_the_query_is_no_result() -> None:
    watch = Watch()
    for i in range(5):
        query = f"what number {i} do bees have in their hive"
        answer = json.dumps({"query": query, "request_id": f"r{i}", "results": [{"text": PAGE[0]}]})
        look = watch.observe("mcp__web__search", {"query": query}, {"content": [{"type": "text", "text": answer}]})
    assert look is not None
    assert look.advice is not None
