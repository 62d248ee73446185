"""Command-line options that several commands share, and the help format that groups them."""

import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import OptionInfo

from suffice.options import ANSWER, LIMITS, LIST_OPTIONS, OPTIONS, SEARCH, RunOptions

OUTPUT = "Output"
_OTHER = "Other options"
_FULL_HELP = "suffice.full_help"


def _list_strategies() -> Sequence[str]:
    from suffice.engine.presets import list_strategies

    return list_strategies()


def _list_memories() -> Sequence[str]:
    from suffice.plugins import list_plugins

    return list_plugins("memories")


def _list_interventions() -> Sequence[str]:
    from suffice.engine.interventions import INTERVENTIONS

    return INTERVENTIONS


def _list_providers() -> Sequence[str]:
    from suffice.plugins import list_plugins

    return list_plugins("providers")


_LIST_INSTALLED: dict[str, Callable[[], Sequence[str]]] = {
    "strategy": _list_strategies,
    "memory": _list_memories,
    "interventions": _list_interventions,
    "providers": _list_providers,
}


def make_flag(name: str, **changes: Any) -> OptionInfo:
    """Return the flag of a run option, as its field in ``RunOptions`` declares it, with other values if given."""
    option = OPTIONS[name]
    text = option.doc
    if is_switched_off(name):
        text = f"Do not {text[0].lower()}{text[1:]}"
    if name in LIST_OPTIONS:
        text += " Repeatable."
    if name in _LIST_INSTALLED:
        text += " One of: {installed}."
    named = {"help": text, "metavar": option.metavar, "rich_help_panel": option.group, **changes}
    info: OptionInfo = typer.Option(*(option.flags or (f"--{name.replace('_', '-')}",)), **named)
    return info


def is_switched_off(name: str) -> bool:
    """Return whether the flag of an option switches it off."""
    return any(flag.startswith("--no-") for flag in OPTIONS[name].flags)


DocsOption = Annotated[list[str] | None, make_flag("docs")]
WebOption = Annotated[bool, make_flag("web")]
ProviderOption = Annotated[list[str] | None, make_flag("providers")]
IncludeOption = Annotated[list[str] | None, make_flag("include")]
ExcludeOption = Annotated[list[str] | None, make_flag("exclude")]
PassagesOption = Annotated[int, make_flag("k")]
StrategyAlphaOption = Annotated[float | None, make_flag("alpha")]
# For commands without a strategy.
_PLAIN_ALPHA_HELP = OPTIONS["alpha"].doc.replace(", unless the strategy sets another value", "")
AlphaOption = Annotated[float | None, make_flag("alpha", help=_PLAIN_ALPHA_HELP)]
ModelOption = Annotated[str | None, make_flag("model")]
OutOption = Annotated[
    list[Path] | None,
    typer.Option(
        help="Write the report to this file, as its ending says (.md, .html, .json). Repeatable.",
        metavar="FILE",
        rich_help_panel=OUTPUT,
    ),
]
TraceOption = Annotated[
    Path | None,
    typer.Option(
        help="Write every event of the run to this file, one JSON object per line.",
        metavar="FILE",
        rich_help_panel=OUTPUT,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON to standard output.", rich_help_panel=OUTPUT)]
QuietOption = Annotated[bool, typer.Option("--quiet", "-q", help="Do not show progress.", rich_help_panel=OUTPUT)]
VerboseOption = Annotated[
    bool,
    typer.Option(
        "--verbose", "-v", help="Also show the parts of the run, every round and what was used.", rich_help_panel=OUTPUT
    ),
]
# Commands only declare --debug: app.main looks for it, because it also applies to errors in the arguments.
DebugOption = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def _show_full_help(ctx: typer.Context, value: bool) -> None:
    if value:
        ctx.meta[_FULL_HELP] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


HelpAllOption = Annotated[
    bool, typer.Option("--help-all", callback=_show_full_help, is_eager=True, help="Explain every option.")
]


def takes_options(*names: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Replace ``**given`` in the signature of a command by the flags of these run options."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        signature = inspect.signature(command, eval_str=True)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        required = [each for each in own if each.default is each.empty]
        flags = [_make_parameter(each) for each in fields(RunOptions) if each.name in names]
        keywords = [each.replace(kind=each.KEYWORD_ONLY) for each in own if each not in required]
        vars(command)["__signature__"] = signature.replace(parameters=[*required, *flags, *keywords])
        return command

    return decorate


def _make_parameter(option: "Field[Any]") -> inspect.Parameter:
    kind: Any = option.type
    default = option.default
    if option.name in LIST_OPTIONS:
        kind, default = list[str] | None, None
    elif isinstance(kind, str):  # A name or an object; the command line has the name.
        kind = str | None
    elif is_switched_off(option.name):
        default = False
    annotation = Annotated[kind, make_flag(option.name)]
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def build_options(**given: Any) -> RunOptions:
    """Build the options of a run or a search from command-line values, where a list that is not given is ``None``.

    Raises ``InputError`` for a number outside its range, with the flag that the user typed.
    """
    for name, value in given.items():
        option = OPTIONS[name]
        option.check((option.flags or (f"--{name.replace('_', '-')}",))[0], value)
    return RunOptions(**given)


class GroupedHelpCommand(TyperCommand):
    """A command whose help shows its options in groups and lists the installed parts.

    ``ask``, which has ``--help-all``, has a short help that fits a screen: the first sentence of each option, and only the
    names of the rarer ones. The parts are looked up when help is shown, not before: that takes longer than
    starting the program.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None:
                continue
            term, text = record
            text = list_installed(text, str(param.name))
            is_argument = param.param_type_name == "argument"
            title = "Arguments" if is_argument else getattr(param, "rich_help_panel", None) or _OTHER
            groups.setdefault(title, []).append((term, text))
        if _FULL_HELP in ctx.meta or not any(param.name == "help_all" for param in self.params):
            _write_groups(groups, formatter)
            return
        named = {SEARCH: groups.pop(SEARCH), LIMITS: groups.pop(LIMITS), ANSWER: groups[ANSWER][1:]}
        groups[ANSWER] = groups[ANSWER][:1]  # The model.
        _write_groups(
            {title: [(term, _shorten_help(text)) for term, text in group] for title, group in groups.items()}, formatter
        )
        with formatter.section("More, explained by --help-all"):
            for title, group in named.items():
                flags = re.findall(r"(?<!\S)--?\w[\w-]*", " ".join(term for term, _ in group))
                lines = textwrap.wrap(", ".join(flags), formatter.width - 18, break_on_hyphens=False)
                formatter.write("".join(f"  {'' if i else title:<15}{line}\n" for i, line in enumerate(lines)))


class GroupedHelpProgram(TyperGroup):
    """A program whose help lists the everyday commands first, and the others by their panel."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        groups: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            panel = getattr(command, "rich_help_panel", None)
            title = panel if isinstance(panel, str) else "Commands"
            groups.setdefault(title, []).append((name, command.get_short_help_str(formatter.width - 11)))
        _write_groups(groups, formatter)


def _write_groups(groups: dict[str, list[tuple[str, str]]], formatter: Any) -> None:
    for title, records in groups.items():
        with formatter.section(title):
            formatter.write_dl(records)


def _shorten_help(text: str) -> str:
    """Return the first sentence of an option's help."""
    return re.split(r"(?<=\.)\s", text, maxsplit=1)[0]


def list_installed(text: str, parameter: str) -> str:
    """Return the help of a parameter with the names of the installed parts that it may have."""
    return text.replace("{installed}", ", ".join(_LIST_INSTALLED[parameter]())) if "{installed}" in text else text
