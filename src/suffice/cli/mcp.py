"""``suffice mcp``: offer research as tools to other agents (Model Context Protocol)."""

from pathlib import Path
from typing import Annotated

import typer

from suffice.cli.options import (
    DebugOption,
    ExcludeOption,
    IncludeOption,
    ModelOption,
    ProviderOption,
    StrategyAlphaOption,
    WebOption,
    build_options,
    make_flag,
)
from suffice.errors import InputError

# Requests come from standard input, so documents cannot.
_ServedDocsOption = Annotated[
    list[str] | None,
    make_flag("docs", help="Search this file, folder or address (postgres://HOST/DATABASE/COLLECTION). Repeatable."),
]


def mcp(
    docs: _ServedDocsOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    web: WebOption = False,
    providers: ProviderOption = None,
    alpha: StrategyAlphaOption = None,
    model: ModelOption = None,
    port: Annotated[
        int | None,
        typer.Option(
            help="Serve streamable HTTP on this port, instead of standard input and output.",
            metavar="PORT",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(
            help="Address to listen on for HTTP. Where a key exists ('suffice keys create'), clients need one as their bearer "
            "token; beyond this machine one must exist.",
            metavar="HOST",
        ),
    ] = "127.0.0.1",
    debug: DebugOption = False,
) -> int:
    """Offer research as tools to other agents over MCP.

    The tools are search, fetch, research, start_research, get_research, check and explain_stop.
    """
    from suffice.server.mcp import serve_mcp

    for path in docs or ():  # A client would see the mistake only at its first call.
        if "://" not in path and not Path(path).exists():
            raise InputError(f"--docs {path} does not exist; check the path")
    options = build_options(
        docs=docs, web=web, providers=providers, include=include, exclude=exclude, alpha=alpha, model=model
    )
    return serve_mcp(options, port, host)
