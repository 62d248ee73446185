"""``suffice doctor``: what is configured, what works, and what to do about the rest."""

import os
import platform
import socket
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from urllib.parse import urlsplit

from suffice import __version__, plugins, settings
from suffice.errors import SufficeError

CheckResult = tuple[bool, str]

_OPTIONAL_CHECKS = (
    "model",
    "cache",
    "web",
)  # A question can be answered without; or, of several models, by another one.


def run_checks() -> int:
    """One line a check; exit 0 when a question can be answered."""
    config = settings.load()
    healthy, models = _check_models(config)
    checks: list[tuple[str, Callable[[], CheckResult]]] = [
        ("suffice", lambda: (True, f"{__version__} on Python {platform.python_version()}")),
        *(("model", lambda model=model: model) for model in models),
        ("embeddings", lambda: _check_embeddings(config)),
        ("index", _check_index),
        ("cache", lambda: _check_folder(config.cache_dir, "indexes and vectors are rebuilt for every question")),
        ("web", lambda: _check_web(config)),
        ("bounds", lambda: (True, _format_bounds(config))),
        ("plug-ins", lambda: (True, _format_plugins())),
    ]
    for name, check in checks:
        good, words = check()
        healthy = healthy and (good or name in _OPTIONAL_CHECKS)
        print(f"{'ok  ' if good else 'FAIL'} {name:11} {words}")
    return 0 if healthy else 4


def _check_models(config: settings.Settings) -> tuple[bool, list[CheckResult]]:
    """The models that a question would be put to, and whether that would do; a server on this machine is asked what it has."""
    from suffice.models.choose import check_all_models, choose_model

    told: list[str] = []
    try:
        enough, models = check_all_models(choose_model(None, config, told.append)(None))
    except SufficeError as error:
        named = f"SUFFICE_MODEL={config.model}: " if config.model else ""
        return False, [(False, f"{named}{error}")]
    return enough, [*models, *((True, message) for message in told)]


def _check_embeddings(config: settings.Settings) -> CheckResult:
    """One word is embedded; a server that is not on this machine is named and left alone."""
    from suffice.models.embeddings.choose import choose_embedder
    from suffice.models.embeddings.remote import RemoteEmbedder

    try:
        said: list[str] = []
        model = choose_embedder(config, said.append)
        if said:
            return True, f"{config.models.embeddings}; {said[0]}"
        model.embed(["a word"])
    except (SufficeError, OSError) as error:
        return False, f"{error}; --alpha 1 works without"
    where = "from a server on this machine" if isinstance(model, RemoteEmbedder) else "on this machine"
    english = ", English" if model.name.startswith("all-MiniLM") else ""
    return True, f"{model.name}, {model.dimension} dimensions{english}, {where}"


def _check_index() -> CheckResult:
    try:
        import tantivy  # noqa: F401
    except ImportError as error:
        return False, f"{error}; install suffice again"
    return True, f"tantivy {version('tantivy')}"


def _check_folder(path: Path, otherwise: str) -> CheckResult:
    existing = next(parent for parent in (path, *path.parents) if parent.exists())
    if os.access(existing, os.W_OK) and existing.is_dir():
        return True, str(path)
    return False, f"{path} cannot be written: {otherwise}; set SUFFICE_CACHE_DIR to a folder that can"


def _check_web(config: settings.Settings) -> CheckResult:
    """What --web would ask, and whether it is there at all; nothing is searched for, so nothing is spent."""
    from suffice.search.web.choose import KEYLESS_PROVIDER, find_configured

    if config.offline:
        return True, "SUFFICE_OFFLINE is set: the web is not searched"
    try:
        heard = {provider: _is_reachable(provider.url) for provider in find_configured(config)}
    except SufficeError as error:
        return False, str(error)
    others = [name for name in plugins.list_plugins("providers") if name not in {one.name for one in heard}]
    more = f"--provider also knows {', '.join(others)}; docs/web.md names their keys"
    if not heard:
        return True, f"nothing is configured: --web asks {KEYLESS_PROVIDER}, which needs no key; {more}"
    words = (f"{one.name} ({one.address}) {'is there' if here else 'cannot be reached'}" for one, here in heard.items())
    return any(heard.values()), f"{'; '.join(words)}; {more}"


def _is_reachable(url: str) -> bool:
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or (80 if parts.scheme == "http" else 443)), 2):
            return True
    except OSError:
        return False


def _format_bounds(config: settings.Settings) -> str:
    chosen = {
        name: value
        for name in ("rounds", "queries", "sources", "seconds", "tokens", "usd")
        if (value := getattr(config.bounds, name)) is not None
    }
    return ", ".join(f"{name} {value:g}" for name, value in chosen.items()) or "the tier's own"


def _format_plugins() -> str:
    return "; ".join(f"{seam}: {', '.join(plugins.list_plugins(seam))}" for seam in ("strategies", "memories", "gates"))
