"""Embeddings from any server with OpenAI's ``/embeddings``: a cloud provider, Ollama, vLLM, llama.cpp.

Every response is checked before its vectors are used: one vector for each text, all of one length, all finite numbers. This
module does not choose a server and stores nothing on disk.
"""

import threading
from collections.abc import Callable, Sequence
from itertools import count
from time import sleep
from typing import Any

import httpx2
import msgspec
import numpy as np
from numpy.typing import NDArray

from suffice.errors import ModelError
from suffice.models.embeddings.base import normalize_rows
from suffice.models.retry import RETRYABLE_STATUSES, CallError, get_retry_delay, parse_retry_after

_BATCH_SIZE = 64
# Value of the source system, see docs/sources.md. Passages are far shorter; text pasted into a task may not be.
_MAX_TEXT_CHARS = 8191
_MAX_RESPONSE_BYTES = 64 * 2**20  # 64 vectors of 4,096 numbers take 5 MB as text.
_TIMEOUT = 60.0
_SETTINGS_HINT = "check SUFFICE_EMBEDDINGS, or unset it to embed on this machine"


class RemoteEmbedder:
    """Embeds texts on a server. ``base_url`` ends before ``/embeddings``. Thread-safe."""

    is_remote = True

    def __init__(
        self,
        model: str,
        base_url: str,
        key: str | None = None,
        *,
        local: bool = True,
        notify: Callable[[str], None] = lambda message: None,
    ) -> None:
        self.name = f"{model}@{base_url}"
        self._model = model
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._local = local
        self._notify = notify
        self._lock = threading.Lock()
        self._client: httpx2.Client | None = None
        self._dimension: int | None = None

    @property
    def dimension(self) -> int:
        if self._dimension is None:
            self.embed(["dimension"])
        assert self._dimension is not None
        return self._dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        # Some servers reject an empty text, so a space is sent instead.
        cleaned = [text[:_MAX_TEXT_CHARS].encode("utf-8", "replace").decode() or " " for text in texts]
        batches = [cleaned[start : start + _BATCH_SIZE] for start in range(0, len(cleaned), _BATCH_SIZE)]
        vectors = [self._embed_batch(batch) for batch in batches]
        return np.concatenate(vectors) if vectors else np.zeros((0, self.dimension), np.float32)

    def _embed_batch(self, texts: list[str]) -> NDArray[np.float32]:
        for attempt in count(1):
            try:
                response = self._send({"model": self._model, "input": texts, "encoding_format": "float"})
                return self._parse_vectors(response, texts)
            except CallError as error:
                delay = get_retry_delay(error, attempt)
                if delay is None:
                    tried = "after 1 attempt" if attempt == 1 else f"after {attempt} attempts"
                    raise ModelError(f"{error}, {tried}; {_SETTINGS_HINT}", retryable=True) from error
                self._notify(f"{error}; trying again in {delay:.0f} s.")
            sleep(delay)
        raise AssertionError("the last attempt returns or raises")

    def _send(self, body: dict[str, Any]) -> bytes:
        try:
            with self._get_client().stream("POST", self._url, json=body, headers=self._headers) as response:
                content = _read_limited(response)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise CallError(
                f"The embeddings server {self._url} does not answer ({error or type(error).__name__})", retryable=True
            ) from error
        if response.status_code in RETRYABLE_STATUSES:
            raise CallError(
                f"The embeddings server {self._url} answered {response.status_code}",
                retryable=True,
                retry_after=parse_retry_after(response.headers.get("retry-after")),
            )
        if response.status_code != 200:
            reason = " ".join(content[:300].decode("utf-8", "replace").split())
            raise ModelError(
                f"The embeddings server {self._url} refused {self._model} ({response.status_code}: {reason}); {_SETTINGS_HINT}"
            )
        return content

    def _parse_vectors(self, content: bytes, texts: list[str]) -> NDArray[np.float32]:
        try:
            # Servers may send the vectors in any order.
            items = sorted(msgspec.json.decode(content)["data"], key=lambda item: item["index"])
            if [item["index"] for item in items] != list(range(len(texts))):
                raise ValueError(f"{len(items)} vectors for {len(texts)} texts")
            rows = np.array([item["embedding"] for item in items], np.float64).reshape(len(texts), -1)
            vectors = normalize_rows(rows)
        except (msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError, ValueError) as error:
            raise CallError(
                f"The embeddings server {self._url} sent an unusable response ({error})", retryable=True
            ) from error
        with self._lock:
            expected = self._dimension = self._dimension or vectors.shape[1]
        if vectors.shape[1] != expected:
            raise ModelError(
                f"The embeddings server {self._url} sent vectors of {vectors.shape[1]} numbers after {expected}: its model "
                "has changed; start again to embed everything with the new model"
            )
        return vectors

    def _get_client(self) -> httpx2.Client:
        with self._lock:
            if self._client is None:
                # A proxy from the environment is not used for a server on this machine.
                self._client = httpx2.Client(timeout=_TIMEOUT, trust_env=not self._local)
            return self._client


def _read_limited(response: httpx2.Response) -> bytes:
    content = b""
    for piece in response.iter_bytes():
        content += piece
        if len(content) > _MAX_RESPONSE_BYTES:
            raise CallError(
                f"The embeddings server {response.url} sent more than {_MAX_RESPONSE_BYTES:,} bytes", retryable=True
            )
    return content
