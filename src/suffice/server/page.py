"""The web page at ``/``: its files, the choices it offers, and a finished report as HTML."""

import asyncio
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Response

from suffice import plugins, settings
from suffice.engine.presets import list_strategies
from suffice.server.dependencies import ClientDep, OwnedRunDep, ServiceDep
from suffice.server.errors import ApiError, document_errors

router = APIRouter()

_MEDIA_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_PAGE_ASSETS = (
    *(
        "page.css",
        "page.js",
        "api.js",
        "dom.js",
        "ask.js",
        "history.js",
        "run.js",
        "reader.js",
        "export.js",
        "whatif.js",
    ),
)
_REPORT_ASSETS = ("report.css", "report.js")  # The page embeds the report with its own style and script.


@router.get("/", include_in_schema=False)
async def get_page() -> Response:
    return _asset_response("index.html")


@router.get("/static/{name}", include_in_schema=False)
async def get_static(name: str) -> Response:
    if name not in (*_REPORT_ASSETS, *_PAGE_ASSETS):
        raise ApiError(404, f"There is nothing at /static/{name}")
    return _asset_response(name)


@router.get("/parts", summary="What a request may choose from", responses=document_errors(401, 429, 500))
async def list_parts(service: ServiceDep, client: ClientDep) -> dict[str, Any]:
    gates = {name: plugins.load_plugin("gates", name) for name in plugins.list_plugins("gates")}
    return {
        "strategies": list_strategies(),
        "memories": plugins.list_plugins("memories"),
        "tiers": ["auto", *settings.TIERS],
        "models": list(service.allowed_models),
        "collections": list(service.worker.collections),
        "folders": {
            name: [path if "://" in path else Path(path).name for path in paths]
            for name, paths in service.worker.collections.items()
        },
        "web": service.allows_web,
        "gates": [{"name": name, "promise": gate.promise, "dials": _list_dials(gate)} for name, gate in gates.items()],
    }


@router.get(
    "/jobs/{job}/report.html",
    summary="The report as an HTML page",
    response_model=None,
    responses={200: {"content": {"text/html": {}}}, **document_errors(401, 404, 422, 429, 500)},
)
async def get_report(run: OwnedRunDep) -> Response:
    if run.report is None:
        raise ApiError(404, f"The run {run.id!r} has no report yet")
    # The page itself carries a stricter policy with the hashes of its style and script.
    headers = {"content-security-policy": "frame-ancestors 'none'"}
    return Response(await asyncio.to_thread(_render_report, run.report), 200, headers, "text/html")


def _render_report(text: str) -> str:
    from suffice.report.html import render_html
    from suffice.storage.report_json import loads

    return render_html(loads(text))


def _list_dials(gate: Any) -> list[dict[str, Any]]:
    import msgspec

    return [msgspec.to_builtins(dial) for dial in gate.dials]


@cache
def _read_asset(name: str) -> bytes:
    folder = files("suffice.report") if name in _REPORT_ASSETS else files("suffice.server") / "site"
    return (folder / name).read_bytes()


def _asset_response(name: str) -> Response:
    return Response(_read_asset(name), media_type=_MEDIA_TYPES[name.rsplit(".", 1)[1]])
