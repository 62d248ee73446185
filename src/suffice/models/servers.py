"""Ask a model server about itself: which models it has, how many tokens they read, and whether they accept images.

Uses only the standard library and short timeouts, so that looking for a server costs little at start-up.
"""

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.client import HTTPException
from time import monotonic
from typing import Any, Literal
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from suffice.models.llm.endpoint import is_local, server_root

CONNECT_TIMEOUT = 0.2  # Seconds. A port on this machine answers at once or not at all.
REQUEST_TIMEOUT = 3.0  # Seconds.
_MAX_RESPONSE_BYTES = 5_000_000
# Ollama reads this many tokens unless it is configured otherwise, and cuts longer prompts without notice.
OLLAMA_DEFAULT_CONTEXT = 4096


@dataclass(frozen=True, slots=True)
class ServerModels:
    """The models of a server by name, with what it says about each."""

    names: tuple[str, ...]
    context: Mapping[str, int] = field(default_factory=dict)
    """Tokens that a model can read."""
    vision: Mapping[str, bool] = field(default_factory=dict)
    """Whether a model accepts images."""

    def match_name(self, name: str) -> str | None:
        """Return the server's model of that name, with or without its tag; ``None`` when it has none."""
        names = (name, f"{name}:latest", *(other for other in self.names if other.partition(":")[0] == name))
        return next((other for other in names if other in self.names), None)


def is_listening(url: str, timeout: float = CONNECT_TIMEOUT) -> bool:
    """Return whether a server accepts connections at the address."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((parts.hostname or "", port), timeout):
            return True
    except OSError:
        return False


def diagnose(url: str, key: str | None = None) -> Literal["dead", "refused", "unlisted"]:
    """Return why a server does not list its models: it is not there, refuses the key, or has no list."""
    try:
        with _open(f"{url.rstrip('/')}/models", key):
            return "unlisted"
    except HTTPError as error:
        return "refused" if error.code in (401, 403) else "unlisted"
    except (URLError, ValueError):
        return "dead"
    except (OSError, HTTPException):  # It accepted the connection.
        return "unlisted"


def fetch_models(url: str, key: str | None = None) -> ServerModels | None:
    """Return the models of an OpenAI-compatible server; ``None`` when it does not list them."""
    rows = _fetch_object(f"{url.rstrip('/')}/models", key).get("data")
    if not isinstance(rows, list):
        return None
    rows = [row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]
    context = {row["id"]: tokens for row in rows if (tokens := _read_context(row)) is not None}
    vision = {row["id"]: supported for row in rows if (supported := _read_vision(row)) is not None}
    return ServerModels(tuple(row["id"] for row in rows), context, vision)


def fetch_context(url: str, key: str | None = None) -> int | None:
    """Return how many tokens a server of llama.cpp reads; ``None`` for other servers."""
    settings = _fetch_object(f"{server_root(url)}/props", key).get("default_generation_settings")
    tokens = settings.get("n_ctx") if isinstance(settings, dict) else None
    return tokens if isinstance(tokens, int) and tokens > 0 else None


def fetch_ollama_model(url: str, model: str) -> tuple[int | None, bool | None]:
    """Return how many tokens Ollama reads with this model, as it runs now, else as its model file sets, and whether the model
    accepts images; ``None`` for Ollama's default, and if it does not say."""
    details = _fetch_object(f"{server_root(url)}/api/show", body={"model": model})
    capabilities, parameters = details.get("capabilities"), details.get("parameters")
    vision = "vision" in capabilities if isinstance(capabilities, list) else None
    for row in _fetch_object(f"{server_root(url)}/api/ps").get("models") or []:
        if isinstance(row, dict) and row.get("name") == model and isinstance(row.get("context_length"), int):
            return int(row["context_length"]), vision
    for line in parameters.splitlines() if isinstance(parameters, str) else []:
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isdigit():
            return int(value), vision
    return None, vision


def _read_context(row: Mapping[str, Any]) -> int | None:
    """Read vLLM's ``max_model_len`` or OpenRouter's ``context_length``."""
    found = (row.get(name) for name in ("max_model_len", "context_length"))
    return next((tokens for tokens in found if isinstance(tokens, int) and tokens > 0), None)


def _read_vision(row: Mapping[str, Any]) -> bool | None:
    """Read the ``input_modalities`` of llama.cpp and OpenRouter."""
    architecture = row.get("architecture")
    modalities = architecture.get("input_modalities") if isinstance(architecture, dict) else None
    return "image" in modalities if isinstance(modalities, list) else None


def _fetch_object(url: str, key: str | None = None, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return the JSON object at an address; an empty one when there is none."""
    try:
        with _open(url, key, body) as response:
            found = json.loads(_read_body(response))
    except (URLError, OSError, ValueError, RecursionError, HTTPException):
        return {}
    return found if isinstance(found, dict) else {}


class _NoRedirects(HTTPRedirectHandler):
    """Follows no redirect: the API key would go along, and the answer would come from another server."""

    def redirect_request(self, *arguments: Any) -> None:
        return None


def _open(url: str, key: str | None = None, body: Mapping[str, Any] | None = None) -> Any:
    """Send a request, with a body as JSON; a proxy is not used for a server on this machine."""
    headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {key}"} if key else {})
    request = Request(url, None if body is None else json.dumps(body).encode(), headers)
    opener = build_opener(_NoRedirects, *([ProxyHandler({})] if is_local(url) else []))
    return opener.open(request, timeout=REQUEST_TIMEOUT)


def _read_body(response: Any) -> bytes:
    """Return the body; raise ``ValueError`` if it is too large or comes too slowly. The socket's time-out is for one read."""
    deadline, body = monotonic() + REQUEST_TIMEOUT, bytearray()
    while piece := response.read1(65_536):
        body += piece
        if len(body) > _MAX_RESPONSE_BYTES or monotonic() > deadline:
            raise ValueError("the answer is too large or too slow")
    return bytes(body)
