"""Embeddings from any server that speaks OpenAI's ``/embeddings``: a cloud, Ollama, vLLM, llama.cpp.

What a server sends is checked before it counts as a vector: as many as were asked for, one length, real numbers. This module
does not choose a server and keeps nothing on disk.
"""

import threading
import time
from collections.abc import Callable, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

from suffice.errors import ModelError
from suffice.models.embeddings.base import normalize_rows

if TYPE_CHECKING:
    import httpx2
    import numpy as np
    from numpy.typing import NDArray

_BATCH_SIZE = 64
_MAX_TEXT_CHARS = 8191  # Of a text (S5). A passage is far shorter; what is pasted into a task may not be.
_MAX_RESPONSE_BYTES = 64 * 2**20  # Of an answer: 64 vectors of 4,096 numbers take 5 MB as text.
_TIMEOUT = 60.0
_MAX_ATTEMPTS = 3
_MAX_BACKOFF = 10.0
_MAX_RETRY_AFTER = 60.0
_RETRYABLE_STATUSES = (408, 409, 425, 429, 500, 502, 503, 504)


class RemoteEmbedder:
    """``base_url`` ends before ``/embeddings``. ``sleep`` and ``random`` are for tests. Thread-safe."""

    is_remote = True

    def __init__(
        self,
        model: str,
        base_url: str,
        key: str | None = None,
        *,
        local: bool = True,
        notify: Callable[[str], None] = lambda message: None,
        sleep: Callable[[float], None] = time.sleep,
        random: Random | None = None,
    ) -> None:
        self.name = f"{model}@{base_url}"
        self._model = model
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._local = local
        self._notify = notify
        self._sleep = sleep
        self._random = random or Random()
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None
        self._dimension: int | None = None

    @property
    def dimension(self) -> int:
        if self._dimension is None:
            self.embed(["dimension"])
        assert self._dimension is not None
        return self._dimension

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        import numpy as np

        # A server may refuse an empty text; a space says as little.
        shortened = [text[:_MAX_TEXT_CHARS].encode("utf-8", "replace").decode() or " " for text in texts]
        parts = [
            self._embed_batch(shortened[start : start + _BATCH_SIZE]) for start in range(0, len(shortened), _BATCH_SIZE)
        ]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimension), np.float32)

    def _embed_batch(self, texts: list[str]) -> "NDArray[np.float32]":
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            try:
                return self._parse_vectors(
                    self._send({"model": self._model, "input": texts, "encoding_format": "float"}), texts
                )
            except _TransientError as error:
                if attempt == _MAX_ATTEMPTS:
                    raise ModelError(
                        f"{error}, after {_MAX_ATTEMPTS} attempts; {_SETTINGS_HINT}", retryable=True
                    ) from error
                wait = min(2**attempt + self._random.random(), _MAX_BACKOFF)
                wait = min(max(wait, error.retry_after), _MAX_RETRY_AFTER)
                self._notify(f"{error}; trying again in {wait:.0f} s.")
                self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _send(self, body: dict[str, Any]) -> bytes:
        import httpx2

        try:
            with self._get_client().stream("POST", self._url, json=body, headers=self._headers) as response:
                answer = _read_limited(response)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _TransientError(
                f"The embeddings server {self._url} does not answer ({error or type(error).__name__})"
            ) from error
        if response.status_code in _RETRYABLE_STATUSES:
            raise _TransientError(
                f"The embeddings server {self._url} answered {response.status_code}",
                _parse_retry_after(response.headers.get("Retry-After", "")),
            )
        if response.status_code != 200:
            said = " ".join(answer[:300].decode("utf-8", "replace").split())
            raise ModelError(
                f"The embeddings server {self._url} refused {self._model} ({response.status_code}: {said}); {_SETTINGS_HINT}"
            )
        return answer

    def _parse_vectors(self, answer: bytes, texts: list[str]) -> "NDArray[np.float32]":
        import msgspec
        import numpy as np

        try:
            # Servers may send the vectors in any order.
            items = sorted(msgspec.json.decode(answer)["data"], key=lambda item: item["index"])
            if [item["index"] for item in items] != list(range(len(texts))):
                raise ValueError(f"{len(items)} vectors for {len(texts)} texts")
            vectors = normalize_rows(
                np.array([item["embedding"] for item in items], np.float64).reshape(len(texts), -1)
            )
        except (msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError, ValueError) as error:
            raise _TransientError(f"The embeddings server {self._url} sent what cannot be used ({error})") from error
        with self._lock:
            known = self._dimension = self._dimension or vectors.shape[1]
        if vectors.shape[1] != known:
            raise ModelError(
                f"The embeddings server {self._url} sent vectors of {vectors.shape[1]} numbers after {known}; "
                "its model has changed: start again, and its vectors are made anew"
            )
        return vectors

    def _get_client(self) -> "httpx2.Client":
        import httpx2

        with self._lock:
            if self._client is None:
                # A proxy from the environment is for the world outside, never for this machine.
                self._client = httpx2.Client(timeout=_TIMEOUT, trust_env=not self._local)
            return self._client


_SETTINGS_HINT = "check SUFFICE_EMBEDDINGS, or unset it to embed on this machine"


class _TransientError(Exception):
    """A fault that may have passed by the next attempt; ``wait`` seconds is what the server asked for."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.retry_after = wait


def _read_limited(response: "httpx2.Response") -> bytes:
    answer = b""
    for piece in response.iter_bytes():
        answer += piece
        if len(answer) > _MAX_RESPONSE_BYTES:
            raise _TransientError(f"The embeddings server {response.url} sent more than {_MAX_RESPONSE_BYTES:,} bytes")
    return answer


def _parse_retry_after(header: str) -> float:
    """``Retry-After`` in seconds; 0 without one. A date is not worth a parser: our own wait will do."""
    try:
        return max(0.0, float(header))
    except ValueError:
        return 0.0
