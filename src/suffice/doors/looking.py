"""``suffice search`` and ``suffice index``: searching on its own."""

import json
import sys

from suffice import settings
from suffice.doors.interrupt import interruptible
from suffice.doors.terminal import Terminal, print_passages
from suffice.errors import INTERRUPTED
from suffice.front import Options, checked_question, open_corpus, open_search
from suffice.search.resilience import surviving
from suffice.types import Passage, Query


def search(query: str, options: Options, *, as_json: bool) -> int:
    """The best passages for one query; exit 3 when there are none."""
    text = checked_question(query)
    with Terminal().watching() as terminal:

        async def work() -> list[Passage]:
            search, _ = await open_search(options, settings.load(), terminal.say, terminal.progress)
            return await surviving(search, lambda failure: terminal.say(failure.message))(Query(text), options.k)

        found = interruptible(work())
    if found is None:
        return INTERRUPTED
    if as_json:
        rows = [
            {"id": hit.id, "title": hit.title, "location": hit.location, "score": hit.score, "text": hit.text}
            for hit in found
        ]
        json.dump({"query": text, "passages": rows}, sys.stdout, ensure_ascii=False, indent=2)
        print()
    else:
        print_passages(found)
    if not found:
        terminal.complain("Nothing was found.")
    return 0 if found else 3


def index(options: Options) -> int:
    """Bring the index up to date and say what is in it."""
    with Terminal().watching() as terminal:
        corpus = interruptible(open_corpus(options, settings.load(), terminal.say, terminal.progress))
    if corpus is None:
        return INTERRUPTED
    print(f"{corpus.size:,} passages from {len(corpus.files):,} files are in the index.")
    return 0
