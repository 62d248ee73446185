"""``suffice search`` and ``suffice index``: searching on its own."""

import json
import sys

from suffice import settings
from suffice.api import validate_question
from suffice.cli.interrupt import run_interruptible
from suffice.cli.terminal import Terminal, print_passages
from suffice.errors import EXIT_INTERRUPTED
from suffice.options import RunOptions
from suffice.search.open import open_corpus, open_search
from suffice.search.resilience import make_resilient
from suffice.types import Passage, Query


def search(query: str, options: RunOptions, *, as_json: bool) -> int:
    """The best passages for one query; exit 3 when there are none."""
    text = validate_question(query)
    with Terminal().live_display() as terminal:

        async def work() -> list[Passage]:
            search, _ = await open_search(options.scope, settings.load(), terminal.say, terminal.progress)
            return await make_resilient(search, lambda failure: terminal.say(failure.message))(Query(text), options.k)

        found = run_interruptible(work())
    if found is None:
        return EXIT_INTERRUPTED
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
        terminal.print_error("Nothing was found.")
    return 0 if found else 3


def index(options: RunOptions) -> int:
    """Bring the index up to date and say what is in it."""
    with Terminal().live_display() as terminal:
        corpus = run_interruptible(open_corpus(options.scope, settings.load(), terminal.say, terminal.progress))
    if corpus is None:
        return EXIT_INTERRUPTED
    print(f"{corpus.size:,} passages from {len(corpus.files):,} files are in the index.")
    return 0
