"""Open the search that a user described: documents, the web, or both."""

import asyncio
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from suffice.errors import InputError
from suffice.models.embeddings.minilm import get_minilm
from suffice.search.base import Reader, Search
from suffice.search.corpus.vectors import EmbeddingCache, VectorSearch
from suffice.search.engines.address import is_address, is_postgres, remove_secrets
from suffice.search.fusion import MergedSearch
from suffice.search.screened import InjectionFilter, describe_removal
from suffice.search.threads import run_in_thread
from suffice.settings import Settings
from suffice.text.plain import count
from suffice.types import Embed, Notify, Vectors

if TYPE_CHECKING:
    from suffice.search.corpus.search import CorpusSearch
    from suffice.search.engines.ingest import IngestResult
    from suffice.search.files.walk import SkippedFile

DEFAULT_ALPHA = 0.2  # Weight of words against meaning, unless a preset or the user says otherwise (bench/answers.md).

ShowProgress = Callable[[str, int, int], None]
"""Receives the name of an activity, the steps done and the steps in total."""


class MergedCorpora(MergedSearch):
    """Several corpora, by name, merged by reciprocal rank fusion; the first one embeds texts."""

    def __init__(self, corpora: Mapping[str, VectorSearch]) -> None:
        super().__init__(corpora)
        self._first = next(iter(corpora.values()))
        self.language = getattr(self._first, "language", None)
        self.is_english_only = getattr(self._first, "is_english_only", False)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self._first.embed(texts)


Corpus = VectorSearch | MergedCorpora


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
    if web is not None and not scope.docs:
        return web, None if scope.alpha == 1 else _open_vectors(config, notify).embed
    corpus = await open_corpus(scope, config, notify, progress)
    embed = None if scope.alpha == 1 else corpus.embed
    if web is None:
        return corpus, embed
    return MergedSearch({"The search over the documents": corpus, "The web search": web}), embed


async def open_corpus(
    scope: SearchScope, config: Settings, notify: Notify, progress: ShowProgress | None = None
) -> Corpus:
    """Open the documents of a scope: the index over its files, brought up to date, and the corpora behind addresses."""
    if not scope.docs:
        raise InputError("There is nothing to index; name files or folders")
    alpha = DEFAULT_ALPHA if scope.alpha is None else scope.alpha
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha must lie between 0 (meaning only) and 1 (words only), not {alpha:g}")
    corpora: dict[str, VectorSearch] = {}
    if paths := tuple(path for path in scope.docs if not is_address(path)):
        local = replace(scope, docs=paths, alpha=alpha)
        corpora["The search over the files"] = await open_local_corpus(local, config, notify, progress)
    for address in filter(is_address, scope.docs):
        corpora[f"The search in {remove_secrets(address)}"] = await _open_remote_corpus(address, alpha, config, notify)
    return next(iter(corpora.values())) if len(corpora) == 1 else MergedCorpora(corpora)


async def open_local_corpus(
    scope: SearchScope, config: Settings, notify: Notify, progress: ShowProgress | None = None
) -> "CorpusSearch":
    """Open the index over the files of a scope and bring it up to date."""
    from suffice.models.embeddings.choose import choose_embedder
    from suffice.search.corpus.search import CorpusSearch

    alpha = DEFAULT_ALPHA if scope.alpha is None else scope.alpha
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
    notify_skipped(corpus.skipped, notify)
    for partly in corpus.partly_read[:3]:
        notify(f"{partly.path}: {partly.why}.")
    return corpus


def notify_skipped(skipped: "Sequence[SkippedFile]", notify: Notify) -> None:
    """Name the first files that could not be read."""
    if skipped:
        first = " ".join(f"{file.path}: {file.why.rstrip('.')}." for file in skipped[:3])
        more = f" And {len(skipped) - 3} more." if len(skipped) > 3 else ""
        notify(f"Skipped {count(len(skipped), 'file')} that cannot be read: {first}{more}")


async def _open_remote_corpus(address: str, alpha: float, config: Settings, notify: Notify) -> VectorSearch:
    vectors = _open_vectors(config, notify, needs_model=alpha < 1)
    if is_postgres(address):
        from suffice.search.engines.hybrid import PostgresSearch
        from suffice.search.engines.postgres import parse_postgres

        return await asyncio.to_thread(PostgresSearch.open, parse_postgres(address), alpha, vectors)
    from suffice.search.engines.elastic import open_elastic

    return await open_elastic(address, alpha, vectors, config.environment)


async def ingest_into(
    address: str,
    scope: SearchScope,
    config: Settings,
    notify: Notify,
    progress: ShowProgress,
    *,
    has_model: bool = True,
    rebuild: bool = False,
) -> "IngestResult":
    """Read the files of a scope into a collection in Postgres; ``has_model`` embeds them with the configured model."""
    from suffice.search.corpus.sync import STDIN, IndexRequest
    from suffice.search.engines.ingest import ingest_files
    from suffice.search.engines.postgres import parse_postgres

    if not is_postgres(address):
        raise InputError(f"--to {remove_secrets(address)}: write postgres://HOST/DATABASE/COLLECTION")
    if STDIN in scope.docs:
        raise InputError("Standard input cannot be indexed into a collection; name files or folders")
    target = parse_postgres(address)
    vectors = _open_vectors(config, notify) if has_model else None

    wanted = (scope.docs, scope.include, scope.exclude, None, notify, progress)
    result = await run_in_thread(
        lambda check: ingest_files(target, IndexRequest(*wanted, check), vectors, rebuild=rebuild)
    )
    notify_skipped(result.skipped, notify)
    return result


def open_reader(scope: SearchScope, config: Settings) -> Reader | None:
    """Open the reader of whole web pages; ``None`` when the scope does not include the web."""
    if not scope.uses_web:
        return None
    from suffice.search.pages.reader import PageReader

    return PageReader.open(config.environment.get("SUFFICE_ALLOW_HOSTS", ""))


def read_stdin() -> str:
    from suffice.search.files.decode import decode

    if sys.stdin is None:
        raise InputError("Nothing can be read from standard input; pipe a text into it or name a file")
    return decode(sys.stdin.buffer.read(), "standard input")


def _open_vectors(config: Settings, notify: Notify, *, needs_model: bool = True) -> EmbeddingCache:
    from suffice.models.embeddings.choose import choose_embedder

    embedder = choose_embedder(config, notify) if needs_model else get_minilm()
    return EmbeddingCache(embedder, config.cache_dir, notify)
