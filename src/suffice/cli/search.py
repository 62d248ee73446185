"""``suffice search`` and ``suffice index``: search without research, and prepare documents for searching."""

import json
from typing import TYPE_CHECKING, Any, Literal

from suffice import settings
from suffice.cli.options import JSON, PLAIN_ALPHA_HELP, argument, build_options, flag, takes_options
from suffice.cli.output import print_error
from suffice.errors import InputError
from suffice.types import Passage, Query

if TYPE_CHECKING:
    from suffice.search.corpus.search import CorpusSearch


@takes_options("docs", "web", "providers", "include", "exclude", "k", "alpha", alpha=PLAIN_ALPHA_HELP)
def search(query: str = argument(..., "What to look for.", "QUERY"), as_json: bool = JSON, **given: Any) -> int:
    """Run one search and show the passages it finds.

    The exit status is 3 if nothing is found.
    """
    from suffice.api import validate_question
    from suffice.cli.terminal import Terminal, print_passages, run_interruptible
    from suffice.search.open import open_search
    from suffice.search.resilience import make_resilient

    text = validate_question(query)
    options = build_options(**given)
    with Terminal().live_display() as terminal:

        async def find() -> list[Passage]:
            search = await open_search(options.scope, settings.load(), terminal.notify, terminal.show_progress)
            resilient = make_resilient(search, lambda failure: terminal.notify(failure.message))
            return await resilient(Query(text), options.k)

        passages = run_interruptible(find())
    if as_json:
        names = ("id", "title", "location", "score", "text")
        rows = [{name: getattr(passage, name) for name in names} for passage in passages]
        print(json.dumps({"query": text, "passages": rows}, ensure_ascii=False, indent=2))
    else:
        print_passages(passages)
    return 0 if passages else print_error("Nothing was found.", 3)


@takes_options("docs", "include", "exclude")
def index(
    paths: list[str] | None = argument(None, "The same as --docs.", "PATH"),
    to: str | None = flag(
        None,
        "Write into this collection instead of the index on this machine; several workers may do so at once. "
        "It is then searched with --docs and the same address.",
        metavar="postgres://HOST/DATABASE/COLLECTION",
    ),
    vectors: Literal["model", "static"] = flag(
        "model",
        "With --to: store the vectors of the embedding model, or static ones, which take a hundredth of the time "
        "and leave the model's work to the time of the question.",
    ),
    rebuild: bool = flag(False, "With --to: make the collection anew.", flags="--rebuild"),
    **given: Any,
) -> int:
    """Read documents into the search index ahead of time.

    Other commands do this when needed; doing it now makes questions faster, because all passages are embedded too.
    An interrupted command goes on where it stopped.
    """
    options = build_options(**{**given, "docs": [*(paths or ()), *(given["docs"] or ())]})
    if not options.scope.docs:
        raise InputError("Nothing to read; name files or folders with --docs")
    has_model = vectors == "model"
    if to is None and (rebuild or not has_model):
        raise InputError("--rebuild and --vectors are for a collection in Postgres; name it with --to postgres://…")
    from suffice.cli.terminal import Terminal, run_interruptible
    from suffice.search.engines.address import is_address, remove_secrets
    from suffice.search.open import ingest_into, open_local_corpus

    for path in filter(is_address, options.scope.docs):
        raise InputError(f"{remove_secrets(path)} is already an index; name files and folders to read")
    with Terminal().live_display() as terminal:
        parts = options.scope, settings.load(), terminal.notify, terminal.show_progress

        async def prepare() -> "CorpusSearch":
            corpus = await open_local_corpus(*parts)
            if corpus.embeds_remotely:
                terminal.notify(
                    "Passages are not embedded ahead, because the embedding server may charge for each of them."
                )
            else:
                await corpus.embed_passages()
            return corpus

        if to is None:
            corpus = run_interruptible(prepare())
            print(f"The index holds {corpus.size:,} passages from {len(corpus.files):,} files.")
        else:
            result = run_interruptible(ingest_into(to, *parts, has_model=has_model, rebuild=rebuild))
            print(
                f"The collection holds {result.passages:,} passages from {result.files:,} files; "
                f"{result.read:,} were read now, {result.removed:,} removed."
            )
    return 0
