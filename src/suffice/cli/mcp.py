"""``suffice mcp``: offer research as tools to other agents (Model Context Protocol)."""

from pathlib import Path
from typing import Any

from suffice.cli.options import build_options, flag, takes_options
from suffice.errors import InputError

# Requests come from standard input, so documents cannot.
_DOCS_HELP = "Search this file, folder or address (postgres://HOST/DATABASE/COLLECTION)."


@takes_options("docs", "include", "exclude", "web", "providers", "alpha", "model", docs=_DOCS_HELP)
def mcp(
    port: int | None = flag(
        None, "Serve streamable HTTP on this port, instead of standard input and output.", metavar="PORT"
    ),
    host: str = flag(
        "127.0.0.1",
        "Address to listen on for HTTP. Where a key exists ('suffice keys create'), clients need one as their bearer "
        "token; beyond this machine one must exist.",
        metavar="HOST",
    ),
    **given: Any,
) -> int:
    """Offer research as tools to other agents over MCP.

    The tools are search, fetch, research, start_research, get_research, check and explain_stop.
    """
    from suffice.server.mcp import serve_mcp

    for path in given["docs"] or ():  # A client would see the mistake only at its first call.
        if "://" not in path and not Path(path).exists():
            raise InputError(f"--docs {path} does not exist; check the path")
    return serve_mcp(build_options(**given), port, host)
