"""The page at ``/``: its files, what can be chosen on it, and a finished report as it shows it."""

import asyncio
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Response

from suffice import plugins, settings
from suffice.engine.presets import list_strategies
from suffice.server.context import ClientDep, ServiceDep
from suffice.server.errors import ApiError, document_errors
from suffice.server.jobs import JobId, get_owned_run

router = APIRouter()

_MEDIA_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_REPORT_ASSETS = ("report.css", "report.js")  # The report's own style and script: the page shows it as it is.
_PAGE_ASSETS = ("page.css", "page.js", "api.js", "run.js", "show.js", "whatif.js")


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
        "web": service.allows_web,
        "gates": [{"name": name, "promise": kind.promise, "dials": _list_dials(kind)} for name, kind in gates.items()],
    }


@router.get(
    "/jobs/{job}/report.html",
    summary="The report as a page of its own",
    response_model=None,
    responses={200: {"content": {"text/html": {}}}, **document_errors(401, 404, 422, 429, 500)},
)
async def get_report(job: JobId, service: ServiceDep, client: ClientDep) -> Response:
    kept = await get_owned_run(service, client.id, job)
    if kept.report is None:
        raise ApiError(404, f"The run {job!r} has no report yet")
    # Its own policy stands in the page, with the hashes of its style and script.
    headers = {"content-security-policy": "frame-ancestors 'none'"}
    return Response(await asyncio.to_thread(_render_report, kept.report), 200, headers, "text/html")


def _render_report(text: str) -> str:
    from suffice.report.html import render_html
    from suffice.storage.report_json import loads

    return render_html(loads(text))


def _list_dials(kind: Any) -> list[dict[str, Any]]:
    import msgspec

    return [msgspec.to_builtins(dial) for dial in kind.dials]


@cache
def _read_asset(name: str) -> bytes:
    package = "suffice.report" if name in _REPORT_ASSETS else "suffice.server"
    path = files(package) / name if name in _REPORT_ASSETS else files(package) / "site" / name
    return path.read_bytes()


def _asset_response(name: str) -> Response:
    return Response(_read_asset(name), media_type=_MEDIA_TYPES[name.rsplit(".", 1)[1]])
