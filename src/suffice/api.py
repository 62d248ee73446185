"""The Python door: ``research`` from plain arguments to a report.

It checks what the user gave and chooses the parts of a run by name; it does no research itself.
"""

import asyncio
import logging
import sys
from collections.abc import Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice import __version__, plugins, settings
from suffice.engine.interventions import validate_interventions
from suffice.engine.pipeline import RunConfig, run_pipeline
from suffice.engine.presets import get_preset
from suffice.engine.vision import find_images
from suffice.errors import InputError
from suffice.events import Event, Finished
from suffice.gates.base import Gate
from suffice.gates.parse import parse_gate
from suffice.models.base import Model, is_language_model, supports_vision
from suffice.search.base import Reader, Search
from suffice.storage import findings, runs
from suffice.storage.findings import FindingStore, StoredFinding
from suffice.storage.runs import RunRecorder
from suffice.text.entities import extract_names
from suffice.types import Bounds, Embed, Passage, PriorRun, Query, Report

if TYPE_CHECKING:
    from suffice.search.corpus.search import CorpusSearch

DEFAULT_ALPHA = 0.5  # Words and meaning weigh the same, unless a preset was made for another mix.
MAX_QUESTION_CHARS = 20_000  # Characters. What is longer is a document and belongs behind ``docs``.

_LOG = logging.getLogger("suffice")  # Where a program hears what a person at a terminal is told.

Docs = str | Path | Sequence[str | Path]
MessageCallback = Callable[[str], None]
ProgressCallback = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Options:
    """What a user may choose about a run, with the defaults every door shares."""

    docs: Docs | None = None
    web: bool = False
    providers: str | Sequence[str] = ()
    search: Search | None = None
    model: str | Model | None = None
    strategy: str = "auto"
    memory: str | None = None
    stop: str | Gate | None = None
    tier: str = "standard"
    bounds: Bounds = Bounds()
    k: int = 5
    per_round: int | None = None
    alpha: float | None = None
    include: Sequence[str] = ()
    exclude: Sequence[str] = ()
    with_leads: bool = False
    interventions: Sequence[str] = ()
    review: bool = True
    panel: bool = False
    strict: bool = True
    continues: str | None = None
    """A kept run whose evidence and belief this one begins with; without anything to search, over what that one searched."""
    keep: bool = False
    """Keep this run on the machine, and look up again what earlier kept ones found out. The command line does."""
    pictures: bool = False
    """Look at the pictures that the question names. They are files of this machine, so a door that answers strangers leaves
    it off."""
    seed: int = 0


async def research(
    question: str,
    *,
    max_iters: int | None = None,
    max_queries: int | None = None,
    max_sources: int | None = None,
    max_execution_time_s: float | None = None,
    token_budget: int | None = None,
    max_cost_usd: float | None = None,
    on_event: Callable[[Event], None] | None = None,
    **options: Any,
) -> Report:
    """Answer a question over ``docs`` (files, folders), the ``web`` or any ``search``; the report says why it stopped.

    ``options`` are the fields of ``Options``. A question without evidence comes back as a report whose status is
    ``no_evidence``; input that cannot be used raises ``InputError``.
    """
    bounds = Bounds(max_iters, max_queries, max_sources, max_execution_time_s, token_budget, max_cost_usd)
    unknown = set(options) - set(Options.__dataclass_fields__)
    if unknown:
        raise InputError(
            f"research() has no option {sorted(unknown)[0]!r}; it takes: {', '.join(Options.__dataclass_fields__)}"
        )
    chosen = Options(bounds=bounds, **{"pictures": True, **options})
    setup, keeper = await prepare_run(question, chosen, _LOG.warning), make_recorder(chosen, _LOG.warning)
    async with aclosing(run_pipeline(setup)) as events:
        async for event in events:
            keeper.record_event(event)
            if on_event is not None:
                on_event(event)
            if isinstance(event, Finished):
                return event.report
    raise AssertionError("a stream ends with Finished")


def run_research(
    task: str,
    *,
    docs: Docs | None = None,
    max_iters: int | None = None,
    max_queries: int | None = None,
    max_sources: int | None = None,
    max_execution_time_s: float | None = None,
    **options: Any,
) -> Report:
    """The compatible, synchronous door (S1); further options are those of ``research``."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise InputError(
            "run_research() cannot be called where an event loop runs (a notebook, a service): write: await research(…)"
        )
    return asyncio.run(
        research(
            task,
            max_iters=max_iters,
            max_queries=max_queries,
            max_sources=max_sources,
            max_execution_time_s=max_execution_time_s,
            docs=docs,
            **options,
        )
    )


async def prepare_run(
    question: str,
    options: Options,
    say: MessageCallback = lambda message: None,
    progress: ProgressCallback | None = None,
) -> RunConfig:
    """Every part of a run, chosen and checked before anything is spent."""
    config = settings.load()
    task = validate_question(question)
    earlier = None
    if options.continues is not None:
        folder = runs.find_run_dir(config.data_dir, options.continues)
        earlier = runs.load_prior_run(folder)
        task, options = expand_follow_up(task, earlier), _inherit_search_scope(folder, options)
    base = get_preset(options.strategy)
    chosen = replace(base, memory=options.memory or base.memory)
    plugins.load_plugin("memories", chosen.memory)
    # The lead stands beside the strategy's own query, so it comes before whatever else is put around the strategy.
    interventions = validate_interventions(
        [*(["leads"] if options.with_leads else []), *validate_interventions(options.interventions)]
    )
    wanted = chosen.gate if options.stop is None else options.stop
    stop = parse_gate(wanted) if isinstance(wanted, str) else wanted
    if options.tier != "auto":
        settings.resolve_bounds(options.tier)
    for name, value in (("k", options.k), ("per_round", options.per_round)):
        if value is not None and value < 1:
            raise InputError(f"{name} must be at least 1, not {value}")
    make_model = await resolve_model_factory(options.model, config, say)
    bounds = settings.merge_bounds(config.bounds, settings.validate_bounds(options.bounds))
    images = find_images(task, Path.cwd(), offline=config.offline) if options.pictures else ()
    search, embed = options.search, None
    if search is None and images and not (options.docs or options.web or options.providers):
        search = _search_nothing
    if search is None:
        options = replace(options, alpha=chosen.alpha if options.alpha is None else options.alpha)
        search, embed = await open_search(options, config, say, progress)
    model = make_model(embed)
    if bounds.usd is not None and not getattr(model, "has_price", True):
        raise InputError(
            f"Nobody knows what {model.name} costs, so --max-cost cannot hold; name its price in a file, SUFFICE_PRICES=FILE"
        )
    recalled = await asyncio.to_thread(_recall_findings, task, options, config, embed, say)
    if earlier is not None:  # What that run found is here already.
        recalled = [finding for finding in recalled if finding.run != earlier.run]
    if images and supports_vision(model) is False:
        raise InputError(
            f"{model.name} has no eyes and the question names {images[0]}; choose a model that sees with --model or "
            "SUFFICE_MODEL_LOOK, or put the name in `backticks` if only the name is meant"
        )
    return RunConfig(
        reader=open_reader(options, config),
        task=task,
        search=search,
        model=model,
        preset=chosen,
        stop=stop,
        tier=options.tier,
        bounds=bounds,
        embed=embed,
        k=options.k,
        per_round=options.per_round,
        images=images,
        interventions=interventions,
        review=resolve_review_rules(options, config, model),
        strict=options.strict,
        python_rounds=config.python_rounds if is_language_model(model) else 0,
        prior_run=earlier,
        recalled_findings=tuple(recalled),
        seed=options.seed,
        metadata={
            "version": __version__,
            "strategy": options.strategy,
            "tier": options.tier,
            "interventions": list(interventions),
            "searched": _describe_search_scope(options),
            "recalled": [finding.title for finding in recalled],
            "continues": None if earlier is None else earlier.run,
        },
    )


def make_recorder(
    options: Options, say: MessageCallback = lambda message: None, output_paths: Sequence[Path] = ()
) -> RunRecorder:
    """What keeps the run that these options ask for; ``out`` is where its report is written besides."""
    config = settings.load()
    store = FindingStore(config.data_dir / findings.DATABASE_NAME) if config.recall else None
    return RunRecorder(config.data_dir, config.keep_runs if options.keep else 0, say, output_paths, store)


def expand_follow_up(question: str, earlier: PriorRun) -> str:
    """A question that names nothing of its own ("When was she born?") is asked together with the one before it."""
    return question if extract_names(question) or not earlier.task else f"{question} (after: {earlier.task})"


def _recall_findings(
    task: str, options: Options, config: settings.Settings, embed: Embed | None, say: MessageCallback
) -> list[StoredFinding]:
    if not (options.keep and config.recall and config.keep_runs):
        return []
    try:
        return FindingStore(config.data_dir / findings.DATABASE_NAME).find_similar(task, embed)
    except InputError as error:  # A memory that cannot be read is done without.
        say(str(error))
        return []


def _describe_search_scope(options: Options) -> dict[str, Any]:
    docs = [options.docs] if isinstance(options.docs, str | Path) else options.docs or ()
    return {
        "docs": [str(path) for path in docs],
        "from": str(Path.cwd()),
        "include": list(options.include),
        "exclude": list(options.exclude),
        "web": options.web,
        "providers": list(options.providers),
    }


def _inherit_search_scope(folder: Path, options: Options) -> Options:
    """The options with what the earlier run searched, unless they name something themselves."""
    if options.docs or options.web or options.providers or options.search is not None:
        return options
    before = runs.load_report(folder).metadata.get("searched") or {}
    here = str(Path.cwd()) == before.get("from")
    docs = [path if here else str(Path(before["from"]) / path) for path in before.get("docs", ())]
    if "-" in before.get("docs", ()):
        raise InputError(
            f"The run {folder.name} read standard input, which is gone; name something to search with --docs"
        )
    return replace(
        options,
        docs=docs,
        include=options.include or before.get("include", ()),
        exclude=options.exclude or before.get("exclude", ()),
        web=before.get("web", False),
        providers=before.get("providers", ()),
    )


def validate_question(question: str) -> str:
    task = question.strip()
    if not any(character.isalnum() for character in task):
        raise InputError("The question is empty; write what you want to know")
    if len(task) > MAX_QUESTION_CHARS:
        raise InputError(
            f"The question has {len(task):,} characters, at most {MAX_QUESTION_CHARS:,} are read; "
            "put long material into a file and name it with --docs"
        )
    return task


async def resolve_model_factory(
    model: str | Model | None, config: settings.Settings, say: MessageCallback
) -> Callable[[Embed | None], Model]:
    """How to make the model a user named, or the one that is there; not every model uses the run's embeddings."""
    if model is not None and not isinstance(model, str):
        return lambda embed: model
    from suffice.models.choose import choose_model

    def earlier() -> list[dict[str, Any]]:
        return [row for row in runs.read_log(config.data_dir) if row.get("model") != "extractive"]

    return await asyncio.to_thread(choose_model, model, config, say, earlier)  # It may look at a server.


def resolve_review_rules(options: Options, config: settings.Settings, model: Model) -> settings.ReviewRules | None:
    """How the answer is reviewed; ``None`` when nobody wants it or no language model writes it: a quotation has no faults of
    its own."""
    if options.panel and not (options.review and is_language_model(model)):
        why = "nothing is reviewed" if not options.review else "the extractive model quotes and is not reviewed"
        raise InputError(f"--panel has nothing to read: {why}; leave it out, or choose a language model with --model")
    if not options.review or not is_language_model(model):
        return None
    return replace(config.review, panel=options.panel or config.review.panel)


async def _search_nothing(query: Query, k: int) -> list[Passage]:
    """The search of a question about pictures alone."""
    return []


async def open_search(
    options: Options, config: settings.Settings, say: MessageCallback, progress: ProgressCallback | None = None
) -> tuple[Search, Embed | None]:
    """What a user named: documents, the web, or both as one; and the embeddings to compare what is found with."""
    wants_web = options.web or bool(options.providers)
    if not options.docs and not wants_web:
        raise InputError(
            "There is nothing to search: name files or folders with --docs (docs= in Python), or add --web"
        )
    web: Search | None = None
    if wants_web:
        from suffice.search.web.choose import open_web_search

        named = [options.providers] if isinstance(options.providers, str) else options.providers
        web = open_web_search(config, named, say)
    if not options.docs:
        assert web is not None
        from suffice.models.embeddings.choose import choose_embedder
        from suffice.search.corpus.vectors import EmbeddingCache

        return web, None if options.alpha == 1 else EmbeddingCache(
            choose_embedder(config, say), config.cache_dir, say
        ).embed
    corpus = await open_corpus(options, config, say, progress)
    embed = None if options.alpha == 1 else corpus.embed
    if web is None:
        return corpus, embed
    from suffice.search.fusion import MergedSearch

    return MergedSearch({"The search over the documents": corpus, "The web search": web}), embed


def open_reader(options: Options, config: settings.Settings) -> Reader | None:
    """What reads whole pages behind the results of a web search; nothing else brings pages."""
    if options.search is not None or not (options.web or options.providers):
        return None
    from suffice.search.pages.reader import PageReader

    return PageReader.open(config.environment.get("SUFFICE_ALLOW_HOSTS", ""), config.cache_dir)


async def open_corpus(
    options: Options, config: settings.Settings, say: MessageCallback, progress: ProgressCallback | None
) -> "CorpusSearch":
    """The index over the user's documents, brought up to date."""
    from suffice.models.embeddings.choose import choose_embedder
    from suffice.search.corpus.search import CorpusSearch

    if not options.docs:
        raise InputError("There is nothing to index: name files or folders")
    alpha = DEFAULT_ALPHA if options.alpha is None else options.alpha
    if not 0 <= alpha <= 1:
        raise InputError(f"alpha must lie between 0 (meaning only) and 1 (words only), not {alpha:g}")
    docs = [options.docs] if isinstance(options.docs, str | Path) else options.docs
    corpus = await CorpusSearch.open(
        [Path(path) for path in docs],
        cache_dir=config.cache_dir,
        include=options.include,
        exclude=options.exclude,
        alpha=alpha,
        embedder=None if alpha == 1 else choose_embedder(config, say),
        notify=say,
        progress=progress,
        stdin_text=await asyncio.to_thread(read_stdin) if "-" in [str(path) for path in docs] else None,
    )
    if corpus.skipped:
        first = "; ".join(f"{skipped.path} ({skipped.why})" for skipped in corpus.skipped[:3])
        more = f" and {len(corpus.skipped) - 3} more" if len(corpus.skipped) > 3 else ""
        count = len(corpus.skipped)
        say(f"Skipped {count} {'file' if count == 1 else 'files'} that cannot be read: {first}{more}.")
    return corpus


def read_stdin() -> str:
    """All of standard input as text."""
    from suffice.search.files.decode import decode

    if sys.stdin is None:
        raise InputError("Nothing came through standard input; pipe a text into it, or name a file")
    return decode(sys.stdin.buffer.read(), "standard input")
