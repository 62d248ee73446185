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

Check = tuple[bool, str]

_SPARED = ("model", "cache", "web")  # A question can be answered without; or, of several models, by another one.


def doctor() -> int:
    """One line a check; exit 0 when a question can be answered."""
    config = settings.load()
    healthy, models = _models(config)
    checks: list[tuple[str, Callable[[], Check]]] = [
        ("suffice", lambda: (True, f"{__version__} on Python {platform.python_version()}")),
        *(("model", lambda model=model: model) for model in models),
        ("embeddings", lambda: _embeddings(config)),
        ("index", _index),
        ("cache", lambda: _folder(config.cache_dir, "indexes and vectors are rebuilt for every question")),
        ("web", lambda: _web(config)),
        ("bounds", lambda: (True, _bounds(config))),
        ("plug-ins", lambda: (True, _parts())),
    ]
    for name, check in checks:
        good, words = check()
        healthy = healthy and (good or name in _SPARED)
        print(f"{'ok  ' if good else 'FAIL'} {name:11} {words}")
    return 0 if healthy else 4


def _models(config: settings.Settings) -> tuple[bool, list[Check]]:
    """The models that a question would be put to, and whether that would do; a server on this machine is asked what it has."""
    from suffice.models.choose import choose, each_reachable

    told: list[str] = []
    try:
        enough, models = each_reachable(choose(None, config, told.append)(None))
    except SufficeError as error:
        named = f"SUFFICE_MODEL={config.model}: " if config.model else ""
        return False, [(False, f"{named}{error}")]
    return enough, [*models, *((True, message) for message in told)]


def _embeddings(config: settings.Settings) -> Check:
    """One word is embedded; a server that is not on this machine is named and left alone."""
    from suffice.models.embeddings.choose import embedder
    from suffice.models.embeddings.served import Served

    try:
        said: list[str] = []
        model = embedder(config, said.append)
        if said:
            return True, f"{config.models.embeddings}; {said[0]}"
        model.embed(["a word"])
    except (SufficeError, OSError) as error:
        return False, f"{error}; --alpha 1 works without"
    where = "from a server on this machine" if isinstance(model, Served) else "on this machine"
    english = ", English" if model.name.startswith("all-MiniLM") else ""
    return True, f"{model.name}, {model.dimension} dimensions{english}, {where}"


def _index() -> Check:
    try:
        import tantivy  # noqa: F401
    except ImportError as error:
        return False, f"{error}; install suffice again"
    return True, f"tantivy {version('tantivy')}"


def _folder(path: Path, otherwise: str) -> Check:
    existing = next(parent for parent in (path, *path.parents) if parent.exists())
    if os.access(existing, os.W_OK) and existing.is_dir():
        return True, str(path)
    return False, f"{path} cannot be written: {otherwise}; set SUFFICE_CACHE_DIR to a folder that can"


def _web(config: settings.Settings) -> Check:
    """What --web would ask, and whether it is there at all; nothing is searched for, so nothing is spent."""
    from suffice.search.web.choose import KEYLESS, configured

    if config.offline:
        return True, "SUFFICE_OFFLINE is set: the web is not searched"
    try:
        heard = {provider: _reachable(provider.url) for provider in configured(config)}
    except SufficeError as error:
        return False, str(error)
    others = [name for name in plugins.names("providers") if name not in {one.name for one in heard}]
    more = f"--provider also knows {', '.join(others)}; docs/web.md names their keys"
    if not heard:
        return True, f"nothing is configured: --web asks {KEYLESS}, which needs no key; {more}"
    words = (f"{one.name} ({one.address}) {'is there' if here else 'cannot be reached'}" for one, here in heard.items())
    return any(heard.values()), f"{'; '.join(words)}; {more}"


def _reachable(url: str) -> bool:
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or (80 if parts.scheme == "http" else 443)), 2):
            return True
    except OSError:
        return False


def _bounds(config: settings.Settings) -> str:
    chosen = {
        name: value
        for name in ("rounds", "queries", "sources", "seconds", "tokens", "usd")
        if (value := getattr(config.bounds, name)) is not None
    }
    return ", ".join(f"{name} {value:g}" for name, value in chosen.items()) or "the tier's own"


def _parts() -> str:
    return "; ".join(f"{seam}: {', '.join(plugins.names(seam))}" for seam in ("strategies", "memories", "gates"))
