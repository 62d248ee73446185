"""The ``suffice`` program: its commands, and how errors become one line and an exit status.

Exit status: 0 answered, 1 ``check`` or ``recheck`` found a claim that does not hold, 2 wrong usage or bad input, 3 no evidence,
4 search or model unavailable, 130 interrupted.

Command files import what is heavy inside their functions, so that ``suffice --help`` starts quickly.
"""

import os
import sys
from typing import Annotated, Any

import typer

from suffice import __version__
from suffice.cli import (
    ask,
    check,
    doctor,
    explain,
    guard,
    install,
    keys,
    lab,
    mcp,
    mine,
    prompts,
    recheck,
    replay,
    runs,
    search,
    serve,
    skills,
    tune,
)
from suffice.cli.options import CommandGroup
from suffice.cli.output import print_error
from suffice.cli.safe_output import clean_streams
from suffice.errors import EXIT_INTERRUPTED, InputError, SufficeError, describe_install

app = CommandGroup(
    "suffice",
    help='Deep research that knows when it knows enough.\n\nStart with: suffice ask "YOUR QUESTION" --docs FOLDER',
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


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


# The commands of each panel, in the order in which help lists them.
_COMMANDS = {
    None: (check.check, search.search, search.index, runs.runs_app, explain.explain, serve.serve, doctor.doctor),
    "More": (ask.resume, recheck.recheck, mine.mine, runs.memory_app, skills.skills_app),
    "Service and agents": (mcp.mcp, install.install, install.uninstall, guard.guard_app, serve.worker, keys.keys_app),
    "Experiments": (replay.replay, replay.lab_app, tune.tune, prompts.prompts_app),
}
app.command(epilog=ask.EXAMPLES)(ask.ask)
for panel, commands in _COMMANDS.items():
    for command in commands:
        if isinstance(command, CommandGroup):
            app.add_typer(command, rich_help_panel=panel)
        else:
            app.command(rich_help_panel=panel)(command)
for experiment in (lab.run, lab.tables, lab.gaps, lab.data):
    replay.lab_app.command()(experiment)


def main(arguments: list[str] | None = None) -> None:
    """Run the program and exit. Without ``--debug``, users see no traceback."""
    with clean_streams():
        status = _run_app(sys.argv[1:] if arguments is None else arguments)
    if status == EXIT_INTERRUPTED:  # Do not wait for threads, such as one that computes embeddings.
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)
    sys.exit(status)


def _run_app(arguments: list[str]) -> int:
    """Run the command and return its exit status; commands return ``None`` for success."""
    debug = "--debug" in arguments
    try:
        result: Any = app(args=arguments or ["--help"], standalone_mode=False)
        sys.stdout.flush()
        return result if isinstance(result, int) else 0
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except (BrokenPipeError, SystemExit):  # Typer exits when the reader of a pipe is gone (`| head`): not an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if debug:
            raise
        if isinstance(error, SufficeError):
            return print_error(str(error), error.exit_code)
        if isinstance(error, ModuleNotFoundError) and not str(error.name).startswith("suffice"):
            return print_error(
                f"This command needs the package {error.name}; run: {describe_install('service')}", InputError.exit_code
            )
        if type(error).__name__ == "NoArgsIsHelpError":  # A group without a command, such as "suffice lab".
            print(vars(error)["ctx"].get_help())
            return 0
        if hasattr(error, "format_message"):  # Typer's own exceptions have this method.
            return print_error(_format_usage_error(error), 2)
        if isinstance(error, OSError) and error.strerror:  # A full disk, for example.
            return print_error(f"{error.filename or 'Standard output'}: {error.strerror}; --debug shows where", 1)
        return print_error(f"{type(error).__name__}: {error} (this is a bug; --debug shows the traceback)", 1)


def _format_usage_error(error: Any) -> str:
    message = error.format_message().replace("Value error, ", "").rstrip(".") or "Wrong usage"
    context: Any = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "suffice"
    if "unexpected extra argument" in message and command.split()[-1] in ("ask", "search"):
        return f'Put the question in quotes: {command} "YOUR QUESTION" --docs FOLDER'
    if message.startswith("No such command") and "Did you mean" not in message and context and not context.parent:
        return f'{message}; to ask a question: suffice ask "YOUR QUESTION" --docs FOLDER; see: {command} --help'
    return f"{message}; see: {command} --help"
