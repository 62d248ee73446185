"""What the pool and its child processes send each other: jobs, their limits and their outcomes, as MessagePack frames."""

from typing import Any, Literal

import msgspec

HEADER_BYTES = 8  # The length of a frame, before it.
OutcomeKind = Literal["done", "error", "bug", "memory", "output"]
FailureKind = Literal["time", "memory", "output", "crash", "bug"]


class Limits(msgspec.Struct, array_like=True, frozen=True):
    """What one job may use. ``memory_bytes`` counts address space, of which an idle child has 110 to 150 MB."""

    memory_bytes: int
    cpu_seconds: int
    seconds: float
    output_bytes: int


class IsolatedJob(msgspec.Struct, array_like=True, frozen=True):
    """A call of ``function`` (``package.module:name``) with arguments that MessagePack can encode.

    A child may have been started in another folder than the present one: ``folder`` is that of relative paths.
    """

    function: str
    args: tuple[Any, ...]
    limits: Limits
    folder: str = ""


class Outcome(msgspec.Struct, array_like=True, frozen=True):
    """The child's answer: the encoded result, or an error with its class (``package.module:name``) and message."""

    kind: OutcomeKind
    result: msgspec.Raw = msgspec.Raw(b"\xc0")
    error: str = ""
    message: str = ""


class JobFailed(Exception):
    """A job that reached a limit, crashed its process, or hit a bug. The message continues a sentence about the input."""

    def __init__(self, kind: FailureKind, message: str, cpu_seconds: int = 0) -> None:
        super().__init__(message)
        self.kind, self.cpu_seconds = kind, cpu_seconds  # The seconds that it might use at most.

    @classmethod
    def from_limit(cls, kind: Literal["time", "memory", "output"], limits: Limits) -> "JobFailed":
        messages = {
            "time": f"takes longer than {limits.cpu_seconds} s to parse",
            "memory": f"needs more than {limits.memory_bytes >> 20} MB of memory to parse",
            "output": f"expands to more than {limits.output_bytes >> 20} MB of text",
        }
        return cls(kind, messages[kind], limits.cpu_seconds)


def frame(body: bytes) -> bytes:
    """Return the body with its length before it."""
    return len(body).to_bytes(HEADER_BYTES, "big") + body
