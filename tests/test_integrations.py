"""The files for other agents: they parse, agree with each other and with the package."""

import json
import tomllib
from pathlib import Path

import yaml

from suffice import __version__

FOLDER = Path(__file__).parent.parent / "integrations"
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
