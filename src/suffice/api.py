"""The Python interface: ``research`` turns a question and options into a report.

``prepare_run`` checks the options and chooses the parts of a run; the pipeline does the research.
"""

import asyncio
import inspect
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from suffice import __version__, settings
from suffice.engine.bounds import BOUND_OPTIONS
from suffice.engine.config import RunConfig
from suffice.engine.estimate import Estimate, estimate_run
from suffice.engine.interventions import validate_interventions
from suffice.engine.pipeline import run_to_report
from suffice.engine.presets import get_preset
from suffice.engine.vision import find_images
from suffice.errors import InputError, ModelUnusable
from suffice.events import Event
from suffice.gates.base import Gate
from suffice.gates.coverage import coverage
from suffice.gates.parse import parse_gate
from suffice.models.base import Model, has_price, is_language_model, supports_vision
from suffice.models.breadth import read_breadth
from suffice.models.capability import ModelProfile, make_profile
from suffice.models.embeddings.static import embed_static
from suffice.options import ALIASES, OPTIONS, Docs, RunOptions, resolve_aliases
from suffice.prompts.base import list_own_templates, load_template
from suffice.report.draft import find_variant
from suffice.search.base import RankedScope, ScopeSearch, Search
from suffice.search.engines.address import is_address, remove_secrets
from suffice.search.files.walk import list_files
from suffice.search.open import SearchScope, ShowProgress, open_reader, open_unscreened_search
from suffice.skills.activate import ActiveSkill, ActiveSkills, Workspace, choose_skills, merge_options
from suffice.skills.skill import Skill
from suffice.state.survey import DEEP_TARGET, DEFAULT_TARGET
from suffice.storage import findings, runs
from suffice.storage.findings import FindingStore, StoredFinding
from suffice.storage.runs import RunRecorder
from suffice.text.entities import content_stems, extract_names
from suffice.text.languages import ENGLISH, detect_language
from suffice.text.question import asks_in_steps
from suffice.types import BREADTHS, Bounds, Breadth, Embed, Notify, Passage, PriorRun, Query, Report

MAX_QUESTION_CHARS = 4_000  # About 600 words. Longer material is a document and belongs in ``docs``.

_LOG = logging.getLogger("suffice")


async def research(
    question: str,
    *,
    docs: Docs | None = None,
    web: bool = False,
    search: Search | None = None,
    model: str | Model | None = None,
    strategy: str = "auto",
    stop: str | Gate | None = None,
    tier: str | None = None,
    max_rounds: int | None = None,
    continues: str | PriorRun | None = None,
    on_event: Callable[[Event], None] | None = None,
    **options: Any,
) -> Report:
    """Answer a question over documents, the web or a search of your own.

    The report says why the search stopped. A question without evidence gives a report with status ``no_evidence``;
    input that cannot be used raises ``InputError``.

    Args:
        question: What you want to know; it may begin with skills such as ``/deep``.
        docs: Files and folders to search; ``"-"`` is standard input, ``"postgres://…"`` a corpus behind an address.
        web: Search the web with the configured providers.
        search: A search of your own: an async function ``(query, k) -> list[Passage]``.
        model: ``"PROVIDER:NAME"``, ``"extractive"`` (no language model) or a ``Model`` object.
        strategy: How to search.
        stop: The stop gate, as an expression or a ``Gate``; the default is the strategy's own.
        tier: How much to spend: ``auto``, ``simple``, ``standard`` or ``deep``; by default ``standard``, or what suits a strong
            model. The ``max_…`` options override it.
        max_rounds: Search rounds at most.
        continues: An earlier run to start from; its search scope is reused unless another is given.
        on_event: Called with every event of the run, in order.
        options: Every other field of ``RunOptions`` (limits, files, memory, review, …), its aliases, and ``bounds``: all
            limits as one ``Bounds`` object, which the ``max_…`` options override.
    """
    own = {"docs": docs, "web": web, "search": search, "model": model, "strategy": strategy, "stop": stop, "tier": tier}
    run_options = _collect_options({**own, "max_rounds": max_rounds, "continues": continues, **options})
    config = await prepare_run(question, run_options, _LOG.warning)
    recorder = make_recorder(run_options, _LOG.warning)
    return await run_to_report(config, recorder.record_event, *([on_event] if on_event else []))


def _collect_options(given: dict[str, Any]) -> RunOptions:
    """Return the options of a call of ``research``, in which pictures are on."""
    bounds = given.pop("bounds", None)
    if not isinstance(bounds, Bounds | None):
        raise InputError(f"bounds must be a Bounds object such as Bounds(rounds=3), not {bounds!r}")
    for name in given:
        if name not in OPTIONS and name not in ALIASES:
            raise TypeError(f"research() got an unexpected keyword argument {name!r}")
    limits = {BOUND_OPTIONS[kind]: value for kind, value in (bounds or Bounds()).known.items()}
    return RunOptions(**{"pictures": True, **limits, **resolve_aliases(given)})


def _list_parameters() -> Iterator[inspect.Parameter]:
    """Yield the parameters of ``research`` one by one, for ``help`` and for tools that read signatures."""
    shown = inspect.signature(research).parameters
    yield shown["question"]
    for each in fields(RunOptions):
        default = True if each.name == "pictures" else each.default
        yield inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=each.type)
    yield shown["on_event"]
    for name in ("bounds", *ALIASES):
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)


def run_research(task: str, **options: Any) -> Report:
    """Run ``research`` synchronously, under the names of earlier systems: ``max_iters``, ``max_queries``, ``max_sources`` and
    ``max_execution_time_s``. It takes all other options of ``research`` too."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        raise InputError(
            "run_research() cannot be called inside a running event loop such as a notebook; use: await research(…)"
        )
    return asyncio.run(research(task, **options))


_question, *_options = _list_parameters()
vars(research)["__signature__"] = inspect.Signature([_question, *_options], return_annotation=Report)
_task = _question.replace(name="task")
vars(run_research)["__signature__"] = inspect.Signature([_task, *_options], return_annotation=Report)


async def prepare_run(
    question: str, options: RunOptions, notify: Notify = lambda message: None, progress: ShowProgress | None = None
) -> RunConfig:
    """Check the options and choose every part of a run before anything is spent."""
    config = settings.load()
    task, active = choose_skills(
        validate_question(question), config.config_dir, automatic=options.auto_skills, notify=notify
    )
    for one in active:
        if one.is_automatic:
            notify(f"/{one.skill.name} is active, because {one.why}; --no-auto-skills turns this off.")
    is_free = options.strategy == "auto" and options.stop is None and options.continues is None
    options = _apply_skill_options(options, active)
    asked, prior_run = task, None
    if isinstance(options.continues, PriorRun):  # The service has its runs in a store of its own.
        prior_run = options.continues
        task = expand_follow_up(task, prior_run)
    elif options.continues is not None:
        folder = runs.find_run_dir(config.data_dir, options.continues)
        prior_run = runs.load_prior_run(folder)
        task, options = expand_follow_up(task, prior_run), _inherit_search_scope(folder, options)
    options.validate()
    preset = get_preset(options.strategy)
    honors_sufficient = preset.honors_sufficient and options.stop is None
    preset = replace(preset, memory=options.memory or preset.memory, honors_sufficient=honors_sufficient)
    interventions = validate_interventions(options.interventions)
    names = [one.skill.name for one in active]
    make_model = await _choose_model_factory(options.model, config, notify, names)
    bounds = replace(config.bounds, **options.bounds.known)
    images = find_images(task, Path.cwd()) if options.pictures else ()
    skills = _make_active_skills(active, options, config)
    scope = replace(options.scope, alpha=preset.alpha if options.alpha is None else options.alpha)
    if scope.web and not scope.providers:
        from suffice.search.web.choose import list_data_providers

        scope = replace(scope, data_providers=list_data_providers(find_variant(task), config))
    search, embed, page_reader = options.search, None, None
    if search is None and scope.is_empty and (images or not skills.needs_search):
        search = _search_nothing
    if search is None:
        search, embed = await open_unscreened_search(scope, config, notify, progress)
        page_reader = open_reader(scope, config)
    language = detect_language(task) or getattr(search, "language", None)
    if language not in (None, ENGLISH) and getattr(search, "is_english_only", False):
        embed = None  # Vectors of a language that the model does not know mislead; words do not.
    # Without a language model many sentences are compared, for which the static vectors are fast enough.
    model = make_model(None if embed is None else embed_static)
    profile = make_profile(model, config.models.writer, config.cache_dir, notify=notify)
    await profile.load()
    breadth, ranked = await _read_breadth(asked, options, search, active)
    target = DEEP_TARGET if options.tier == "deep" else DEFAULT_TARGET
    gate = options.stop or (_is_worth_patience(task, model, profile, scope) and preset.patient_gate) or preset.gate
    if breadth != "narrow" and is_free:
        if ranked is not None:
            preset = replace(preset, strategy="survey", honors_sufficient=False)
        gate = coverage(target) if ranked is not None else parse_gate(f"coverage({target}) | exhaustion")
    elif options.strategy != "survey":
        ranked = None
    elif ranked is None and options.search is not _search_nothing:  # An estimate opens no documents.
        raise InputError(
            "The strategy survey compares documents by meaning: it needs English ones on this machine, named with --docs, "
            "and an --alpha below 1"
        )
    if bounds.usd is not None and not has_price(model):
        raise InputError(
            f"The price of {model.name} is unknown, so --max-cost cannot be enforced; add the price to a file and set "
            "SUFFICE_PRICES=FILE"
        )
    searched = _describe_scope(scope)
    folders = () if options.scope.uses_web else findings.list_folders(searched)
    recalled: list[StoredFinding] = []
    if options.keep and config.recall and config.keep_runs:
        store = FindingStore(config.data_dir / findings.DATABASE_NAME)
        try:
            recalled = await asyncio.to_thread(
                lambda: findings.recall_findings(store.search(""), task, folders, embed, prior_run)
            )
        except InputError as error:  # The run goes on without earlier findings.
            notify(str(error))
    if images and supports_vision(model) is False:
        raise InputError(
            f"{model.name} does not support images, but the question refers to {images[0]}; choose a vision model with "
            "--model or SUFFICE_MODEL_LOOK, or put the file name in `backticks` if you mean only the name"
        )
    return RunConfig(
        task=task,
        question=asked if len(content_stems(asked)) > 1 else "",
        search=search,
        page_reader=page_reader,
        model=model,
        preset=preset,
        gate=parse_gate(gate) if isinstance(gate, str) else gate,
        tier=options.tier or "standard",
        names_tier=options.tier is not None,
        bounds=bounds,
        environment_bounds=config.bounds,
        embed=embed,
        language=language,
        breadth=breadth,
        names_breadth=options.breadth != "auto" or any(_gathers_or_rewrites(one.skill) for one in active),
        documents=search if isinstance(search, ScopeSearch) else None,
        ranked_scope=ranked,
        coverage_target=target,
        length=options.length,
        k=options.k,
        may_read_all=is_free,
        per_round=options.per_round,
        images=images,
        interventions=interventions,
        review=_resolve_review_rules(options, config, model),
        strict=options.strict,
        profile=profile,
        python_rounds=config.python_rounds if is_language_model(model) else 0,
        prior_run=prior_run,
        recalled_findings=tuple(recalled),
        skills=skills,
        seed=options.seed,
        metadata={
            "version": __version__,
            "strategy": options.strategy,
            "tier": options.tier or "standard",
            "interventions": list(interventions),
            "searched": searched,
            "unreadable": list(search.unreadable) if isinstance(search, ScopeSearch) else [],
            "recalled": [finding.title for finding in recalled],
            "prompts": {name: load_template(name).version for name in list_own_templates()},
            "skills": [
                *skills.to_metadata(),
                *(
                    {"name": "vision", "why": f"the question refers to {one}", "origin": "built in"}
                    for one in images[:1]
                ),
            ],
            "continues": None if prior_run is None else prior_run.run,
        },
    )


async def _read_breadth(
    task: str, options: RunOptions, search: Search, active: Sequence[ActiveSkill]
) -> tuple[Breadth, RankedScope | None]:
    """Return how broad the question is and, if that matters, everything in scope ranked by relevance.

    With a skill that gathers or rewrites by itself, a question is broad only if the caller says so.
    """
    given = next((breadth for breadth in BREADTHS if breadth == options.breadth), None)
    breadth = given or read_breadth(task)
    if any(_gathers_or_rewrites(one.skill) for one in active):
        return given or "narrow", None
    if (breadth == "narrow" and options.strategy != "survey") or not isinstance(search, ScopeSearch):
        return breadth, None
    return breadth, await search.rank_all(task)


def _gathers_or_rewrites(skill: Skill) -> bool:
    """Whether a skill has queries, a text or code of its own for what a survey does; options alone, as of /deep, are none."""
    own = {"after_writing", "instead"} | ({"before_search"} if skill.queries or skill.code else set())
    return bool(own & set(skill.hooks))


def _is_worth_patience(task: str, model: Model, profile: ModelProfile, scope: SearchScope) -> bool:
    """Whether a question needs several steps and a round costs nothing but a search: no model call, no web."""
    is_free = not is_language_model(model) or profile.style != "prose"  # A small model only writes the answer.
    return is_free and not scope.web and asks_in_steps(task)


async def estimate_research(question: str, options: RunOptions, notify: Notify = lambda message: None) -> Estimate:
    """Estimate what a run would cost, without a model call and without opening its documents."""
    scope, files = options.scope, tuple[Path, ...]()
    if options.search is None and options.continues is None:
        roots = [Path(path) for path in scope.docs if path != "-" and "://" not in path]
        files = (await asyncio.to_thread(list_files, roots, scope.include, scope.exclude)).files
    config = await prepare_run(question, replace(options, search=_search_nothing), notify)
    return estimate_run(config, files)


def make_recorder(
    options: RunOptions, notify: Notify = lambda message: None, output_paths: Sequence[Path] = ()
) -> RunRecorder:
    """Return the recorder that stores the run if the options say so; ``output_paths`` are further copies of its report."""
    config = settings.load()
    store = FindingStore(config.data_dir / findings.DATABASE_NAME) if config.recall else None
    return RunRecorder(config.data_dir, config.keep_runs if options.keep else 0, notify, output_paths, store)


def validate_question(question: str) -> str:
    """Return the question without surrounding space; raise ``InputError`` if it is empty or too long."""
    text = question.strip()
    if not any(character.isalnum() for character in text):
        raise InputError("The question is empty; write what you want to know")
    if len(text) > MAX_QUESTION_CHARS:
        raise InputError(
            f"The question has {len(text):,} characters, but at most {MAX_QUESTION_CHARS:,} are allowed; "
            "put long material into a file and name it with --docs"
        )
    return text


def validate_task(question: str) -> str:
    """Validate a question that may begin with skills; raise ``InputError`` for a skill that does not exist."""
    text = validate_question(question)
    choose_skills(text, settings.load().config_dir, automatic=False)
    return text


def _apply_skill_options(options: RunOptions, active: Sequence[ActiveSkill]) -> RunOptions:
    """Return the options with those that the skills set. What the caller chose wins."""
    default = RunOptions()
    chosen = {
        name: value
        for name, value in merge_options(tuple(active)).items()
        if getattr(options, name) == getattr(default, name)
    }
    return replace(options, **chosen)


def _make_active_skills(active: Sequence[ActiveSkill], options: RunOptions, config: settings.Settings) -> ActiveSkills:
    scope = options.scope
    is_stored = options.keep and config.recall and config.keep_runs > 0
    workspace = Workspace(
        docs=tuple(path for path in scope.docs if not is_address(path)),
        include=scope.include,
        exclude=scope.exclude,
        uses_web=scope.uses_web,
        data_dir=config.data_dir if is_stored else None,
    )
    return ActiveSkills(tuple(active), workspace)


def expand_follow_up(question: str, prior_run: PriorRun) -> str:
    """Append the earlier question to one that names nothing itself ("When was she born?")."""
    return question if extract_names(question) or not prior_run.task else f"{question} (after: {prior_run.task})"


def _describe_scope(scope: SearchScope) -> dict[str, Any]:
    return {
        "docs": [remove_secrets(path) for path in scope.docs],
        "from": str(Path.cwd()),
        "web": scope.web,
        **{name: list(getattr(scope, name)) for name in ("include", "exclude", "providers", "data_providers")},
    }


def _inherit_search_scope(folder: Path, options: RunOptions) -> RunOptions:
    """Return the options with the search scope of a stored run, unless they name one themselves."""
    if options.search is not None or not options.scope.is_empty:
        return options
    searched = runs.load_report(folder).metadata.get("searched") or {}
    docs = searched.get("docs", ())
    if "-" in docs:
        raise InputError(
            f"The run {folder.name} read standard input, which cannot be read again; name documents with --docs"
        )
    if docs and str(Path.cwd()) != searched.get("from"):
        docs = [path if is_address(path) else str(Path(searched["from"]) / path) for path in docs]
    return replace(
        options,
        docs=docs,
        include=options.include or searched.get("include", ()),
        exclude=options.exclude or searched.get("exclude", ()),
        web=searched.get("web", False),
        providers=searched.get("providers", ()),
    )


async def _choose_model_factory(
    model: str | Model | None, config: settings.Settings, notify: Notify, skills: Sequence[str]
) -> Callable[[Embed | None], Model]:
    """Return a function from the run's embeddings, which some models use, to the chosen model."""
    if model is not None and not isinstance(model, str):
        return lambda embed: model
    from suffice.models.choose import check_all_models, choose_model

    # In threads, because they may call a server.
    make_model = await asyncio.to_thread(choose_model, model, config, notify, skills)
    can_answer, checks = await asyncio.to_thread(check_all_models, make_model(None))
    if not can_answer:
        raise ModelUnusable(next(fault for works, fault in checks if not works))
    return make_model


def _resolve_review_rules(options: RunOptions, config: settings.Settings, model: Model) -> settings.ReviewRules | None:
    """Return how the answer is reviewed; ``None`` without a review. Extractive answers are quotations and need none."""
    is_reviewed = options.review and is_language_model(model)
    if options.panel and not is_reviewed:
        reason = "the review is off" if not options.review else "answers of the extractive model are not reviewed"
        raise InputError(
            f"--panel has no effect because {reason}; leave it out or choose a language model with --model"
        )
    return replace(config.review, panel=options.panel) if is_reviewed else None


async def _search_nothing(query: Query, k: int) -> list[Passage]:
    """Stand in for the search when a question is about images only."""
    return []
