"""The passages of a search for retrievers of other frameworks: opened, screened and returned, also without an event loop."""

import asyncio
from collections.abc import Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from suffice import settings
from suffice.search.open import SearchScope, open_search
from suffice.types import Passage, Query

T = TypeVar("T")


async def find_passages(
    query: str, docs: str | Sequence[str], k: int, alpha: float | None = None, *, web: bool = False
) -> list[Passage]:
    """Return the best passages of documents, or of the web. The index is built once and brought up to date by every call."""
    paths = (docs,) if isinstance(docs, str) else tuple(docs)
    scope = SearchScope(docs=paths, web=web, alpha=alpha)
    search = await open_search(scope, settings.load(), lambda message: None)
    return await search(Query(query), k)


def describe_passage(passage: Passage) -> dict[str, Any]:
    """Return what a framework stores beside the text: where it stands, so that an answer can cite it."""
    return {
        "source": passage.url or passage.location,
        "location": passage.location,
        "title": passage.title,
        "kind": passage.kind,
        "score": passage.score,
    }


def run_anywhere(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end, also inside a running event loop such as a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
