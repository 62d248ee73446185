"""Functions that tests run in a child process: harmless ones and ones that reach each limit."""

import os
import sys
import time

from suffice.errors import PageError


def add(left: int, right: int) -> int:
    return left + right


def get_pid() -> int:
    return os.getpid()


def print_and_return(text: str) -> str:
    print(text)
    sys.stderr.write(text)
    os.write(1, text.encode())
    return text


def list_variables() -> list[str]:
    return sorted(os.environ)


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


def burn() -> None:
    while True:
        pass


def burn_in_c() -> None:
    """Work in C code that holds the GIL and looks at no signal handler."""
    sum(range(10**12))


def allocate(megabytes: int) -> int:
    return len(bytearray(megabytes << 20))


_kept = []


def keep(megabytes: int) -> int:
    """Allocate memory that is never given back."""
    _kept.append(bytearray(megabytes << 20))
    return os.getpid()


def repeat(text: str, times: int) -> str:
    return text * times


def crash() -> None:
    os.abort()


def leave() -> None:
    os._exit(0)


def refuse(message: str) -> None:
    raise PageError(message)


def fail(message: str) -> None:
    raise ValueError(message)
