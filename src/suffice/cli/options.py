"""Command-line options that several commands share, and the help format that groups them."""

import inspect
import re
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import Field, fields
from functools import wraps
from typing import Annotated, Any, TypeVar, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import ArgumentInfo

from suffice.options import ANSWER, LIMITS, LIST_OPTIONS, OPTIONS, SEARCH, RunOptions

_Function = TypeVar("_Function", bound=Callable[..., Any])

OUTPUT = "Output"
_OTHER = "Other options"
_FULL_HELP = "suffice.full_help"
_PLUGIN_GROUPS = {"memory": "memories", "providers": "providers"}
_HAVE_INSTALLED_PARTS = ("strategy", "interventions", *_PLUGIN_GROUPS)
# For commands without a strategy.
PLAIN_ALPHA_HELP = OPTIONS["alpha"].doc.replace(", unless the strategy sets another value", "")


def flag(
    default: Any, help: str, panel: str | None = None, flags: str = "", metavar: str | None = None, **rest: Any
) -> Any:
    """Declare an option of a command. Its flag is ``--name``, unless ``flags`` names others."""
    return typer.Option(default, *flags.split(), help=help, rich_help_panel=panel, metavar=metavar, **rest)


def argument(default: Any, help: str, metavar: str, **rest: Any) -> Any:
    """Declare an argument of a command. One without a default has ``...``."""
    return typer.Argument(default, help=help, metavar=metavar, **rest)


def _list_flags(name: str) -> Sequence[str]:
    return OPTIONS[name].flags or (f"--{name.replace('_', '-')}",)


def _is_switched_off(name: str) -> bool:
    """Return whether the flag of an option switches it off."""
    return any(flag.startswith("--no-") for flag in OPTIONS[name].flags)


OUT = flag(
    None, "Write the report to this file, as its ending says (.md, .html, .json). Repeatable.", OUTPUT, metavar="FILE"
)
TRACE = flag(None, "Write every event of the run to this file, one JSON object per line.", OUTPUT, metavar="FILE")
JSON = flag(False, "Print JSON to standard output.", OUTPUT, "--json")
QUIET = flag(False, "Do not show progress.", OUTPUT, "--quiet -q")
VERBOSE = flag(False, "Also show the parts of the run, every round and what was used.", OUTPUT, "--verbose -v")


def _show_full_help(ctx: typer.Context, value: bool) -> None:
    if value:
        ctx.meta[_FULL_HELP] = True
        typer.echo(ctx.get_help())
        raise typer.Exit


HELP_ALL = flag(False, "Explain every option.", flags="--help-all", callback=_show_full_help, is_eager=True)


def takes_options(*names: str, **helps: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Replace ``**given`` in the signature of a command by the flags of these run options; ``helps`` describe them anew."""

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        signature = inspect.signature(command, eval_str=True)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        arguments = [each for each in own if isinstance(each.default, ArgumentInfo)]
        flags = [_make_parameter(each, helps.get(each.name)) for each in fields(RunOptions) if each.name in names]
        keywords = [each.replace(kind=each.KEYWORD_ONLY) for each in own if each not in arguments]
        vars(command)["__signature__"] = signature.replace(parameters=[*arguments, *flags, *keywords])
        return command

    return decorate


def _make_parameter(field: "Field[Any]", help: str | None) -> inspect.Parameter:
    """Return the flag of a run option, as its field in ``RunOptions`` declares it, with another help text if given."""
    name, option, default = field.name, OPTIONS[field.name], field.default
    kind: Any = field.type
    text = help or option.doc
    if name in LIST_OPTIONS:
        kind, default, text = list[str] | None, None, f"{text} Repeatable."
    elif isinstance(kind, str):  # A name or an object; the command line has the name.
        kind = str | None
    elif _is_switched_off(name):
        default, text = False, f"Do not {text[0].lower()}{text[1:]}"
    if name in _HAVE_INSTALLED_PARTS:
        text += " One of: {installed}."
    info = typer.Option(*_list_flags(name), help=text, metavar=option.metavar, rich_help_panel=option.group)
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, info])


def build_options(**given: Any) -> RunOptions:
    """Build the options of a run or a search from command-line values, where a list that is not given is ``None``.

    Raises ``InputError`` for a number outside its range, with the flag that the user typed.
    """
    for name, value in given.items():
        OPTIONS[name].check(_list_flags(name)[0], value)
        given[name] = not value if _is_switched_off(name) else value
    return RunOptions(**given)


class CommandGroup(typer.Typer):
    """A group of commands that all have ``--debug`` and grouped help."""

    def __init__(self, name: str, **settings: Any) -> None:
        super().__init__(name=name, cls=GroupedHelpGroup, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Callable[[_Function], _Function]:
        register = super().command(name, **{"cls": GroupedHelpCommand, **settings})
        return lambda function: register(_add_debug(function))

    def callback(self, **settings: Any) -> Callable[[_Function], _Function]:
        register = super().callback(**settings)
        return lambda function: register(_add_debug(function))


def _add_debug(command: _Function) -> _Function:
    """Return the command with ``--debug``, which ``app.main`` looks for: it also applies to errors in the arguments."""

    @wraps(command)
    def call(*args: Any, debug: bool, **named: Any) -> Any:
        return command(*args, **named)

    signature = inspect.signature(command, eval_str=True)
    declared = flag(False, "Show the traceback of an error.", flags="--debug")
    own = inspect.Parameter("debug", inspect.Parameter.KEYWORD_ONLY, default=declared, annotation=bool)
    vars(call)["__signature__"] = signature.replace(parameters=[*signature.parameters.values(), own])
    return cast(_Function, call)


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
        for title, group in groups.items():  # The first sentence of each.
            groups[title] = [(term, re.split(r"(?<=\.)\s", text, maxsplit=1)[0]) for term, text in group]
        _write_groups(groups, formatter)
        with formatter.section("More, explained by --help-all"):
            for title, group in named.items():
                flags = re.findall(r"(?<!\S)--?\w[\w-]*", " ".join(term for term, _ in group))
                lines = textwrap.wrap(", ".join(flags), formatter.width - 18, break_on_hyphens=False)
                formatter.write("".join(f"  {'' if i else title:<15}{line}\n" for i, line in enumerate(lines)))


class GroupedHelpGroup(TyperGroup):
    """A group whose help lists the everyday commands first, and the others by their panel."""

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


def list_installed(text: str, parameter: str) -> str:
    """Return the help of a parameter with the names of the installed parts that it may have."""
    if "{installed}" not in text:
        return text
    from suffice.engine.interventions import INTERVENTIONS
    from suffice.engine.presets import list_strategies
    from suffice.plugins import list_plugins

    own = {"interventions": INTERVENTIONS, "strategy": list_strategies()}
    return text.replace("{installed}", ", ".join(own.get(parameter) or list_plugins(_PLUGIN_GROUPS[parameter])))
