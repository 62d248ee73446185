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
from suffice.models.embeddings.base import unit

if TYPE_CHECKING:
    import httpx2
    import numpy as np
    from numpy.typing import NDArray

_BATCH = 64
_MOST_CHARACTERS = 8191  # Of a text (S5). A passage is far shorter; what is pasted into a task may not be.
_MOST_BYTES = 64 * 2**20  # Of an answer: 64 vectors of 4,096 numbers take 5 MB as text.
_TIMEOUT = 60.0
_ATTEMPTS = 3
_LONGEST_WAIT = 10.0
_LONGEST_ASKED_WAIT = 60.0
_PASSING = (408, 409, 425, 429, 500, 502, 503, 504)


class Served:
    """``base_url`` ends before ``/embeddings``. ``sleep`` and ``random`` are for tests. Thread-safe."""

    served = True

    def __init__(
        self,
        model: str,
        base_url: str,
        key: str | None = None,
        *,
        local: bool = True,
        say: Callable[[str], None] = lambda message: None,
        sleep: Callable[[float], None] = time.sleep,
        random: Random | None = None,
    ) -> None:
        self.name = f"{model}@{base_url}"
        self._model = model
        self._url = f"{base_url.rstrip('/')}/embeddings"
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._local = local
        self._say = say
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
        shortened = [text[:_MOST_CHARACTERS].encode("utf-8", "replace").decode() or " " for text in texts]
        parts = [self._batch(shortened[start : start + _BATCH]) for start in range(0, len(shortened), _BATCH)]
        return np.concatenate(parts) if parts else np.zeros((0, self.dimension), np.float32)

    def _batch(self, texts: list[str]) -> "NDArray[np.float32]":
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._read(self._send({"model": self._model, "input": texts, "encoding_format": "float"}), texts)
            except _Passing as error:
                if attempt == _ATTEMPTS:
                    raise ModelError(f"{error}, after {_ATTEMPTS} attempts; {_OTHERWISE}", retryable=True) from error
                wait = min(2**attempt + self._random.random(), _LONGEST_WAIT)
                wait = min(max(wait, error.wait), _LONGEST_ASKED_WAIT)
                self._say(f"{error}; trying again in {wait:.0f} s.")
                self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _send(self, body: dict[str, Any]) -> bytes:
        import httpx2

        try:
            with self._connected().stream("POST", self._url, json=body, headers=self._headers) as response:
                answer = _limited(response)
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            raise _Passing(
                f"The embeddings server {self._url} does not answer ({error or type(error).__name__})"
            ) from error
        if response.status_code in _PASSING:
            raise _Passing(
                f"The embeddings server {self._url} answered {response.status_code}",
                _asked_wait(response.headers.get("Retry-After", "")),
            )
        if response.status_code != 200:
            said = " ".join(answer[:300].decode("utf-8", "replace").split())
            raise ModelError(
                f"The embeddings server {self._url} refused {self._model} ({response.status_code}: {said}); {_OTHERWISE}"
            )
        return answer

    def _read(self, answer: bytes, texts: list[str]) -> "NDArray[np.float32]":
        import msgspec
        import numpy as np

        try:
            # Servers may send the vectors in any order.
            items = sorted(msgspec.json.decode(answer)["data"], key=lambda item: item["index"])
            if [item["index"] for item in items] != list(range(len(texts))):
                raise ValueError(f"{len(items)} vectors for {len(texts)} texts")
            vectors = unit(np.array([item["embedding"] for item in items], np.float64).reshape(len(texts), -1))
        except (msgspec.DecodeError, UnicodeDecodeError, LookupError, TypeError, ValueError) as error:
            raise _Passing(f"The embeddings server {self._url} sent what cannot be used ({error})") from error
        with self._lock:
            known = self._dimension = self._dimension or vectors.shape[1]
        if vectors.shape[1] != known:
            raise ModelError(
                f"The embeddings server {self._url} sent vectors of {vectors.shape[1]} numbers after {known}; "
                "its model has changed: start again, and its vectors are made anew"
            )
        return vectors

    def _connected(self) -> "httpx2.Client":
        import httpx2

        with self._lock:
            if self._client is None:
                # A proxy from the environment is for the world outside, never for this machine.
                self._client = httpx2.Client(timeout=_TIMEOUT, trust_env=not self._local)
            return self._client


_OTHERWISE = "check SUFFICE_EMBEDDINGS, or unset it to embed on this machine"


class _Passing(Exception):
    """A fault that may have passed by the next attempt; ``wait`` seconds is what the server asked for."""

    def __init__(self, message: str, wait: float = 0.0) -> None:
        super().__init__(message)
        self.wait = wait


def _limited(response: "httpx2.Response") -> bytes:
    answer = b""
    for piece in response.iter_bytes():
        answer += piece
        if len(answer) > _MOST_BYTES:
            raise _Passing(f"The embeddings server {response.url} sent more than {_MOST_BYTES:,} bytes")
    return answer


def _asked_wait(header: str) -> float:
    """``Retry-After`` in seconds; 0 without one. A date is not worth a parser: our own wait will do."""
    try:
        return max(0.0, float(header))
    except ValueError:
        return 0.0
