"""The commands of the service, as words: what they do is elsewhere, and imported when one of them is called."""

from pathlib import Path
from typing import Annotated

import typer

Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
CollectionsOption = Annotated[
    list[str] | None,
    typer.Option("--docs", help="A collection that requests may search; may be repeated.", metavar="NAME=PATH|PATH"),
]
RunsOption = Annotated[int, typer.Option(help="Runs that this process works on at once.", min=1)]
RunsPerUserOption = Annotated[int, typer.Option(help="Runs of one user that are worked on at once.", min=1)]
RunsOverallOption = Annotated[int | None, typer.Option(help="Runs that all workers together work on at once.", min=1)]


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on.", min=0, max=65535)] = 8080,
    docs: CollectionsOption = None,
    model: Annotated[
        list[str] | None,
        typer.Option(help="A model that requests may name; may be repeated, the first is the default.", metavar="NAME"),
    ] = None,
    web: Annotated[bool, typer.Option("--web", help="Requests may search the web.")] = False,
    orders_only: Annotated[
        bool, typer.Option("--orders-only", help="Leave the work to: suffice worker (on the same Postgres).")
    ] = False,
    runs: RunsOption = 32,
    runs_per_user: RunsPerUserOption = 8,
    runs_overall: RunsOverallOption = None,
    debug: Debug = False,
) -> None:
    """Answer over HTTP: durable runs, watched live, for several people."""
    from suffice.cli import serve
    from suffice.jobs.worker import ConcurrencyLimits

    limits = ConcurrencyLimits(runs, runs_per_user, runs_overall)
    raise typer.Exit(serve.serve(host, port, docs or [], model or [], limits, web=web, takes_jobs=not orders_only))


def worker(
    docs: CollectionsOption = None,
    runs: RunsOption = 32,
    runs_per_user: RunsPerUserOption = 8,
    runs_overall: RunsOverallOption = None,
    debug: Debug = False,
) -> None:
    """Work on the runs of a service that shares this worker's database."""
    from suffice.cli import serve
    from suffice.jobs.worker import ConcurrencyLimits

    raise typer.Exit(serve.run_worker(docs or [], ConcurrencyLimits(runs, runs_per_user, runs_overall)))


keys_app = typer.Typer(help="Who may use the service, and how much.", no_args_is_help=True)


@keys_app.command()
def create(
    name: Annotated[str, typer.Argument(help="Who or what will use it.", metavar="NAME")],
    active: Annotated[int, typer.Option(help="Runs queued or under way at once.", min=1)] = 20,
    per_minute: Annotated[int, typer.Option(help="Runs ordered a minute.", min=1)] = 60,
    max_cost: Annotated[float | None, typer.Option(help="US dollars that one run may cost.", min=0.0001)] = None,
    debug: Debug = False,
) -> None:
    """Make a key. It is shown once: only a digest of it is kept."""
    from suffice.cli import keys
    from suffice.jobs.api_keys import Quota

    raise typer.Exit(keys.create_key(name, Quota(active, per_minute, max_cost)))


@keys_app.command(name="list")
def list_keys(debug: Debug = False) -> None:
    """Show the keys there are."""
    from suffice.cli import keys

    raise typer.Exit(keys.list_keys())


@keys_app.command()
def revoke(
    key: Annotated[str, typer.Argument(help="Its id, as shown by: suffice keys_app list", metavar="ID")],
    debug: Debug = False,
) -> None:
    """Refuse a key from now on."""
    from suffice.cli import keys

    raise typer.Exit(keys.revoke_key(key))


def resume(
    run: Annotated[
        str | None,
        typer.Argument(help="A run that was interrupted or killed; without it they are list_keys.", metavar="RUN"),
    ] = None,
    out: Annotated[
        list[Path] | None, typer.Option(help="Write the report to FILE.md, .html or .json.", metavar="FILE")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")] = False,
    trace: Annotated[Path | None, typer.Option(help="Write the run's events to FILE.", metavar="FILE")] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    debug: Debug = False,
) -> None:
    """Go on with a run that was interrupted; nothing is paid for twice."""
    from suffice.cli import ask

    shown = ask.OutputOptions(out or [], trace, as_json, quiet)
    raise typer.Exit(ask.print_unfinished() if run is None else ask.resume(run, shown))


def register_commands(app: typer.Typer) -> None:
    app.command()(resume)
    app.add_typer(keys_app, name="keys")
    app.command()(serve)
    app.command()(worker)
