"""Choose the embedding model: MiniLM on this machine, unless ``SUFFICE_EMBEDDINGS`` names another as ``PROVIDER:NAME``."""

from collections.abc import Callable

from suffice.errors import InputError
from suffice.models.embeddings.base import Embedder
from suffice.models.embeddings.minilm import get_minilm
from suffice.models.llm.endpoint import DEFAULT_URLS, is_local, resolve_base_url
from suffice.settings import KEY_VARIABLES, Settings

# Providers with OpenAI's ``/embeddings``.
REMOTE_PROVIDERS = ("openai", "openrouter", "ollama")


def choose_embedder(config: Settings, notify: Callable[[str], None]) -> Embedder:
    """Return the configured model. A model that runs in this process is loaded once and shared by all callers.

    Raises ``InputError`` if the model would send passages off this machine although ``SUFFICE_OFFLINE`` is set; otherwise
    ``notify`` receives where they are sent.
    """
    spec = config.models.embeddings
    if spec is None or spec == "minilm":
        return get_minilm()
    provider, _, name = spec.partition(":")
    if not name or provider not in REMOTE_PROVIDERS:
        raise InputError(
            f"SUFFICE_EMBEDDINGS={spec!r} is not known; write minilm, or PROVIDER:NAME with one of: "
            f"{', '.join(REMOTE_PROVIDERS)}"
        )
    from suffice.models.embeddings.remote import RemoteEmbedder

    url, key = resolve_base_url(provider, config.models), config.models.keys.get(provider)
    if not is_local(url):
        if config.offline:
            raise InputError(
                f"SUFFICE_OFFLINE is set and the embeddings of {spec} at {url} are not computed on this machine; "
                "unset one of SUFFICE_OFFLINE and SUFFICE_EMBEDDINGS"
            )
        if key is None and url == DEFAULT_URLS[provider]:
            raise InputError(f"SUFFICE_EMBEDDINGS={spec} needs a key; set {KEY_VARIABLES[provider][0]}")
        notify(f"Passages go to {spec} at {url} for their embeddings; unset SUFFICE_EMBEDDINGS to keep them here.")
    return RemoteEmbedder(name, url, key, local=is_local(url), notify=notify)
