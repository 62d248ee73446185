"""``suffice mcp``: offer research as tools to other agents (Model Context Protocol)."""

from typing import Annotated

import typer

from suffice.cli.options import (
    DebugOption,
    ExcludeOption,
    IncludeOption,
    ModelOption,
    ProviderOption,
    ServedDocsOption,
    StrategyAlphaOption,
    WebOption,
    build_options,
)


def mcp(
    docs: ServedDocsOption = None,
    include: IncludeOption = None,
    exclude: ExcludeOption = None,
    web: WebOption = False,
    providers: ProviderOption = None,
    alpha: StrategyAlphaOption = None,
    model: ModelOption = None,
    port: Annotated[
        int | None,
        typer.Option(
            help="Serve streamable HTTP on this port of 127.0.0.1, instead of standard input and output.",
            metavar="PORT",
        ),
    ] = None,
    debug: DebugOption = False,
) -> int:
    """Offer research as tools to other agents over MCP.

    The tools are research, search, fetch and explain_stop (Model Context Protocol).
    """
    from suffice.server.mcp import serve_mcp

    options = build_options(
        docs=docs, web=web, providers=providers, include=include, exclude=exclude, alpha=alpha, model=model
    )
    return serve_mcp(options, port)
