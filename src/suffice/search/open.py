"""Open the search that a user described: documents, the web, or both."""

import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from suffice.errors import InputError
from suffice.search.base import Reader, Search
from suffice.settings import Settings
from suffice.types import Embed, Notify

if TYPE_CHECKING:
    from suffice.search.corpus.search import CorpusSearch

DEFAULT_ALPHA = 0.5  # Words and meaning weigh the same unless a preset or the user says otherwise.

ShowProgress = Callable[[str, int, int], None]
"""Receives the name of an activity, the steps done and the steps in total."""


@dataclass(frozen=True)
class SearchScope:
    """What a run searches: documents, the web, or both."""

    docs: tuple[str, ...] = ()
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    web: bool = False
    providers: tuple[str, ...] = ()
    data_providers: tuple[str, ...] = ()
    """Services of figures that are asked beside the configured web search."""
    alpha: float | None = None
    """Weight of words against meaning: 1 is words only, 0 meaning only. ``None`` is ``DEFAULT_ALPHA``."""

    @property
    def uses_web(self) -> bool:
        return self.web or bool(self.providers)

    @property
    def is_empty(self) -> bool:
        return not self.docs and not self.uses_web


async def open_search(
    scope: SearchScope, config: Settings, notify: Notify, progress: ShowProgress | None = None
) -> Search:
    """Open the search over a scope. Prompt injections are removed from its passages, and ``notify`` receives which."""
    from suffice.search.screened import InjectionFilter, describe_removal

    search, _ = await open_unscreened_search(scope, config, notify, progress)
    return InjectionFilter(search, lambda event: notify(describe_removal(event)))


async def open_unscreened_search(
    scope: SearchScope, config: Settings, notify: Notify, progress: ShowProgress | None = None
) -> tuple[Search, Embed | None]:
    """Open the search over a scope, and the embeddings that compare its results (``None`` when alpha is 1).

    This is for a run, which screens the passages itself to report each removal as an event. Interfaces that show passages
    use ``open_search``.
    """
    if scope.is_empty:
        raise InputError("There is nothing to search; name files or folders with --docs (docs= in Python) or add --web")
    web: Search | None = None
    if scope.uses_web:
        from suffice.search.web.choose import open_web_search

        web = open_web_search(config, scope.providers, notify, scope.data_providers)
    if not scope.docs:
        assert web is not None
        return web, None if scope.alpha == 1 else _open_embeddings(config, notify)
    corpus = await open_corpus(scope, config, notify, progress)
    embed = None if scope.alpha == 1 else corpus.embed
    if web is None:
        return corpus, embed
    from suffice.search.fusion import MergedSearch

    return MergedSearch({"The search over the documents": corpus, "The web search": web}), embed


async def open_corpus(
    scope: SearchScope, config: Settings, notify: Notify, progress: ShowProgress | None = None
) -> "CorpusSearch":
    """Open the index over the documents of a scope and bring it up to date."""
    from suffice.models.embeddings.choose import choose_embedder
    from suffice.search.corpus.search import CorpusSearch

    if not scope.docs:
        raise InputError("There is nothing to index; name files or folders")
    alpha = DEFAULT_ALPHA if scope.alpha is None else scope.alpha
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha must lie between 0 (meaning only) and 1 (words only), not {alpha:g}")
    corpus = await CorpusSearch.open(
        [Path(path) for path in scope.docs],
        cache_dir=config.cache_dir,
        include=scope.include,
        exclude=scope.exclude,
        alpha=alpha,
        embedder=None if alpha == 1 else choose_embedder(config, notify),
        notify=notify,
        progress=progress,
        stdin_text=await asyncio.to_thread(read_stdin) if "-" in scope.docs else None,
    )
    if corpus.skipped:
        count = len(corpus.skipped)
        first = "; ".join(f"{skipped.path} ({skipped.why})" for skipped in corpus.skipped[:3])
        more = f" and {count - 3} more" if count > 3 else ""
        notify(f"Skipped {count} {'file' if count == 1 else 'files'} that cannot be read: {first}{more}.")
    for partly in corpus.partly_read[:3]:
        notify(f"{partly.path}: {partly.why}.")
    return corpus


def open_reader(scope: SearchScope, config: Settings) -> Reader | None:
    """Open the reader of whole web pages; ``None`` when the scope does not include the web."""
    if not scope.uses_web:
        return None
    from suffice.search.pages.reader import MAX_PAGES, PageReader

    pages = config.environment.get("SUFFICE_PAGES", "").strip() or str(MAX_PAGES)
    if not pages.isascii() or not pages.isdecimal():
        raise InputError(f"SUFFICE_PAGES={pages!r} is not a number of pages; set it to 0 or more")
    return PageReader.open(config.environment.get("SUFFICE_ALLOW_HOSTS", ""), config.cache_dir, int(pages))


def read_stdin() -> str:
    """Return all of standard input as text."""
    from suffice.search.files.decode import decode

    if sys.stdin is None:
        raise InputError("Nothing can be read from standard input; pipe a text into it or name a file")
    return decode(sys.stdin.buffer.read(), "standard input")


def _open_embeddings(config: Settings, notify: Notify) -> Embed:
    from suffice.models.embeddings.choose import choose_embedder
    from suffice.search.corpus.vectors import EmbeddingCache

    return EmbeddingCache(choose_embedder(config, notify), config.cache_dir, notify).embed
