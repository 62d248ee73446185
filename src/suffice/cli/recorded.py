"""The commands over recorded runs, as words: what they do is elsewhere, and imported when one of them is called."""

from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="One JSON object on standard output.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]
Recordings = Annotated[list[Path], typer.Argument(help="Traces or episode files (JSONL, also .gz).", metavar="FILE...")]
Corpus = Annotated[Path | None, typer.Option("--corpus", help="Joins passage texts by id.", metavar="CORPUS.jsonl")]


lab_app = typer.Typer(help="Fit and calibrate the default stop gate on recorded runs.", no_args_is_help=True)


def replay(
    files: Recordings,
    stop: Annotated[
        list[str] | None, typer.Option("--stop", help="A gate to try; may be repeated.", metavar="EXPR")
    ] = None,
    corpus: Corpus = None,
    sweep: Annotated[
        bool, typer.Option("--sweep", help="Add the sixteen configurations of the exhaustion gate.")
    ] = False,
    out: Annotated[
        list[Path] | None, typer.Option(help="Also write FILE.md, .json, .svg or .png.", metavar="FILE")
    ] = None,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Run gates over recorded runs, without a model: what would each have cost and missed?"""
    from suffice.cli import replay

    raise typer.Exit(replay.replay(files, stop or [], corpus=corpus, sweep=sweep, as_json=as_json, out=out or []))


@lab_app.command()
def fit(
    files: Recordings,
    out: Annotated[Path, typer.Option(help="Where the weights go.", metavar="FILE.json")],
    corpus: Corpus = None,
    price: Annotated[float, typer.Option(help="The default price of a round.", min=0.001, max=0.999)] = 0.1,
    debug: Debug = False,
) -> None:
    """Fit the weights of the worth gate on episodes with gold passages."""
    from suffice.cli import replay

    raise typer.Exit(replay.fit(files, corpus=corpus, price=price, out=out))


@lab_app.command()
def calibrate(
    files: Recordings,
    rounds: Annotated[float, typer.Option(help="Mean rounds that a run may cost.")],
    corpus: Corpus = None,
    file: Annotated[Path | None, typer.Option(help="Weights made by lab_app fit.", metavar="FILE.json")] = None,
    debug: Debug = False,
) -> None:
    """Set the price of a round from your own runs, without labels."""
    from suffice.cli import replay

    raise typer.Exit(replay.calibrate(files, corpus=corpus, rounds=rounds, file=file))


def register_commands(app: typer.Typer) -> None:
    app.command()(replay)
    app.add_typer(lab_app, name="lab")
