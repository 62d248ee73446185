"""Command-line options that several commands share, and the help format that groups them."""

import re
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand

if TYPE_CHECKING:
    from suffice.options import RunOptions

SOURCES = "What to search"
SEARCH = "How to search"
LIMITS = "Limits"
ANSWER = "The answer"
OUTPUT = "Output"
_OTHER = "Other options"
_FULL_HELP = "suffice.full_help"

DocsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--docs",
        help="Search this file or folder; '-' reads standard input. Also an address: postgres://HOST/DATABASE/COLLECTION "
        "(made with 'suffice index --to'), elasticsearch://HOST/INDEX or opensearch://HOST/INDEX. Repeatable.",
        metavar="PATH|ADDRESS",
        rich_help_panel=SOURCES,
    ),
]
# For a server, which reads requests from standard input.
ServedDocsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--docs",
        help="Search this file or folder, or the corpus behind an address such as postgres://HOST/DATABASE/COLLECTION. "
        "Repeatable.",
        metavar="PATH|ADDRESS",
        rich_help_panel=SOURCES,
    ),
]
WebOption = Annotated[
    bool,
    typer.Option(
        "--web", help="Search the web with the services that 'suffice doctor' lists.", rich_help_panel=SOURCES
    ),
]
ProviderOption = Annotated[
    list[str] | None,
    typer.Option(
        "--provider",
        help="Search the web with this service. Repeatable; results are merged. One of: {installed}.",
        metavar="NAME",
        rich_help_panel=SOURCES,
    ),
]
IncludeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--include",
        help="Search only files that match this pattern, such as '*.md'. Repeatable.",
        metavar="GLOB",
        rich_help_panel=SOURCES,
    ),
]
ExcludeOption = Annotated[
    list[str] | None,
    typer.Option(
        "--exclude",
        help="Skip files that match this pattern. Repeatable.",
        metavar="GLOB",
        rich_help_panel=SOURCES,
    ),
]
PassagesOption = Annotated[
    int, typer.Option("-k", help="Passages to fetch for each query.", metavar="N", min=1, rich_help_panel=SEARCH)
]
_ALPHA_HELP = (
    "Balance of keywords and meaning: 1 compares words only (BM25), 0 compares meaning only (English embeddings). "
    "Default: 0.5"
)
AlphaOption = Annotated[
    float | None, typer.Option("--alpha", help=f"{_ALPHA_HELP}.", metavar="0..1", rich_help_panel=SEARCH)
]
# For a command that also takes a strategy.
StrategyAlphaOption = Annotated[
    float | None,
    typer.Option(
        "--alpha",
        help=f"{_ALPHA_HELP}, unless the strategy sets another value.",
        metavar="0..1",
        rich_help_panel=SEARCH,
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        help="Language model: openai:NAME, ollama:NAME, anthropic:NAME, google:NAME or openrouter:NAME. 'extractive' "
        "quotes the sources without a language model. In a list with commas, the next one is tried when one fails. "
        "Default: $SUFFICE_MODEL, or a model that is set up on this machine, or extractive.",
        metavar="PROVIDER:NAME",
        rich_help_panel=ANSWER,
    ),
]
OutOption = Annotated[
    list[Path] | None,
    typer.Option(
        help="Write the report to this file; its ending (.md, .html or .json) sets the format. Repeatable.",
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


# The flags that are not called like their option.
_FLAGS = {"k": "-k", "max_cost_usd": "--max-cost"}


def build_options(
    *,
    docs: Sequence[str] | None,
    web: bool = False,
    providers: Sequence[str] | None = None,
    include: Sequence[str] | None = None,
    exclude: Sequence[str] | None = None,
    **other: Any,
) -> "RunOptions":
    """Build the options of a run or a search from command-line values, where an option that is not given is ``None``.

    Raises ``InputError`` for a number outside its range, with the flag that the user typed.
    """
    from suffice.options import OPTIONS, RunOptions

    for name, value in other.items():
        OPTIONS[name].check(_FLAGS.get(name) or f"--{name.replace('_', '-')}", value)
    return RunOptions(
        docs=docs, web=web, providers=providers or (), include=include or (), exclude=exclude or (), **other
    )


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
