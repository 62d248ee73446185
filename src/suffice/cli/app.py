"""The command line. Each command checks its words, hands over, and turns errors into one line and an exit status.

Start-up stays light: nothing heavy is imported before a command needs it.
"""

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperOption

from suffice import __version__
from suffice.cli import recorded, service
from suffice.cli.runs import memory_app, runs_app
from suffice.errors import EXIT_INTERRUPTED

app = typer.Typer(
    name="suffice",
    help="Deep research that knows when it knows enough.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Docs = Annotated[
    list[str] | None,
    typer.Option(
        "--docs",
        help="A file or folder to search; '-' reads standard input. May be given more than once.",
        metavar="PATH",
    ),
]
Web = Annotated[bool, typer.Option("--web", help="Search the web, with what is configured; see: suffice doctor.")]
Providers = Annotated[
    list[str] | None,
    typer.Option(
        "--provider",
        help="Search the web with this service; several are merged",
        metavar="NAME",
    ),
]
Include = Annotated[list[str] | None, typer.Option("--include", help="Only files like this glob.", metavar="GLOB")]
Exclude = Annotated[list[str] | None, typer.Option("--exclude", help="No files like this glob.", metavar="GLOB")]
Alpha = Annotated[
    float | None,
    typer.Option(
        "--alpha",
        help="1 = words only (BM25), 0 = meaning only (English embeddings); 0.5 unless the strategy says otherwise.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
K = Annotated[int, typer.Option("-k", help="Passages a query.", min=1)]


def _print_version(value: bool) -> None:
    if value:
        print(f"suffice {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


class _PluginHelpCommand(TyperCommand):
    """Says in its help which parts are installed; only then, because finding them takes longer than starting up."""

    def get_help(self, ctx: Any) -> str:
        from suffice import plugins
        from suffice.engine.interventions import INTERVENTIONS
        from suffice.engine.presets import list_strategies

        installed = {
            "strategy": list_strategies(),
            "memory": plugins.list_plugins("memories"),
            "interventions": INTERVENTIONS,
            "providers": plugins.list_plugins("providers"),
        }
        for option in self.params:
            if isinstance(option, TyperOption) and option.name in installed:
                option.help = f"{option.help}: {', '.join(installed[option.name])}."
        return super().get_help(ctx)


@app.command(cls=_PluginHelpCommand)
def ask(
    question: Annotated[str, typer.Argument(help="What you want to know.", metavar="QUESTION")],
    docs: Docs = None,
    web: Web = False,
    providers: Providers = None,
    include: Include = None,
    exclude: Exclude = None,
    strategy: Annotated[str, typer.Option(help="How to search", metavar="NAME")] = "auto",
    memory: Annotated[str | None, typer.Option(help="What to remember", metavar="NAME")] = None,
    stop: Annotated[
        str | None, typer.Option(help="A gate: 'exhaustion(p=2) | budget(rounds=5)'.", metavar="EXPR")
    ] = None,
    tier: Annotated[str, typer.Option(help="How much to spend: auto, simple, standard, deep.")] = "standard",
    max_rounds: Annotated[int | None, typer.Option(help="At most this many rounds.")] = None,
    max_queries: Annotated[int | None, typer.Option(help="At most this many queries.")] = None,
    max_sources: Annotated[int | None, typer.Option(help="At most this many sources before the writer.")] = None,
    max_seconds: Annotated[float | None, typer.Option(help="At most this long.")] = None,
    max_tokens: Annotated[int | None, typer.Option(help="At most this many model tokens.")] = None,
    max_cost: Annotated[float | None, typer.Option(help="At most this many US dollars.")] = None,
    k: K = 5,
    per_round: Annotated[int | None, typer.Option(help="Passages a round, best first over its queries.", min=1)] = None,
    alpha: Alpha = None,
    leads: Annotated[
        bool, typer.Option("--leads", help="Each round also ask the best open lead; the same as --with leads.")
    ] = False,
    interventions: Annotated[
        list[str] | None,
        typer.Option(
            "--with",
            help="A remedy; may be repeated",
            metavar="NAME",
        ),
    ] = None,
    no_review: Annotated[
        bool, typer.Option("--no-review", "--no-wiggum", help="Do not evaluate and revise the answer.")
    ] = False,
    panel: Annotated[bool, typer.Option("--panel", help="Three readers review the answer instead of one.")] = False,
    model: Annotated[
        str | None,
        typer.Option(
            help="openai:NAME, ollama:NAME, anthropic:NAME, google:NAME, openrouter:NAME, or extractive (no language "
            "model); several with commas to fall back through.",
            metavar="PROVIDER:NAME",
        ),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict/--lenient", help="Leave out claims that no source supports, or keep and mark them."),
    ] = True,
    out: Annotated[
        list[Path] | None, typer.Option(help="Write the report to FILE.md, .html or .json.", metavar="FILE")
    ] = None,
    as_json: Json = False,
    trace: Annotated[
        Path | None, typer.Option(help="Write the run's events to FILE as JSON lines.", metavar="FILE")
    ] = None,
    continues: Annotated[
        str | None,
        typer.Option(
            "--continue", help="Go on from this run's evidence and belief; 'last' is the last.", metavar="RUN"
        ),
    ] = None,
    keep: Annotated[
        bool, typer.Option("--keep/--no-keep", help="Keep this run on this machine; see: suffice runs_app.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 0,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    debug: Debug = False,
) -> None:
    """Answer a question over documents or the web; every sentence cited, and why it stopped explained."""
    from suffice.cli import ask
    from suffice.options import RunOptions

    options = RunOptions(
        docs=docs,
        web=web,
        providers=providers or (),
        model=model,
        strategy=strategy,
        memory=memory,
        stop=stop,
        tier=tier,
        max_rounds=max_rounds,
        max_queries=max_queries,
        max_sources=max_sources,
        max_seconds=max_seconds,
        max_tokens=max_tokens,
        max_cost_usd=max_cost,
        k=k,
        per_round=per_round,
        alpha=alpha,
        include=include or (),
        exclude=exclude or (),
        with_leads=leads,
        interventions=interventions or (),
        review=not no_review,
        panel=panel,
        strict=strict,
        continues=continues,
        keep=keep,
        pictures=True,
        seed=seed,
    )
    raise typer.Exit(ask.ask(question, options, ask.OutputOptions(out or [], trace, as_json, quiet)))


@app.command(cls=_PluginHelpCommand)
def search(
    query: Annotated[str, typer.Argument(help="What to look for.", metavar="QUERY")],
    docs: Docs = None,
    web: Web = False,
    providers: Providers = None,
    include: Include = None,
    exclude: Exclude = None,
    k: K = 5,
    alpha: Alpha = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show the passages that one search finds."""
    from suffice.cli import search
    from suffice.options import RunOptions

    options = RunOptions(
        docs=docs,
        web=web,
        providers=providers or (),
        k=k,
        alpha=alpha,
        include=include or (),
        exclude=exclude or (),
    )
    raise typer.Exit(search.search(query, options, as_json=as_json))


@app.command()
def check(
    file: Annotated[str, typer.Argument(help="A text, such as a report; '-' reads standard input.", metavar="FILE")],
    docs: Docs = None,
    include: Include = None,
    exclude: Exclude = None,
    alpha: Alpha = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="Also ask this language model about claims that words and figures leave open; as for ask, but never "
            "chosen by the environment: without it nothing leaves this machine.",
            metavar="PROVIDER:NAME",
        ),
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Hold the claims of any text against the sources: exit 1 when one is contradicted or unsupported."""
    from suffice.cli import check
    from suffice.options import RunOptions

    options = RunOptions(docs=docs, alpha=alpha, include=include or (), exclude=exclude or ())
    raise typer.Exit(check.check(file, options, model=model, as_json=as_json))


@app.command()
def index(
    paths: Annotated[list[str], typer.Argument(help="Files and folders.", metavar="PATH...")],
    include: Include = None,
    exclude: Exclude = None,
    debug: Debug = False,
) -> None:
    """Read documents into the index now, so that the first question does not have to."""
    from suffice.cli import search
    from suffice.options import RunOptions

    raise typer.Exit(search.index(RunOptions(docs=paths, include=include or (), exclude=exclude or ())))


@app.command()
def explain(
    trace: Annotated[
        str, typer.Argument(help="A file written by --trace, or a run; see: suffice runs_app.", metavar="TRACE|RUN")
    ],
    stop: Annotated[str | None, typer.Option(help="Where would this gate have stopped?", metavar="EXPR")] = None,
    debug: Debug = False,
) -> None:
    """Say why a recorded run stopped, and where another gate would have."""
    from suffice.cli import explain

    raise typer.Exit(explain.explain(trace, stop))


recorded.register_commands(app)
app.add_typer(runs_app, name="runs")
app.add_typer(memory_app, name="memory")


@app.command()
def mcp(
    docs: Docs = None,
    include: Include = None,
    exclude: Exclude = None,
    web: Web = False,
    providers: Providers = None,
    alpha: Alpha = None,
    model: Annotated[str | None, typer.Option(help="As for ask.", metavar="PROVIDER:NAME")] = None,
    port: Annotated[
        int | None, typer.Option(help="Serve streamable HTTP on this port of 127.0.0.1 instead of standard input.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Offer research, search, fetch and explain_stop as tools to other agents (Model Context Protocol)."""
    from suffice.options import RunOptions
    from suffice.server import mcp as door

    options = RunOptions(
        docs=docs,
        web=web,
        providers=providers or (),
        model=model,
        alpha=alpha,
        include=include or (),
        exclude=exclude or (),
    )
    raise typer.Exit(door.serve_mcp(options, port))


@app.command()
def doctor(debug: Debug = False) -> None:
    """Say what is configured, what works, and what to do about the rest."""
    from suffice.cli import doctor

    raise typer.Exit(doctor.run_checks())


service.register_commands(app)


def main(arguments: list[str] | None = None) -> None:
    """The program. No traceback reaches a user without ``--debug``."""
    status = _run_app(sys.argv[1:] if arguments is None else arguments)
    if status == EXIT_INTERRUPTED:  # A thread in the middle of embedding must not keep the process.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def _run_app(arguments: list[str]) -> int:
    from suffice.errors import SufficeError

    try:
        result: Any = app(args=arguments or ["--help"], standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except SufficeError as error:
        if "--debug" in arguments:
            raise
        return _print_error(str(error), error.exit_code)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except (
        BrokenPipeError,
        SystemExit,
    ):  # typer exits so when the reader of a pipe has gone (`| head`): nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        format_message = getattr(error, "format_message", None)
        if "--debug" in arguments:
            raise
        if format_message is not None:  # click's own: wrong usage
            return _print_error(format_message() or "wrong usage; see --help", 2)
        return _print_error(f"{type(error).__name__}: {error} (this is a bug; --debug shows where)", 1)


def _print_error(message: str, status: int) -> int:
    print(f"suffice: {' '.join(message.split())}", file=sys.stderr)
    return status
