"""The web page at ``/`` and the reference at ``/docs``: their files, the choices they offer, and a finished report as HTML."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Response
from msgspec import to_builtins

from suffice import plugins, settings
from suffice.engine.presets import list_strategies
from suffice.errors import SufficeError
from suffice.report.html import render_html
from suffice.search.files.isolated import read_isolated
from suffice.search.files.walk import list_files
from suffice.server.dependencies import ClientDep, OwnedRunDep, ServiceDep, load_report
from suffice.server.errors import ApiError, document_errors
from suffice.skills.load import load_skills
from suffice.types import BREADTHS

router = APIRouter()

_ERRORS = document_errors(401, 429, 500)
_MEDIA_TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
_REPORT_ASSETS = ("report.css", "report.js")  # The page embeds the report with its own style and script.
_MAX_EXAMPLES = 2
_MAX_EXAMPLE_BYTES = 200_000  # A file that is read for an example is small.


@router.get("/", include_in_schema=False)
async def get_page() -> Response:
    return _asset_response("index.html")


@router.get("/docs", include_in_schema=False)
async def get_reference() -> Response:
    return _asset_response("reference.html")


@router.get("/static/{name}", include_in_schema=False)
async def get_static(name: str) -> Response:
    if name not in _load_assets():
        raise ApiError(404, f"There is nothing at /static/{name}")
    return _asset_response(name)


@router.get("/parts", summary="What a request may choose from", responses=_ERRORS)
async def list_parts(service: ServiceDep, client: ClientDep) -> dict[str, Any]:
    skills = load_skills(settings.load().config_dir, Path.cwd()).skills
    gates = {name: plugins.load_plugin("gates", name) for name in plugins.list_plugins("gates")}
    return {
        "strategies": list_strategies(),
        "memories": plugins.list_plugins("memories"),
        "tiers": ["auto", *settings.TIERS],
        "breadths": ["auto", *BREADTHS],
        "skills": [{"name": one.name, "description": one.description} for one in skills.values()],
        "models": list(service.allowed_models),
        "collections": list(service.worker.collections),
        "folders": {
            name: [path if "://" in path else Path(path).name for path in paths]
            for name, paths in service.worker.collections.items()
        },
        "web": service.allows_web,
        "gates": [
            {"name": name, "promise": gate.promise, "dials": to_builtins(gate.dials)} for name, gate in gates.items()
        ],
    }


@router.get(
    "/collections", summary="The size and age of each collection, and questions to begin with", responses=_ERRORS
)
def describe_collections(service: ServiceDep, client: ClientDep) -> dict[str, Any]:
    """`changed` is the time of the newest file in seconds since 1970; `files` counts local files only."""
    return _describe_collections(service.worker.collections)


@router.get(
    "/jobs/{job}/report.html",
    summary="The report as an HTML page",
    response_model=None,
    responses={200: {"content": {"text/html": {}}}, **document_errors(401, 404, 422, 429, 500)},
)
def get_report(run: OwnedRunDep) -> Response:
    # The page itself carries a stricter policy with the hashes of its style and script.
    headers = {"content-security-policy": "frame-ancestors 'none'"}
    return Response(render_html(load_report(run)), 200, headers, "text/html")


def _describe_collections(collections: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    described, examples = [], []
    for name, paths in collections.items():
        try:
            listed = list_files([Path(path) for path in paths if "://" not in path]).files
            changed = max((path.stat().st_mtime for path in listed), default=None)
            examples += _suggest_questions(listed)
        except (SufficeError, OSError):
            listed, changed = (), None  # A run says what is wrong with the folder.
        described.append({"name": name, "files": len(listed), "changed": changed})
    return {"collections": described, "examples": examples[:_MAX_EXAMPLES]}


def _suggest_questions(listed: Sequence[Path]) -> list[str]:
    """Return questions about the titles of a few small files, if they have one without a figure: a date names no subject."""
    small = {path: state.st_mtime_ns for path in listed if (state := path.stat()).st_size <= _MAX_EXAMPLE_BYTES}
    step = -(-len(small) // (4 * _MAX_EXAMPLES)) or 1
    titles = dict.fromkeys(_find_title(path, small[path]) for path in list(small)[::step])
    return [f"What do the documents say about “{one}”?" for one in titles if one and not any(map(str.isdigit, one))]


@lru_cache(256)
def _find_title(path: Path, changed: int) -> str:
    """Return the heading that a file begins with; empty if it has none or cannot be read. It is read once for each change."""
    with suppress(SufficeError):
        for chunk in read_isolated(path).chunks[:1]:
            title = chunk.title.partition(" > ")[0]
            return title if chunk.text.lstrip("# ").startswith(title) else ""
    return ""


@cache
def _load_assets() -> dict[str, bytes]:
    site = (files("suffice.server") / "site").iterdir()
    report = (files("suffice.report") / name for name in _REPORT_ASSETS)
    return {asset.name: asset.read_bytes() for asset in chain(site, report)}


def _asset_response(name: str) -> Response:
    return Response(_load_assets()[name], media_type=_MEDIA_TYPES[name.rsplit(".", 1)[1]])
