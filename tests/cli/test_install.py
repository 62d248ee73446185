"""``suffice install`` and ``uninstall``: the files of the agents, before, in between and after."""

import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from suffice.text.jsonc import parse_jsonc

CLAUDE = '{"numStartups": 3, "oauthAccount": {"secret": "s3cret"}, "mcpServers": {"x": {"command": "y"}}}'
HOOKS = '{\n  "hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": []}]}\n}\n'
CODEX = '# mine\nmodel = "gpt-5"\n\n[mcp_servers.x]\ncommand = "y"'
ZED = '// Zed\n{\n  // look\n  "theme": "One",\n  "context_servers": {\n    // none yet\n  },\n}\n'
CODE = '{\n\t"servers": {},\n\t"inputs": []\n}\n'


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder with all agents; some have a configuration, some not yet."""
    folder = tmp_path / "home"
    for name, text in {
        ".claude.json": CLAUDE,
        ".claude/settings.json": HOOKS,
        ".codex/config.toml": CODEX,
        ".cursor/": None,
        ".gemini/settings.json": "",
        ".config/zed/settings.json": ZED,
        ".config/Code/User/mcp.json": CODE,
    }.items():
        path = folder / name
        (path if text is None else path.parent).mkdir(parents=True, exist_ok=True)
        if text:
            path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setattr("sys.platform", "linux")
    for name in ("XDG_CONFIG_HOME", "CODEX_HOME", "CLAUDE_CONFIG_DIR"):
        monkeypatch.delenv(name, raising=False)
    return folder


def read_all(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def find_server(home: Path, file: str, *keys: str) -> Any:
    text = (home / file).read_text(encoding="utf-8")
    value = tomllib.loads(text) if file.endswith(".toml") else parse_jsonc(text).value
    for key in keys:
        value = value[key]
    return value


def test_every_agent_gets_a_server_that_starts(home: Path, suffice: Any, docs: Path) -> None:
    assert suffice("install", "--docs", docs, "--yes").status == 0
    for file, key in {
        ".claude.json": "mcpServers",
        ".codex/config.toml": "mcp_servers",
        ".cursor/mcp.json": "mcpServers",
        ".gemini/settings.json": "mcpServers",
        ".config/zed/settings.json": "context_servers",
        ".config/Code/User/mcp.json": "servers",
    }.items():
        server = find_server(home, file, key, "suffice")
        assert shutil.which(server["command"])
        assert server["args"][-3:] == ["mcp", "--docs", str(docs)]
    assert find_server(home, ".claude.json", "mcpServers", "x") == {"command": "y"}
    assert find_server(home, ".codex/config.toml", "model") == "gpt-5"
    assert (home / ".claude/settings.json").read_text() == HOOKS, "the hook is only added with --guard"
    assert "// none yet" in (home / ".config/zed/settings.json").read_text()


def test_uninstall_leaves_every_file_as_it_was(home: Path, suffice: Any, docs: Path) -> None:
    before = read_all(home)
    assert suffice("install", "--docs", docs, "--guard", "--yes").status == 0
    hooks = find_server(home, ".claude/settings.json", "hooks", "PostToolUse")
    assert [hook["matcher"] for hook in hooks][1:] == ["Edit"]
    assert hooks[0]["hooks"][0]["command"].endswith("guard hook")
    assert "guard hook" in (home / ".codex/hooks.json").read_text()
    assert suffice("uninstall", "--yes").status == 0
    assert read_all(home) == before
    assert "has no entry" in suffice("uninstall", "--yes").out


def test_what_the_user_changed_in_between_stays(home: Path, suffice: Any, docs: Path) -> None:
    suffice("install", "--docs", docs, "--guard", "--yes")
    path = home / ".config/Code/User/mcp.json"  # The object of servers was empty: a neighbour needs its comma.
    value = json.loads(path.read_text())
    value["servers"]["mine"] = {"command": "z"}
    path.write_text(json.dumps(value, indent=3))
    cursor = home / ".cursor/mcp.json"  # The whole file was ours.
    value = json.loads(cursor.read_text())
    value["mcpServers"] = {"before": 1, **value["mcpServers"]}
    cursor.write_text(json.dumps(value))
    codex = home / ".codex/config.toml"  # Something came into our own table.
    codex.write_text(codex.read_text() + 'startup_timeout_sec = 9\n\n[mcp_servers.last]\ncommand = "q"\n')
    claude = home / ".claude.json"
    claude.write_text(claude.read_text().replace('"numStartups": 3', '"numStartups": 4'))

    assert suffice("uninstall", "--yes").status == 0
    assert json.loads(path.read_text()) == {"servers": {"mine": {"command": "z"}}, "inputs": []}
    assert json.loads(cursor.read_text()) == {"mcpServers": {"before": 1}}
    assert tomllib.loads(codex.read_text())["mcp_servers"] == {"x": {"command": "y"}, "last": {"command": "q"}}
    assert claude.read_text() == CLAUDE.replace('"numStartups": 3', '"numStartups": 4')


def test_the_change_is_shown_and_nothing_else_of_the_file(home: Path, suffice: Any) -> None:
    before = read_all(home)
    result = suffice("install", "--guard", "--dry-run")
    assert result.status == 0
    assert '+     "suffice": {' in result.out
    assert "guard hook" in result.out
    assert "s3cret" not in result.out
    assert read_all(home) == before


def test_without_a_terminal_it_asks_for_yes(home: Path, suffice: Any) -> None:
    before = read_all(home)
    result = suffice("install", stdin=b"")
    assert result.status == 2
    assert "--yes" in result.err
    assert read_all(home) == before


def test_a_file_that_its_agent_changed_meanwhile_is_not_overwritten(
    home: Path, suffice: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def confirm(*args: Any) -> bool:
        (home / ".claude.json").write_text('{"numStartups": 9}')
        return True

    monkeypatch.setattr("suffice.cli.install._confirm", confirm)
    result = suffice("install")
    assert result.status == 2
    assert "in the meantime" in result.err
    assert (home / ".claude.json").read_text() == '{"numStartups": 9}'


def test_an_entry_that_is_there_is_left_alone(home: Path, suffice: Any) -> None:
    suffice("install", "--yes")
    before = read_all(home)
    result = suffice("install", "--yes")
    assert "has it already" in result.out
    assert read_all(home) == before


def test_agents_that_start_servers_elsewhere_need_a_folder(home: Path, suffice: Any) -> None:
    result = suffice("install", "--yes")
    assert "Cursor is left out" in result.out
    assert not (home / ".cursor/mcp.json").exists()
    assert suffice("install", "--docs", home / "nowhere", "--yes").status == 2


@pytest.mark.parametrize(
    ("file", "text"),
    [
        (".claude.json", '{"mcpServers": '),
        (".codex/config.toml", "[mcp_servers"),
        (".claude.json", '{"mcpServers": 3}'),
    ],
)
def test_a_file_that_cannot_be_read_is_left_and_the_entry_shown(home: Path, suffice: Any, file: str, text: str) -> None:
    (home / file).write_text(text)
    result = suffice("install", "--yes")
    assert result.status == 2
    assert f"{file} cannot be changed" in result.out
    assert "mcp" in result.out.partition("yourself")[2]
    assert (home / file).read_text() == text
    assert find_server(home, ".gemini/settings.json", "mcpServers", "suffice"), "the others get theirs"


def test_no_agent_is_one_sentence(tmp_path: Path, suffice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    result = suffice("install", "--yes")
    assert result.status == 2
    assert "No agent was found" in result.err


def test_only_the_named_agents_are_changed(home: Path, suffice: Any) -> None:
    shown = suffice("install", "--agent", "codex", "--dry-run").out
    assert "Codex: " in shown
    assert "Gemini" not in shown
    assert "is not known" in suffice("install", "--agent", "nobody").err
