"""What a model server says about itself: which models it has, and how many tokens they read. Short questions, short patience.

Only the standard library is used, so that looking costs nothing at start-up when nobody is there.
"""

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.error import URLError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from suffice.models.llm.endpoint import is_local

CONNECT_TIMEOUT = 0.2  # A port on this machine answers at once or not at all.
REQUEST_TIMEOUT = 3.0
_MAX_RESPONSE_BYTES = 5_000_000  # Bytes of an answer that are read.
# Ollama reads this many tokens unless it is told otherwise, and cuts what is longer without a word.
OLLAMA_DEFAULT_CONTEXT = 4096


@dataclass(frozen=True, slots=True)
class ServerModels:
    """The models of a server by name, and the tokens each can read, where it says so."""

    names: tuple[str, ...]
    context: Mapping[str, int] = field(default_factory=dict)
    vision: Mapping[str, bool] = field(default_factory=dict)
    """Whether each sees pictures."""

    def match_name(self, wanted: str) -> str | None:
        """The model that is there under the wanted name, with or without its tag; ``None`` when there is none."""
        names = (wanted, f"{wanted}:latest", *(name for name in self.names if name.partition(":")[0] == wanted))
        return next((name for name in names if name in self.names), None)


def is_listening(url: str) -> bool:
    """Does anybody listen there?"""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        with socket.create_connection((parts.hostname or "", port), CONNECT_TIMEOUT):
            return True
    except OSError:
        return False


def fetch_models(url: str, key: str | None = None) -> ServerModels | None:
    """What an OpenAI-compatible server has; ``None`` when it does not say."""
    answer = _fetch_json(f"{url.rstrip('/')}/models", key)
    rows = answer.get("data") if isinstance(answer, dict) else None
    if not isinstance(rows, list):
        return None
    found = [row for row in rows if isinstance(row, dict) and isinstance(row.get("id"), str)]
    context = {row["id"]: tokens for row in found if (tokens := _read_context(row)) is not None}
    eyes = {row["id"]: sees for row in found if (sees := _read_vision(row)) is not None}
    return ServerModels(tuple(row["id"] for row in found), context, eyes)


def fetch_context(
    url: str, model: str, key: str | None = None, *, server_models: ServerModels | None = None
) -> int | None:
    """Tokens that the server lets a model read: as llama.cpp says (``/props``), else as its list of models does."""
    props = _fetch_json(f"{url.rstrip('/').removesuffix('/v1')}/props", key)
    if isinstance(props, dict):
        settings = props.get("default_generation_settings")
        tokens = settings.get("n_ctx") if isinstance(settings, dict) else None
        if isinstance(tokens, int) and tokens > 0:
            return tokens
    return None if server_models is None else server_models.context.get(model)


def fetch_ollama_context(url: str, model: str) -> int | None:
    """Tokens that Ollama reads of this model: as it runs now, else as its model file sets; ``None``: Ollama's own default."""
    origin = url.rstrip("/").removesuffix("/v1")
    running = _fetch_json(f"{origin}/api/ps")
    for row in (running.get("models") or []) if isinstance(running, dict) else []:
        if isinstance(row, dict) and row.get("name") == model and isinstance(row.get("context_length"), int):
            return int(row["context_length"])
    shown = _fetch_json(f"{origin}/api/show", body={"model": model})
    parameters = shown.get("parameters") if isinstance(shown, dict) else None
    for line in parameters.splitlines() if isinstance(parameters, str) else []:
        name, _, value = line.strip().partition(" ")
        if name == "num_ctx" and value.strip().isdigit():
            return int(value)
    return None


def _read_context(row: Mapping[str, Any]) -> int | None:
    """vLLM's ``max_model_len``, OpenRouter's ``context_length``."""
    for name in ("max_model_len", "context_length"):
        if isinstance(row.get(name), int) and row[name] > 0:
            return int(row[name])
    return None


def fetch_ollama_vision(url: str, model: str) -> bool | None:
    """Whether Ollama says that this model sees pictures; ``None``: it does not say."""
    shown = _fetch_json(f"{url.rstrip('/').removesuffix('/v1')}/api/show", body={"model": model})
    capabilities = shown.get("capabilities") if isinstance(shown, dict) else None
    return "vision" in capabilities if isinstance(capabilities, list) else None


def _read_vision(row: Mapping[str, Any]) -> bool | None:
    """llama.cpp's and OpenRouter's ``input_modalities``."""
    architecture = row.get("architecture")
    kinds = architecture.get("input_modalities") if isinstance(architecture, dict) else None
    return "image" in kinds if isinstance(kinds, list) else None


def _fetch_json(url: str, key: str | None = None, body: Mapping[str, Any] | None = None) -> Any:
    """The JSON behind an address; ``None`` when there is none."""
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    data = None if body is None else json.dumps(body).encode()
    opener = build_opener(ProxyHandler({})) if is_local(url) else build_opener()
    try:
        request = Request(url, data, {**headers, "Content-Type": "application/json"})
        with opener.open(request, timeout=REQUEST_TIMEOUT) as response:
            return json.loads(response.read(_MAX_RESPONSE_BYTES))
    except (URLError, OSError, ValueError):
        return None
