"""The page at ``/``: its files, what can be chosen on it, and a finished report as it shows it."""

import asyncio
from functools import cache
from importlib.resources import files
from typing import Any

from fastapi import APIRouter, Response

from suffice import plugins, settings
from suffice.doors.http.context import Here, Who
from suffice.doors.http.jobs import JobId, own
from suffice.doors.http.problems import Problem, documented
from suffice.presets import choices

router = APIRouter()

_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_SHARED = ("report.css", "report.js")  # The report's own style and script: the page shows it as it is.
_OWN = ("page.css", "page.js", "api.js", "run.js", "show.js", "whatif.js")


@router.get("/", include_in_schema=False)
async def page() -> Response:
    return _file("index.html")


@router.get("/static/{name}", include_in_schema=False)
async def static(name: str) -> Response:
    if name not in (*_SHARED, *_OWN):
        raise Problem(404, f"There is nothing at /static/{name}")
    return _file(name)


@router.get("/parts", summary="What a request may choose from", responses=documented(401, 429, 500))
async def parts(here: Here, who: Who) -> dict[str, Any]:
    gates = {name: plugins.find("gates", name) for name in plugins.names("gates")}
    return {
        "strategies": choices(),
        "memories": plugins.names("memories"),
        "tiers": ["auto", *settings.TIERS],
        "models": list(here.models),
        "collections": list(here.worker.offered),
        "web": here.web,
        "gates": [{"name": name, "promise": kind.promise, "dials": _dials(kind)} for name, kind in gates.items()],
    }


@router.get(
    "/jobs/{job}/report.html",
    summary="The report as a page of its own",
    response_model=None,
    responses={200: {"content": {"text/html": {}}}, **documented(401, 404, 422, 429, 500)},
)
async def report(job: JobId, here: Here, who: Who) -> Response:
    kept = await own(here, who.id, job)
    if kept.report is None:
        raise Problem(404, f"The run {job!r} has no report yet")
    # Its own policy stands in the page, with the hashes of its style and script.
    headers = {"content-security-policy": "frame-ancestors 'none'"}
    return Response(await asyncio.to_thread(_rendered, kept.report), 200, headers, "text/html")


def _rendered(text: str) -> str:
    from suffice.write.codec import loads
    from suffice.write.html import render

    return render(loads(text))


def _dials(kind: Any) -> list[dict[str, Any]]:
    import msgspec

    return [msgspec.to_builtins(dial) for dial in kind.dials]


@cache
def _content(name: str) -> bytes:
    package = "suffice.write" if name in _SHARED else "suffice.doors.http"
    path = files(package) / name if name in _SHARED else files(package) / "site" / name
    return path.read_bytes()


def _file(name: str) -> Response:
    return Response(_content(name), media_type=_TYPES[name.rsplit(".", 1)[1]])
