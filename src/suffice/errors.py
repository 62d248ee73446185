"""The errors that suffice raises, split by who must act.

    Exception
    ├── SufficeError                base of all errors below                                        exit code 1
    │   ├── InputError              the user must act: wrong usage or unusable input                exit code 2
    │   └── Unavailable             the operator must act: an outside service does not work         exit code 4
    │       ├── SearchError         a search failed
    │       │   └── SearchRefused   the search service refused: wrong key, used-up plan, too many requests
    │       ├── PageError           a web page could not be read
    │       │   └── PageRefused     a web page may not be read: private address or the site's robots.txt
    │       └── ModelError          a model failed to answer
    │           ├── BudgetSpent         a model was not asked, because the run's tokens or money are used up
    │           ├── ModelUnusable       a model cannot be used at all: dead server, refused key, unknown name
    │           ├── ModelDeclined       a model answered that it will not answer, or with nothing
    │           └── ModelOutputError    a model answered in a form that cannot be parsed
    └── TimeoutError
        └── CutOff                  no action needed: a resumed run repeats a timeout of its own time limit

Subclasses for one part live beside it, such as ``search.web.provider.ProviderNotConfigured``. The command line catches
``SufficeError`` and exits with its ``exit_code``. An error message is one sentence that says what is wrong and, if
possible, how to fix it. The class names are stored in traces and in the database, so they stay.
"""

import re

from suffice.types import Failure, Usage

_URL_PASSWORD = re.compile(r"(?<=://)[^\s/@'\"]*:[^\s/@]*@|(?<=://)[^\s/@'\":]+@")
EXIT_INTERRUPTED = 130  # The exit code after Ctrl-C, which is not an error.


class SufficeError(Exception):
    """Base class of all errors that suffice raises on purpose. Its message contains no password of a URL."""

    exit_code = 1

    def __init__(self, message: str = "") -> None:
        super().__init__(hide_passwords(message))


class InputError(SufficeError):
    """The user's input cannot be used as it is."""

    exit_code = 2


class Unavailable(SufficeError):
    """An outside service does not work. ``attempt`` is the number of the attempt that failed."""

    exit_code = 4

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.attempt = 1


class SearchError(Unavailable):
    """A search failed, which is different from finding nothing."""


class SearchRefused(SearchError):
    """A search service refused the request. ``retry_after`` is the number of seconds to wait, if the service names one."""

    def __init__(self, message: str, *, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message, retryable=retryable)
        self.retry_after = retry_after


class PageError(Unavailable):
    """A web page could not be read."""


class PageRefused(PageError):
    """A web page may not be read."""


class ModelError(Unavailable):
    """A model failed to answer. ``failures`` are the failed attempts, ``usage`` is what they cost."""

    def __init__(
        self, message: str, *, retryable: bool = False, usage: Usage = Usage(), failures: tuple[Failure, ...] = ()
    ) -> None:
        super().__init__(message, retryable=retryable)
        self.usage = usage
        self.failures = failures


class BudgetSpent(ModelError):
    """A model was not asked, because the run has used up its tokens or its money."""


class ModelUnusable(ModelError):
    """A model cannot be used because its address, key or name is wrong. The run ends at once."""


class ModelDeclined(ModelError):
    """A model will not answer: it says so, its provider filters what it writes, or it writes nothing."""


class ModelOutputError(ModelError):
    """A model answered in a form that cannot be parsed."""


class CutOff(TimeoutError):
    """The run's own time limit ended this call before a crash; the resumed run treats it as a timeout again."""


def hide_passwords(text: str) -> str:
    """Return the text with the user name and password of every URL replaced.

    >>> hide_passwords("http://ann:secret@example.org/ and https://token@example.org do not answer")
    'http://…@example.org/ and https://…@example.org do not answer'
    """
    return _URL_PASSWORD.sub("…@", text)


def describe_install(extra: str) -> str:
    """Return the command that adds an extra of suffice, from the clone or the wheel that this installation came from."""
    import json
    from importlib.metadata import distribution

    source = json.loads(distribution("suffice").read_text("direct_url.json") or "{}").get("url")
    return f"pip install 'suffice[{extra}]{f' @ {source}' if source else ''}'"
