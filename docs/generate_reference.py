"""Write the reference pages from the code: commands, Python names, HTTP, gates, settings, events and the report.

``conf.py`` runs it before each build; the pages are not kept in the repository, so they cannot become stale.
"""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args

import typer

import suffice
from suffice import events, plugins, settings, types
from suffice.cli.options import list_installed

METHODS = ("get", "post", "put", "patch", "delete")


def write_pages(folder: Path) -> None:
    """Write all reference pages into a folder."""
    folder.mkdir(exist_ok=True)
    for name, render in PAGES.items():
        (folder / f"{name}.md").write_text(render(), encoding="utf-8")


# -- commands ----------------------------------------------------------------------------------------------------------


def render_commands() -> str:
    from suffice.cli.app import app

    parts = ["# Commands", "Made from the program itself; `suffice COMMAND --help` shows the same in the terminal."]
    for path, command in list_commands(typer.main.get_command(app), "suffice"):
        parts += [f"## {path}", _strip_rich(command.help or ""), _code(_usage(path, command))]
        rows = [row for parameter in command.params if (row := _parameter_row(parameter))]
        parts += [_table(("option", "meaning"), rows)] if rows else []
    return "\n\n".join(part for part in parts if part) + "\n"


def list_commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield each command that can be called, with its name."""
    if groups := getattr(command, "commands", None):
        for name, inner in groups.items():
            if not inner.hidden:
                yield from list_commands(inner, f"{path} {name}")
    else:
        yield path, command


def _usage(path: str, command: Any) -> str:
    return " ".join([path, *command.collect_usage_pieces(command.make_context(path, [], resilient_parsing=True))])


def _parameter_row(parameter: Any) -> tuple[str, str] | None:
    if getattr(parameter, "hidden", False):
        return None
    is_option = parameter.param_type_name == "option"
    name = (
        ", ".join((*parameter.opts, *parameter.secondary_opts))
        if is_option
        else parameter.metavar or parameter.name.upper()
    )
    value = f" {parameter.metavar}" if is_option and parameter.metavar else ""
    return f"`{name}{value}`", list_installed(_strip_rich(getattr(parameter, "help", None) or ""), parameter.name)


def _strip_rich(text: str) -> str:
    return " ".join(re.sub(r"\[/?[a-z ]+\]", "", text).replace("\b", "").split())


# -- Python ------------------------------------------------------------------------------------------------------------


def render_python() -> str:
    parts = ["# Python", "`from suffice import …`; everything else is an implementation detail that may change."]
    for name in sorted(suffice.__all__):
        item = getattr(suffice, name)
        parts += [f"## {name}", _code(_signature(name, item), "python"), _describe(item)]
        if inspect.isclass(item):
            parts += [_render_methods(item)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _render_methods(item: type) -> str:
    rows = []
    for name, member in vars(item).items():
        if name.startswith("_") or not (inspect.isfunction(member) or isinstance(member, property)):
            continue
        summary = (inspect.getdoc(member) or "").split("\n\n")[0]
        call = name if isinstance(member, property) else _signature(name, member).removeprefix("async ")
        rows.append((f"`{call}`", " ".join(summary.split())))
    return _table(("member", "meaning"), rows) if rows else ""


def _signature(name: str, item: Any) -> str:
    try:
        text = str(inspect.signature(item))
    except (TypeError, ValueError):
        return name
    text = (
        re.sub(r"\b(?:suffice|collections|pathlib|typing)\.(?:\w+\.)*(\w+)", r"\1", text)
        .replace("(self, ", "(")
        .replace("(self)", "()")
    )
    text = text.removesuffix(" -> None")
    return f"{'await ' if inspect.iscoroutinefunction(item) else ''}{name}{text}"


# -- HTTP --------------------------------------------------------------------------------------------------------------


def render_http() -> str:
    schema = load_openapi()
    parts = [
        "# HTTP",
        "The service describes itself at `/docs` and `/openapi.json`. Every error has the body "
        '`{"error": {"type", "message", "retryable"}}`.',
    ]
    for path, item in schema["paths"].items():
        for method in METHODS:
            if operation := item.get(method):
                parts += [f"## {method.upper()} {path}", operation.get("summary", ""), operation.get("description", "")]
                rows = [
                    (f"`{one['name']}` ({one['in']})", " ".join(one.get("description", "").split()))
                    for one in operation.get("parameters", ())
                ]
                parts += [_table(("parameter", "meaning"), rows)] if rows else []
                if body := operation.get("requestBody"):
                    reference = next(iter(body["content"].values()))["schema"].get("$ref", "")
                    parts += [f"Body: `{reference.rsplit('/', 1)[-1]}`"] if reference else []
    parts += ["## Bodies"]
    for name, body in schema.get("components", {}).get("schemas", {}).items():
        rows = [
            (f"`{field}`", " ".join(str(about.get("description", about.get("type", ""))).split()))
            for field, about in body.get("properties", {}).items()
        ]
        parts += [
            f"### {name}",
            " ".join(body.get("description", "").split()),
            _table(("field", "meaning"), rows) if rows else "",
        ]
    return "\n\n".join(part for part in parts if part) + "\n"


def load_openapi() -> dict[str, Any]:
    """Return the schema of the service without starting it."""
    from unittest.mock import MagicMock

    from suffice.server.app import create_app

    return create_app(MagicMock()).openapi()


# -- gates, settings, events, report -----------------------------------------------------------------------------------


def render_gates() -> str:
    parts = [
        "# Gates",
        "A gate is written as in Python, and gates are joined with `|` (any stops), `&` (all stop) and methods such as "
        "`.after(2)`. What each one promises: [when to stop](../stopping.md).",
    ]
    for name in plugins.list_plugins("gates"):
        gate = plugins.load_plugin("gates", name)
        parts += [f"## {name}", _code(_signature(name, gate), "python"), _describe(gate)]
    parts += ["## Methods", _render_methods(suffice.Gate)]
    return "\n\n".join(part for part in parts if part) + "\n"


def render_settings() -> str:
    parts = [
        "# Settings",
        "Environment variables, or lines of a `.env` file in the working directory. Options of a command override them.",
    ]
    for owner in (settings.Settings, settings.ModelSettings, settings.ReviewRules):
        rows = [(f"`{variable}`", text) for variable, text in list_settings(owner)]
        parts += [f"## {inspect.getdoc(owner)}".rstrip("."), _table(("variable", "meaning"), rows)]
    return "\n\n".join(parts) + "\n"


def list_settings(owner: type) -> Iterator[tuple[str, str]]:
    """Yield the variable and the meaning of each setting, from the text below its field."""
    tree = ast.parse(inspect.getsource(owner)).body[0]
    assert isinstance(tree, ast.ClassDef)
    for statement in tree.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            text = " ".join(str(statement.value.value).split())
            if found := re.match(r"``([A-Z_<>…]+)``(?:, ``[A-Z_<>…]+``)*: (.*)", text):
                yield text.split(":", 1)[0].replace("``", "").strip(), found[2].replace("``", "`")


def render_events() -> str:
    parts = [
        "# Events",
        "`research(on_event=…)` passes them as objects; the service streams them and a trace (`--trace`) has one on each line, "
        "with their name in lower case as `type`.",
    ]
    for event in get_args(events.Event):
        parts += [f"## {event.__name__}", _describe(event), _render_fields(event)]
    return "\n\n".join(part for part in parts if part) + "\n"


def render_report() -> str:
    parts = ["# Report", "`--json`, `GET /jobs/{id}` and `research()` give the same fields."]
    for item in list_report_types(types.Report):
        parts += [f"## {item.__name__}", _describe(item), _render_fields(item)]
    return "\n\n".join(part for part in parts if part) + "\n"


def list_report_types(start: type) -> list[type]:
    """Return a class and the classes that its fields name, each once."""
    found: list[type] = [start]
    for item in found:
        for field in fields(item):
            for name in re.findall(r"[A-Z]\w+", str(field.type)):
                named = getattr(types, name, None)
                if inspect.isclass(named) and is_dataclass(named) and named not in found:
                    found.append(named)
    return found


def _render_fields(item: type) -> str:
    rows = [(f"`{field.name}`", f"`{_type_name(field.type)}`") for field in fields(item)]
    return _table(("field", "type"), rows) if rows else ""


def _type_name(annotation: Any) -> str:
    text = (
        annotation
        if isinstance(annotation, str)
        else getattr(annotation, "__name__", str(annotation))
        if inspect.isclass(annotation)
        else str(annotation)
    )
    return re.sub(r"\b(?:suffice|collections|pathlib|typing)\.(?:\w+\.)*", "", text)


def _describe(item: Any) -> str:
    """Return the docstring as Markdown: its inline code has two ticks, and an indented block is code."""
    text = inspect.getdoc(item) or ""
    return text.replace("``", "`").replace("::\n", ":\n")


def _code(text: str, language: str = "text") -> str:
    return f"```{language}\n{text}\n```"


def _table(head: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    lines = [f"| {head[0]} | {head[1]} |", "|---|---|"]
    return "\n".join(lines + [f"| {_cell(left)} | {_cell(right)} |" for left, right in rows])


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


PAGES = {
    "commands": render_commands,
    "python": render_python,
    "http": render_http,
    "gates": render_gates,
    "settings": render_settings,
    "events": render_events,
    "report": render_report,
}
