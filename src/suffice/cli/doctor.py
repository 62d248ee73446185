"""``suffice doctor``: show what is configured, whether it works, and how to fix what does not."""

import os
from pathlib import Path

from suffice import settings
from suffice.errors import SufficeError, describe_install

_CheckResult = tuple[bool, str]
"""Whether something works, and what to say about it."""

# Questions can be answered if one of these fails. (Whether the models suffice is decided by _check_models.)
_OPTIONAL_CHECKS = ("model", "cache", "web")


def doctor() -> int:
    """Show what is configured and whether it works.

    The exit status is 0 if a question can be answered, else 4. Nothing is searched and no model is asked.
    """
    import platform
    from importlib.metadata import version

    from suffice import __version__
    from suffice.plugins import list_plugins

    config = settings.load()
    can_answer, models = _check_models(config)
    limits = ", ".join(f"{name} {value:g}" for name, value in config.bounds.known.items())
    groups = ("strategies", "memories", "gates", "searches")
    plugins = "; ".join(f"{group}: {', '.join(list_plugins(group))}" for group in groups)
    checks = [
        ("suffice", (True, f"{__version__} on Python {platform.python_version()}")),
        *(("model", model) for model in models),
        ("embeddings", _check_embeddings(config)),
        ("index", (True, f"tantivy {version('tantivy')}")),
        ("files", _check_files()),
        ("cache", _check_cache(config.cache_dir)),
        ("web", _check_web(config)),
        ("limits", (True, limits or "set by --tier")),
        ("plug-ins", (True, plugins)),
    ]
    for name, (works, text) in checks:
        can_answer = can_answer and (works or name in _OPTIONAL_CHECKS)
        print(f"{'ok  ' if works else 'FAIL'} {name:11} {text}")
    return 0 if can_answer else 4


def _check_models(config: settings.Settings) -> tuple[bool, list[_CheckResult]]:
    """Check the models a question would use, and whether they suffice. Local servers are asked what they have loaded."""
    from suffice.models.choose import check_all_models, choose_model

    notices: list[str] = []
    try:
        suffices, models = check_all_models(choose_model(None, config, notices.append)(None))
    except SufficeError as error:
        setting = f"SUFFICE_MODEL={config.model}: " if config.model else ""
        return False, [(False, f"{setting}{error}")]
    return suffices, [*models, *((True, notice) for notice in notices)]


def _check_embeddings(config: settings.Settings) -> _CheckResult:
    """Embed a word. A server on another machine is named but not called."""
    from suffice.models.embeddings.choose import choose_embedder
    from suffice.models.embeddings.remote import RemoteEmbedder

    try:
        notices: list[str] = []
        model = choose_embedder(config, notices.append)
        if notices:
            return True, f"{config.models.embeddings}; {notices[0]}"
        model.embed(["a word"])
    except (SufficeError, OSError) as error:
        return False, f"{error}; --alpha 1 searches without embeddings"
    where = "from a server on this machine" if isinstance(model, RemoteEmbedder) else "on this machine"
    language = ", English" if getattr(model, "is_english_only", False) else ""
    return True, f"{model.name}, {model.dimension} dimensions{language}, {where}"


def _check_files() -> _CheckResult:
    """Read a small text in a child process, as all files are read."""
    from suffice.search.files import ocr
    from suffice.search.files.isolated import read_isolated_text

    try:
        read_isolated_text("text", "text", lambda: None)
    except SufficeError as error:
        return False, str(error)
    scanned = "with OCR" if ocr.is_installed() else f"scanned pages need: {describe_install('ocr')}"
    return (
        True,
        "text, Markdown, HTML, code, PDF, Word, PowerPoint, Excel, OpenDocument, RTF, EPUB, e-mail, notebooks, CSV, JSON,"
        f" JSONL, and .gz of these ({scanned})",
    )


def _check_cache(folder: Path) -> _CheckResult:
    existing = next(parent for parent in (folder, *folder.parents) if parent.exists())
    if os.access(existing, os.W_OK) and existing.is_dir():
        return True, str(folder)
    return (
        False,
        f"{folder} cannot be written, so every question indexes its documents again; "
        "set SUFFICE_CACHE_DIR to a writable folder",
    )


def _check_web(config: settings.Settings) -> _CheckResult:
    """Check whether the services that --web uses can be reached. Nothing is searched, so nothing is spent."""
    from suffice.models.servers import is_listening
    from suffice.plugins import list_plugins
    from suffice.search.web.choose import KEYLESS_PROVIDER, find_configured

    if config.offline:
        return True, "off, because SUFFICE_OFFLINE is set"
    try:
        reachable = {provider: is_listening(provider.url, timeout=2) for provider in find_configured(config)}
    except SufficeError as error:
        return False, str(error)
    configured = {provider.name for provider in reachable} or {KEYLESS_PROVIDER}
    others = [name for name in list_plugins("providers") if name not in configured]
    lacking = [name for name in others if _lacks_setting(name, config)]
    more = f"also available with --provider: {', '.join(name for name in others if name not in lacking)}"
    if lacking:
        more += f"; not set up: {', '.join(lacking)} (docs/web.md lists the key or address they need)"
    if not reachable:
        return True, f"no service is configured, so --web uses {KEYLESS_PROVIDER}, without a key; {more}"
    states = (
        f"{provider.name} ({provider.address}) {'can' if is_reachable else 'cannot'} be reached"
        for provider, is_reachable in reachable.items()
    )
    return (any(reachable.values()), f"{'; '.join(states)}; {more}")


def _lacks_setting(provider: str, config: settings.Settings) -> bool:
    """Whether a search service needs a key or an address that is not set."""
    from suffice.plugins import load_plugin
    from suffice.search.web.provider import ProviderNotConfigured

    try:
        load_plugin("providers", provider)(config)
    except SufficeError as error:  # Another mistake is reported when the service is used.
        return isinstance(error, ProviderNotConfigured)
    return False
