"""The journal of a grid: every model call of an unfinished question, so that a killed grid pays for no call twice.

A call is found by its prompt and by how often the question asked the same before. The calls of a question are deleted when its
row is written.
"""

import sqlite3
from collections import Counter
from pathlib import Path
from typing import TypeVar

import msgspec

from suffice.errors import InputError
from suffice.models.base import Model, ModelWrapper, Reply
from suffice.prompts.base import Prompt
from suffice.storage.sqlite_cache import make_key

A = TypeVar("A")


class CallJournal:
    """An SQLite file in the folder of the grid."""

    def __init__(self, path: Path) -> None:
        try:
            self._database = sqlite3.connect(path, isolation_level=None)
            self._database.execute("PRAGMA journal_mode=WAL")
            self._database.execute("PRAGMA synchronous=NORMAL")
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS calls (episode TEXT, call BLOB, reply BLOB, PRIMARY KEY (episode, call))"
            )
        except sqlite3.Error as error:
            raise InputError(f"{path} cannot be used: {error}; move it away or choose another --out") from error

    def load(self, episode: str, call: bytes) -> bytes | None:
        found = self._database.execute("SELECT reply FROM calls WHERE episode = ? AND call = ?", (episode, call))
        row = found.fetchone()
        return None if row is None else bytes(row[0])

    def store(self, episode: str, call: bytes, reply: bytes) -> None:
        self._database.execute("INSERT OR REPLACE INTO calls VALUES (?, ?, ?)", (episode, call, reply))

    def forget(self, episode: str) -> None:
        """Delete the calls of a finished question."""
        self._database.execute("DELETE FROM calls WHERE episode = ?", (episode,))

    def close(self) -> None:
        self._database.close()


class JournaledModel(ModelWrapper):
    """Wraps the model of one question. A call that was answered before the grid was killed is not made again."""

    def __init__(self, model: Model, journal: CallJournal, episode: str) -> None:
        super().__init__(model)
        self._journal = journal
        self._episode = episode
        self._occurrences: Counter[bytes] = Counter()

    async def __call__(self, prompt: Prompt[A]) -> Reply[A]:
        key = make_key(self.name, prompt.role, prompt.version(), prompt)
        self._occurrences[key] += 1
        call = key + self._occurrences[key].to_bytes(4, "big")
        stored = self._journal.load(self._episode, call)
        if stored is not None:
            reply: Reply[A] = msgspec.json.decode(stored, type=Reply[prompt.response_type])  # type: ignore[name-defined]
            return reply
        reply = await self._model(prompt)
        self._journal.store(self._episode, call, msgspec.json.encode(reply))
        return reply
