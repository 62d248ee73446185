"""What is in scope: tell the planner, and read all of it at once where it fits a strong model's context.

A model then sees more than any search finds, for less. Only with the strategy ``auto`` and no gate of the user's; the stop says
what was read.
"""

import os
from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

from suffice.engine.loop import build_stopped, judge_round
from suffice.events import Searching, SearchStopped
from suffice.gates.base import Gate
from suffice.memory.evidence import RUN_WORDS, list_runs
from suffice.meters import MeterSet
from suffice.search.base import ScopeSearch, Search
from suffice.search.screened import strip_injections
from suffice.state.prompting import MAX_EVIDENCE_TOKENS
from suffice.state.run import RunState
from suffice.text.plain import count
from suffice.text.tokens import estimate_tokens, tokenize
from suffice.types import Coverage, Failure, Hits, OpenDocument, Passage, Query, Round, Verdict

MAX_PASSAGES = 2_000  # More do not fit the context of any model.
CONTEXT_SHARE = 0.5  # The other half is for the answer and its check.
_NOTE_TOKENS = 12  # Tokens for the markup around a passage in the prompt.
MAX_LISTED = 300  # Files that the planner is told of.
_OPENED_SHARE = 0.125  # Of the context, for one document; three leave room for what is searched.


def describe_files(documents: ScopeSearch) -> tuple[str, ...]:
    """Return the files in scope for the planner, one line each: name and size."""
    return tuple(f"{name} ({-(-path.stat().st_size // 1000):,} kB)" for name, path in name_files(documents).items())


def name_files(documents: ScopeSearch) -> dict[str, Path]:
    """Return the files in scope by the names that the planner is told."""
    paths = [path for path in documents.files if path.is_file()][:MAX_LISTED]
    base = os.path.commonpath([path.parent for path in paths]) if paths else ""
    return {os.path.relpath(path, base): path for path in paths}


class DocumentOpener:
    """A search that also reads whole documents, in order, as far as a share of the model's context goes."""

    def __init__(self, search: Search, documents: ScopeSearch, run: RunState) -> None:
        self._search = search
        self._documents = documents
        self._run = run

    async def __call__(self, query: Query, k: int) -> list[Passage]:
        path = name_files(self._documents).get(query.text) if isinstance(query, OpenDocument) else None
        if path is None:  # A name that is no file is searched for.
            return await self._search(query, k)
        left = (self._run.model.context or MAX_EVIDENCE_TOKENS) * _OPENED_SHARE
        read: list[Passage] = []
        for passage in await self._documents.list_passages(MAX_PASSAGES, path) or ():
            left -= count_tokens([passage])
            if left < 0:
                why = f"{query.text} was read up to {read[-1].location}" if read else f"{query.text} was not read"
                self._run.record_failure(Failure("search", "TooLong", f"{why}: it is too long to be read whole"))
                break
            read.append(passage)
        return read


def name_foreign_languages(documents: ScopeSearch, language: str | None) -> str:
    """Return the languages of the documents if that of the question is not among them; else nothing."""
    languages = documents.languages
    is_foreign = language is not None and language not in languages
    return ", ".join(name.capitalize() for name in languages) if is_foreign else ""


async def list_scope(documents: ScopeSearch, run: RunState) -> tuple[Passage, ...]:
    """Return all passages in scope if they fit the model's context and the budget; else none."""
    context = run.model.context
    if context is None:
        return ()
    passages = await documents.list_passages(MAX_PASSAGES)
    left = run.budget.tokens_left
    limit = CONTEXT_SHARE * (context if left is None else min(context, left))
    return tuple(passages) if passages and count_tokens(drop_copies(passages)) <= limit else ()


def drop_copies(passages: Sequence[Passage]) -> list[Passage]:
    """Return the passages, which come file by file, without paragraphs at their ends that only repeat earlier files.

    Folders often hold a document twice, such as report.docx and report.md, cut into other passages.
    """
    seen: set[tuple[str, ...]] = set()
    new: list[Passage] = []
    for _, own in groupby(passages, key=lambda passage: passage.place.path):
        in_file = list(own)
        new += filter(None, (_cut_copied(passage, seen) for passage in in_file))
        seen.update(list_runs([word for passage in in_file for word in tokenize(passage.text)]))
    return new


def _cut_copied(passage: Passage, seen: Container[tuple[str, ...]]) -> Passage | None:
    """Return the passage from its first to its last new paragraph; one that only has words of its title is not new."""
    paragraphs = passage.text.split("\n\n")
    words = [tokenize(paragraph) for paragraph in paragraphs]
    runs = enumerate(list_runs([word for own in words for word in own]))
    copied = {first + n for first, run in runs if run in seen for n in range(RUN_WORDS)}
    if not copied:
        return passage
    known = set(tokenize(passage.title))
    first, start, new = 0, 0, list[int]()
    for paragraph, own in zip(paragraphs, words, strict=True):
        if not copied.issuperset(range(first, first + len(own))) and not known.issuperset(own):
            new += (start, start + len(paragraph))
        first, start = first + len(own), start + len(paragraph) + 2
    if not new:
        return None
    place = passage.place.narrowed(passage.text, new[0], new[-1])
    return replace(passage, text=passage.text[new[0] : new[-1]], place=place)


def count_tokens(passages: Sequence[Passage]) -> int:
    """Return about how many tokens the passages take up in a prompt."""
    return sum(estimate_tokens(passage.text) + estimate_tokens(passage.title) + _NOTE_TOKENS for passage in passages)


async def read_all(run: RunState, passages: Sequence[Passage], gate: Gate, meters: MeterSet) -> SearchStopped:
    """Take all passages into the evidence in one round, and return the last event of the search."""
    emit = run.event_queue.add
    query = Query(run.task, "read everything in scope")
    emit(Searching(1, (query,)))
    read = [strip_injections(passage, emit) for passage in passages]
    found = tuple(drop_copies(read))
    round = Round(1, (Hits(query, found),), found, found)
    run.record_searches(round)
    run.has_read_all = True
    if run.survey is not None:
        run.survey.mark_all_read()
    done = await judge_round(run, gate, meters, round)
    files = len({passage.place.path for passage in read})
    because = f"{count(files, 'file')}, about {count_tokens(found):,} tokens"
    if list(found) != read:
        because += " without what copies repeat"
    verdict = Verdict("read_all", True, "read_all", because, promise="guarantee")
    emit(replace(done, accepted=True, verdict=verdict))  # The gate only has limits, and a first round is within them.
    stopped = build_stopped(run, gate, verdict)
    if run.breadth != "narrow":
        whole = Coverage(1.0, 1.0, 1.0, files, files, "everything in scope was read")
        stopped = replace(stopped, stop=replace(stopped.stop, coverage=whole))
    emit(stopped)
    return stopped
