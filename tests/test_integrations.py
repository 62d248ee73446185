"""The files for other agents: they parse, agree with each other and with the package."""

import asyncio
import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from suffice import __version__
from suffice.cli.app import app
from suffice.options import RunOptions
from suffice.server.mcp import build_server

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "integrations"
PLUGIN = FOLDER / "claude-code"


def test_the_plugin_names_files_that_exist_and_the_package_version() -> None:
    manifest = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    assert manifest["version"] == __version__
    assert (PLUGIN / manifest["mcpServers"]).is_file()
    assert (PLUGIN / manifest["skills"]).is_dir()


def test_every_client_starts_the_same_server() -> None:
    server = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]["suffice"]
    codex = tomllib.loads((FOLDER / "codex" / "config.toml").read_text())["mcp_servers"]["suffice"]
    assert server == codex


def test_the_skill_has_a_name_and_says_when_to_use_it() -> None:
    for file in PLUGIN.glob("skills/*/SKILL.md"):
        _, header, body = file.read_text().split("---\n", 2)
        skill = yaml.safe_load(header)
        assert skill["name"] == file.parent.name
        assert "Use when" in skill["description"]
        assert len(skill["description"]) <= 1024
        assert body.strip()


def test_the_registry_entry_names_this_version() -> None:
    entry = json.loads((FOLDER / "server.json").read_text())
    [package] = entry["packages"]
    assert entry["version"] == package["version"] == __version__
    assert len(entry["description"]) <= 100


def test_the_marketplace_lists_the_plugin() -> None:
    market = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text())
    [plugin] = market["plugins"]
    manifest = json.loads((ROOT / plugin["source"] / ".claude-plugin" / "plugin.json").read_text())
    assert plugin["name"] == manifest["name"]


@pytest.mark.parametrize("file", [*FOLDER.rglob("*.md")], ids=lambda file: file.name)
def test_commands_and_tools_that_the_instructions_name_exist(file: Path) -> None:
    """Also their flags, so that an agent that follows them is not told of an unknown option."""
    text = file.read_text()
    program = get_command(app)
    for line in re.findall(r"(?<=`)suffice [^`]+(?=`)|^suffice .+", text, re.MULTILINE):
        command = program.commands[line.split()[1]]  # type: ignore[attr-defined]
        flags = {flag for parameter in command.params for flag in parameter.opts}
        assert set(re.findall(r"--[a-z-]+", line)) <= flags, line
    tools = {tool.name for tool in asyncio.run(build_server(RunOptions(docs=[ROOT])).list_tools())}
    named = set(re.findall(r"`([a-z_]+)`", text))
    assert {name for name in named if name.endswith(("search", "fetch", "research", "check", "explain_stop"))} <= tools
