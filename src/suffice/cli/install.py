"""``suffice install`` and ``uninstall``: add suffice to the agents on this machine, and take it out again."""

import importlib.util
import json
import os
import shlex
import sys
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import typer

from suffice import settings
from suffice.cli.options import flag
from suffice.cli.output import write_file
from suffice.errors import InputError, describe_install
from suffice.text.jsonc import insert_entry, remove_entry

_NAME = "suffice"
_AGENTS = ("Claude Code", "Codex", "Cursor", "VS Code", "Gemini", "Zed")
_HOOK = "guard hook"
_CLAUDE_TOOLS = "Bash|Grep|Glob|Read|WebSearch|WebFetch|mcp__.*"
_CODEX_TOOLS = "Bash|mcp__.*"
_AGENT = flag(None, "Only this agent, such as codex. Repeatable.", metavar="NAME")
_YES = flag(False, "Do not ask.", flags="--yes -y")
_DRY_RUN = flag(False, "Only show what would be written.", flags="--dry-run")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry in a configuration file of an agent: our MCP server or our hook."""

    agent: str
    file: Path
    path: tuple[str, ...]
    """The keys of the object or list that holds the entry."""
    value: Any
    note: str = ""

    @property
    def is_hook(self) -> bool:
        return self.path[-1] == "PostToolUse"

    def is_ours(self, key: str | int, value: Any) -> bool:
        """Whether an entry of the file at our path is this one, however it was edited."""
        return _HOOK in json.dumps(value) and _NAME in json.dumps(value) if self.is_hook else key == _NAME

    def add(self, text: str) -> tuple[str, str] | None:
        """Return the text with the entry and what was inserted; ``None`` if it has one. Raises ``ValueError``."""
        if self.file.suffix == ".toml":
            if self._get_toml(text) is not None:
                return None
            body = ("" if not text or text.endswith("\n") else "\n") + ("\n" if text else "") + self.snippet
            tomllib.loads(text + body)
            return text + body, body
        if text.strip() and remove_entry(text, self.path, self.is_ours) is not None:
            return None
        path = self.path if self.is_hook else (*self.path, _NAME)
        new, body = insert_entry(text if text.strip() else "{}\n", path, self.value, item=self.is_hook)
        return new, body if text.strip() else new

    def take_out(self, text: str, inserted: str | None) -> tuple[str, str] | None:
        """Return the text without the entry and what was removed; ``None`` if it has none. Raises ``ValueError``.

        What ``add`` inserted is taken out as it is. If it was edited since, only the entry itself is.
        """
        if not text.strip():
            return None
        is_toml = self.file.suffix == ".toml"
        if (
            inserted
            and text.count(inserted) == 1
            and not (is_toml and self._get_toml(text) != self._get_toml(inserted))
        ):
            new = text.replace(inserted, "")
            with suppress(ValueError):  # A neighbour was added that needs its comma; then the entry alone is removed.
                if not new.strip() or self._find(new) is None:
                    return new, inserted
        return self._find(text)

    def _find(self, text: str) -> tuple[str, str] | None:
        if self.file.suffix != ".toml":
            return remove_entry(text, self.path, self.is_ours)
        if self._get_toml(text) is None:
            return None
        kept, removed, inside = "", "", False
        for line in text.splitlines(keepends=True):
            if line.lstrip().startswith("["):
                inside = line.strip().lstrip("[").startswith((f"{self.path[0]}.{_NAME}]", f"{self.path[0]}.{_NAME}."))
            kept, removed = (kept, removed + line) if inside else (kept + line, removed)
        if self._get_toml(kept) is not None:
            raise ValueError(f"the entry {_NAME} is not a table of its own")
        return kept, removed

    def _get_toml(self, text: str) -> Any:
        return tomllib.loads(text).get(self.path[0], {}).get(_NAME)

    @property
    def snippet(self) -> str:
        """The entry as one would paste it into the file."""
        if self.file.suffix == ".toml":
            lines = [f"{key} = {json.dumps(value)}\n" for key, value in self.value.items()]
            return "".join([f"[{self.path[0]}.{_NAME}]\n", *lines])
        return insert_entry("{}", self.path if self.is_hook else (*self.path, _NAME), self.value, item=self.is_hook)[0]


def list_entries(environment: Mapping[str, str], docs: str | None = None) -> list[Entry]:
    """Return our entries for the agents on this machine, known by their configuration folders: servers first, then hooks.

    Only agents that start servers in the project's folder get one without ``docs``.
    """
    home = Path.home()
    claude = Path(environment["CLAUDE_CONFIG_DIR"]) if environment.get("CLAUDE_CONFIG_DIR") else home / ".claude"
    codex = Path(environment.get("CODEX_HOME") or home / ".codex")
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    code = (home / "Library/Application Support" if sys.platform == "darwin" else config) / "Code" / "User"
    program = Path(sys.executable).with_name(_NAME)
    command = [str(program)] if program.exists() else [sys.executable, "-m", _NAME]
    server = {"command": command[0], "args": [*command[1:], "mcp", "--docs", docs or "."]}
    stdio = {"type": "stdio", **server}
    claude_file = claude / ".claude.json" if environment.get("CLAUDE_CONFIG_DIR") else home / ".claude.json"
    elsewhere = "" if docs else "it does not start servers in the project's folder; name one with --docs FOLDER"

    def make_hook(tools: str) -> dict[str, Any]:
        run = {"type": "command", "command": shlex.join([*command, *_HOOK.split()]), "timeout": 10}
        return {"matcher": tools, "hooks": [run]}

    known = [
        (claude, Entry("Claude Code", claude_file, ("mcpServers",), stdio)),
        (codex, Entry("Codex", codex / "config.toml", ("mcp_servers",), server)),
        (home / ".cursor", Entry("Cursor", home / ".cursor" / "mcp.json", ("mcpServers",), server, elsewhere)),
        (code, Entry("VS Code", code / "mcp.json", ("servers",), stdio)),
        (home / ".gemini", Entry("Gemini", home / ".gemini" / "settings.json", ("mcpServers",), server)),
        (config / "zed", Entry("Zed", config / "zed" / "settings.json", ("context_servers",), server, elsewhere)),
        (claude, Entry("Claude Code", claude / "settings.json", ("hooks", "PostToolUse"), make_hook(_CLAUDE_TOOLS))),
        (codex, Entry("Codex", codex / "hooks.json", ("hooks", "PostToolUse"), make_hook(_CODEX_TOOLS))),
    ]
    return [entry for folder, entry in known if folder.is_dir()]


def install(
    agent: list[str] | None = _AGENT,
    guard: bool = flag(False, "Also add the hook of 'suffice guard' to Claude Code and Codex.", flags="--guard"),
    docs: Path | None = flag(None, "Search this folder. Default: the folder the agent works in.", metavar="FOLDER"),
    yes: bool = _YES,
    dry_run: bool = _DRY_RUN,
) -> int:
    """Add suffice to the agents on this machine.

    These are Claude Code, Codex, Cursor, VS Code, Gemini and Zed. What is to be written is shown first.
    """
    if importlib.util.find_spec("mcp") is None:
        raise InputError(f"The server for agents needs the extra 'service'; run: {describe_install('service')}")
    if docs is not None and not docs.exists():
        raise InputError(f"--docs {docs} does not exist; check the path")
    entries = _choose(list_entries(_load_settings().environment, None if docs is None else str(docs.absolute())), agent)
    if not entries:
        raise InputError(f"No agent was found: {', '.join(_AGENTS)}; start it once, then install")
    for entry in entries:
        if entry.note and not entry.is_hook:
            print(f"{entry.agent} is left out: {entry.note}")
    entries = [entry for entry in entries if not entry.note and (guard or not entry.is_hook)]
    return _change_files(entries, "+", yes, dry_run)


def uninstall(agent: list[str] | None = _AGENT, yes: bool = _YES, dry_run: bool = _DRY_RUN) -> int:
    """Take suffice out of the agents on this machine."""
    return _change_files(_choose(list_entries(_load_settings().environment), agent), "-", yes, dry_run)


def _choose(entries: list[Entry], names: list[str] | None) -> list[Entry]:
    """Return the entries of the named agents, however the names are written; all without a name."""
    known = {_fold(name): name for name in _AGENTS}
    for name in names or ():
        if _fold(name) not in known:
            raise InputError(f"--agent {name} is not known; choose from {', '.join(_AGENTS)}")
    return [entry for entry in entries if not names or _fold(entry.agent) in map(_fold, names)]


def _fold(name: str) -> str:
    return name.lower().replace(" ", "").replace("-", "")


def _change_files(entries: list[Entry], sign: Literal["+", "-"], yes: bool, dry_run: bool) -> int:
    """Add the entries to their files or take them out, each after it was shown; return the exit status."""
    records = _Records()
    status = 0
    for entry in entries:
        try:
            text = _read(entry.file)
            changed = entry.add(text) if sign == "+" else entry.take_out(text, records.find(entry.file))
        except ValueError as error:
            todo = (
                f"Add this to it yourself:\n{entry.snippet}" if sign == "+" else f"Remove its entry {_NAME} yourself."
            )
            print(f"{entry.agent}: {entry.file} cannot be changed: {error}. {todo}")
            status = InputError.exit_code
            continue
        if changed is None:
            print(f"{entry.agent}: {entry.file} {'has it already' if sign == '+' else 'has no entry'}")
        elif _confirm(entry, sign, changed[1], yes, dry_run):
            if _read(entry.file) != text:
                raise InputError(f"{entry.agent} changed {entry.file} in the meantime; quit it and run this again")
            if changed[0]:
                write_file(entry.file, changed[0], entry.agent)
            else:  # The file was made by install, and nothing else came into it.
                entry.file.unlink()
            records.save(entry.file, changed[1] if sign == "+" else None)
            if sign == "+" and entry.is_hook and entry.agent == "Codex":
                print("Codex runs a new hook only after you have trusted it: /hooks")
    return status


def _confirm(entry: Entry, sign: Literal["+", "-"], change: str, yes: bool, dry_run: bool) -> bool:
    """Show a change of a file, and ask for it unless ``yes``. Other lines of the file may be secret and are not shown."""
    print(f"{entry.agent}: {entry.file}")
    print("\n".join(f"  {sign} {line}" for line in change.splitlines() if line.strip()))
    if yes or dry_run:
        return not dry_run
    if not sys.stdin.isatty():
        raise InputError("There is no terminal to ask at; add --yes to write this, or --dry-run to see it only")
    return typer.confirm(f"{'Write' if sign == '+' else 'Remove'} this?")


def _load_settings() -> settings.Settings:
    """Return the settings without a ``.env``: the folder of the moment has no say in what is written elsewhere."""
    return settings.load(folder=Path(os.devnull))


def _read(file: Path) -> str:
    try:
        return file.read_bytes().decode()
    except FileNotFoundError:
        return ""
    except UnicodeDecodeError:
        raise ValueError("it is not text") from None
    except OSError as error:
        raise ValueError(str(error.strerror)) from error


class _Records:
    """What was inserted into which file, so that it can be taken out to the byte."""

    def __init__(self) -> None:
        self._file = _load_settings().data_dir / "installed.json"
        self._inserted: dict[str, str] = {}
        with suppress(ValueError, TypeError):
            self._inserted = dict(json.loads(_read(self._file)))

    def find(self, file: Path) -> str | None:
        return self._inserted.get(str(file))

    def save(self, file: Path, inserted: str | None) -> None:
        self._inserted = {name: text for name, text in self._inserted.items() if name != str(file)}
        self._inserted |= {} if inserted is None else {str(file): inserted}
        self._file.parent.mkdir(parents=True, exist_ok=True)
        write_file(self._file, json.dumps(self._inserted, indent=1), "The record of what was installed")
