"""Watch the searches and reads of another agent, and notice when they bring nothing new.

An agent's client calls ``suffice guard hook`` after each tool call. Every search or read is a round for the same meters and the
same gate as our own runs; its passages are the pieces of the result, of up to eight words of a line. Only digests of them are
stored, never their text.

It does not know whether the agent has what it needs: it counts what was shown before, and says so.
"""

import json
import os
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from itertools import takewhile
from pathlib import Path
from typing import Any, Literal

from suffice import settings
from suffice.errors import InputError
from suffice.gates.diminishing_returns import exhaustion
from suffice.meters import MeterSet
from suffice.meters.repetition import QueryOverlapMeter, UniqueRateMeter
from suffice.replay.episodes import RecordedHit, RecordedRound
from suffice.replay.judge import find_stop
from suffice.text.tokens import estimate_tokens, expand_identifiers, tokenize
from suffice.types import Readings

GATE = exhaustion(j=0, u=0.2, p=4)
"""Four looks in a row of whose pieces at most a fifth was new, whatever was asked; chosen in ``bench/guard.md``."""
MAX_EVENT_BYTES = 16_000_000
MAX_PIECES = 50_000  # Of one result: more than a context holds. Of a longer one, what it brought is unknown.
MAX_STATE_BYTES = 16_000_000  # What is older is forgotten, and new again if it comes back.
MAX_SESSIONS = 200  # Sessions whose state is kept, the newest.
LOCK_SECONDS = 2.0
PIECE_WORDS = 8
SENTENCE_WORDS = 5

Kind = Literal["search", "read"]
_VERBS: dict[str, Kind] = {
    **dict.fromkeys(("search", "grep", "glob", "find", "query", "websearch"), "search"),
    **dict.fromkeys(("read", "fetch", "get", "view", "open", "webfetch"), "read"),
}
_CHANGES = frozenset("write edit replace create update delete remove insert add set apply send post".split())
_PROGRAMS: dict[str, Kind] = {
    **dict.fromkeys(("rg", "grep", "egrep", "ag", "ack", "find", "fd", "ugrep"), "search"),
    **dict.fromkeys(("cat", "bat", "head", "tail", "less", "nl", "curl", "wget", "pdftotext"), "read"),
}
_SHELLS = frozenset({"bash", "shell", "exec_command", "local_shell", "run_shell_command"})


@dataclass(frozen=True, slots=True)
class Look:
    """One search or read of an agent. ``new`` are the digests of the pieces that no earlier look had shown."""

    kind: Kind
    tool: str
    query: str
    pieces: int
    new: tuple[str, ...]
    tokens: int
    readings: Readings
    advice: str | None = None


class Watch:
    """The looks of one agent so far, and what they brought."""

    def __init__(self, looks: Iterable[Look] = ()) -> None:
        self._meters = MeterSet([QueryOverlapMeter(), UniqueRateMeter()])
        self._seen: set[str] = set()
        self.looks: list[Look] = []
        for look in looks:
            self._read(look.query, look.new, failed=False)
            self.looks.append(look)

    def observe(self, tool: str, arguments: Any, response: Any) -> Look | None:
        """Measure one tool call, and decide whether it is time to say something; ``None`` if it neither searched nor read."""
        call = classify_call(tool, arguments)
        if call is None:
            return None
        kind, query = call
        texts = list(_extract_texts(response, frozenset(_iterate_strings(arguments))))
        found = digest_pieces(texts, query)
        failed = found is None or (isinstance(response, Mapping) and bool(response.get("isError")))
        digests = () if failed or found is None else found
        new = tuple(each for each in digests if each not in self._seen)
        readings = self._read(query, digests, failed=failed)
        look = Look(kind, tool, query, len(digests), new, sum(map(estimate_tokens, texts)), readings)
        look = replace(look, advice=write_advice([*self.looks, look]))
        self.looks.append(look)
        return look

    def _read(self, query: str, digests: Sequence[str], *, failed: bool) -> Readings:
        hits = tuple(map(RecordedHit, digests))
        self._seen.update(digests)
        return self._meters.read("after", RecordedRound(len(self.looks) + 1, (query,), hits, (), {}, failed=failed))


def write_advice(looks: Sequence[Look]) -> str | None:
    """Return one line for the agent when its latest looks brought hardly anything new.

    It is said after 4 such looks, then after 8, 16 and so on: a line after every look would itself be a cost.
    """
    if not GATE.judge([look.readings for look in looks]).stop:
        return None
    recent = list(takewhile(_is_barren, reversed(looks)))
    times, rest = divmod(len(recent), GATE.p)
    if rest or times & (times - 1):
        return None
    pieces, new, tokens = _sum_looks(recent).values()
    names = " and ".join(sorted({"searches" if look.kind == "search" else "reads" for look in recent}, reverse=True))
    what = f"returned hardly anything new ({new / pieces:.1%} of the text)" if new else "returned nothing new"
    return (
        f"suffice guard: the last {len(recent)} {names} that were watched {what} "
        f"and cost about {tokens:,} tokens. Answer from what you have, or look for something else."
    )


def describe_session(looks: Sequence[Look]) -> dict[str, Any]:
    """Return what was watched, as ``suffice guard report --json`` prints it."""
    point = find_stop(GATE, [look.readings for look in looks])
    later = looks[point.rounds :]
    stop = {
        "after_look": point.rounds,
        "later_looks": len(later),
        **{f"later_{name}": value for name, value in _sum_looks(later).items()},
    }
    return {
        "looks": len(looks),
        "searches": sum(look.kind == "search" for look in looks),
        "reads": sum(look.kind == "read" for look in looks),
        **_sum_looks(looks),
        "could_have_stopped": stop if point.fired else None,
        "rounds": [
            {
                **{name: value for name, value in asdict(look).items() if name not in ("new", "readings")},
                "new_pieces": len(look.new),
                "new_share": look.readings.get("overlap.upr"),
            }
            for look in looks
        ],
    }


def _sum_looks(looks: Sequence[Look]) -> dict[str, int]:
    return {
        "pieces": sum(look.pieces for look in looks),
        "new_pieces": sum(len(look.new) for look in looks),
        "tokens": sum(look.tokens for look in looks),
    }


# -- tool calls --------------------------------------------------------------------------------------------------------


def classify_call(tool: str, arguments: Any) -> tuple[Kind, str] | None:
    """Return whether a tool call searches or reads, and what it asked for; ``None`` for every other tool.

    >>> classify_call("mcp__docs__search_pages", {"query": "retry"})
    ('search', 'retry')
    >>> classify_call("Bash", {"command": "cd src && rg -n retry"})
    ('search', 'cd src && rg -n retry')
    """
    query = " ".join(_iterate_strings(arguments))[:500]
    if tool.lower() in _SHELLS:
        command = arguments.get("command", arguments.get("cmd")) if isinstance(arguments, Mapping) else ""
        kind = _classify_command(command)
        return None if kind is None else (kind, query)
    words = tokenize(expand_identifiers(tool.rpartition("__")[2].replace("_", " ").replace("-", " ")))
    kinds = [_VERBS[word] for word in words if word in _VERBS]
    return (kinds[0], query) if kinds and _CHANGES.isdisjoint(words) else None


def _classify_command(command: Any) -> Kind | None:
    """Return the kind of a shell command whose every program searches or reads (or only prepares that, as ``cd`` does)."""
    text = command if isinstance(command, str) else " ".join(map(str, command)) if isinstance(command, list) else ""
    try:
        words = list(shlex.shlex(text.replace("\n", " ; "), posix=True, punctuation_chars=True))
    except ValueError:
        return None
    kinds: list[Kind] = []
    is_program = True
    for i, word in enumerate(words):
        if word.startswith((">", "<<")) and words[i - 1] != "2":  # It writes a file; errors may go elsewhere.
            return None
        if is_program and word not in ("cd", "sort", "uniq", "wc", "true"):
            is_sed_print = word == "sed" and words[i + 1 : i + 2] == ["-n"]
            kind = "read" if is_sed_print else _PROGRAMS.get(word)
            if kind is None:
                return None
            kinds.append(kind)
        is_program = word in ("|", "||", "&&", ";")
    return kinds[0] if kinds else None


def _iterate_strings(value: Any) -> Iterator[str]:
    """Yield the texts of a JSON value in order, except identifiers, which may differ with every call."""
    stack = [value]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            yield item
        elif isinstance(item, dict):
            stack += [part for key, part in reversed(item.items()) if not str(key).lower().endswith("id")]
        elif isinstance(item, list):
            stack += reversed(item)


def _extract_texts(response: Any, echoes: frozenset[str]) -> Iterator[str]:
    """Yield the texts of a tool's result. MCP servers often put JSON into a text; an echo of an argument is no result."""
    for text in _iterate_strings(response):
        parts: Iterable[str] = (text,)
        if text[:1] in ("{", "["):
            with suppress(ValueError):
                parts = _iterate_strings(json.loads(text))
        yield from (part for part in parts if part not in echoes)


def digest_pieces(texts: Iterable[str], query: str) -> tuple[str, ...] | None:
    """Return a digest of each different piece of the lines, by its words; ``None`` if there are too many to compare.

    A result without a sentence, such as file names, a count or "no matches", says something only about its own query, so
    there the query belongs to each piece.
    """
    pieces: dict[str, None] = {}
    has_sentence = False
    for line in (line for text in texts for line in text.splitlines()):
        words = tokenize(line)
        has_sentence |= len(words) >= SENTENCE_WORDS and len(line.split()) >= SENTENCE_WORDS
        pieces.update((" ".join(words[i : i + PIECE_WORDS]), None) for i in range(0, len(words), PIECE_WORDS))
        if len(pieces) > MAX_PIECES:
            return None
    asked = "" if has_sentence else " ".join(tokenize(query))
    return tuple(blake2b(f"{piece}\n{asked}".encode(), digest_size=6).hexdigest() for piece in pieces)


def _is_barren(look: Look) -> bool:
    share = look.readings.get("overlap.upr")
    return share is not None and share <= GATE.u


# -- sessions ----------------------------------------------------------------------------------------------------------


def get_state_folder() -> Path:
    """Return the folder of the sessions. An agent works in folders of others, whose ``.env`` does not say where that is."""
    return settings.load(folder=Path(os.devnull)).data_dir / "guard"


def watch_event(data: bytes, folder: Path) -> str | None:
    """Record a ``PostToolUse`` event of Claude Code or Codex, and return the advice if it is time for one."""
    if len(data) > MAX_EVENT_BYTES:
        raise InputError(f"The event is longer than {MAX_EVENT_BYTES:,} bytes, so this tool call was not watched")
    try:
        event = json.loads(data)
        name, session, tool = event["hook_event_name"], event["session_id"], event["tool_name"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise InputError("The event of the hook cannot be read: it is not the JSON of a PostToolUse hook") from error
    if name != "PostToolUse":
        raise InputError(f"The guard watches PostToolUse, not {str(name)[:60]}; change the hook's event")
    if classify_call(str(tool), event.get("tool_input")) is None:
        return None
    from filelock import FileLock

    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    # A sub-agent has its own context: what others were shown is new to it.
    path = folder / f"{_name_state(str(session), str(event.get('agent_id') or ''))}.jsonl"
    with FileLock(folder / "lock", timeout=LOCK_SECONDS):
        if not path.exists():
            path.touch(0o600)
            for old in list_sessions(folder)[MAX_SESSIONS:]:
                old.unlink(missing_ok=True)
        look = Watch(read_looks(path)).observe(str(tool), event.get("tool_input"), event.get("tool_response"))
        assert look is not None
        with path.open("ab") as file:
            # A line that a killed hook left half written must not take this one with it.
            file.write(b"\n" + json.dumps(asdict(look), separators=(",", ":")).encode())
    return look.advice


def read_looks(path: Path) -> list[Look]:
    """Return the looks of a session; a line that was cut off is left out."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - MAX_STATE_BYTES))
        lines = file.read(MAX_STATE_BYTES).split(b"\n")
    looks = []
    for line in lines:
        try:
            item = json.loads(line)
            looks.append(Look(**{**item, "new": tuple(item["new"])}))
        except (ValueError, TypeError, KeyError):
            continue
    return looks


def list_sessions(folder: Path) -> list[Path]:
    """Return the state files of the watched sessions, the latest first."""
    return sorted(folder.glob("*.jsonl"), key=lambda path: path.stat().st_mtime, reverse=True)


def find_session(folder: Path, name: str | None) -> Path:
    """Return the state file of a session by the beginning of its id; without one, that of the latest session."""
    found = [path for path in list_sessions(folder) if path.name.startswith(name or "")]
    if not found:
        why = "No session was watched yet; add the hook with: suffice install --guard"
        raise InputError(f"No session {name!r} was watched; 'suffice guard report' shows the latest" if name else why)
    return found[0]


def _name_state(session: str, agent: str) -> str:
    """Return a file name for a session; the ids of clients are letters, digits and hyphens, anything else is digested."""
    name = f"{session}.{agent}" if agent else session
    plain = name.replace("-", "").replace("_", "").replace(".", "", 1)
    if plain.isalnum() and plain.isascii() and len(name) <= 120:
        return name
    return blake2b(name.encode("utf-8", "replace"), digest_size=16).hexdigest()
