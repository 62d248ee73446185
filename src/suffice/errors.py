"""The error tree, split by who must act.

    SufficeError
    ├── InputError            the user: wrong usage or unusable input (exit 2)
    └── Unavailable           the operator: something outside does not answer (exit 4)
        ├── SearchError       a search failed
        │   └── SearchRefused      it answered, but said no: a wrong key, a used-up plan, too many questions
        ├── PageError         a page could not be read
        │   └── PageRefused   a page may not be read: the guard or the site's own rules say so
        └── ModelError        a model failed
            └── ModelOutputError   a model answered, but not in the shape that was asked for

Every error is one sentence that says what is wrong and, where somebody can mend it, how.
"""

from suffice.types import Failure, Usage


class SufficeError(Exception):
    """Base of all errors that suffice raises on purpose."""

    exit_code = 1


class InputError(SufficeError):
    """The user's input cannot be used as it is."""

    exit_code = 2


class Unavailable(SufficeError):
    """Something outside this program does not answer."""

    exit_code = 4

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        super().__init__(message)
        self.retryable = retryable
        self.attempt = 1


class SearchError(Unavailable):
    """A search failed; that is not the same as finding nothing."""


class SearchRefused(SearchError):
    """A search service said no. ``retry_after`` is how many seconds it asked to be left alone, if it did."""

    def __init__(self, message: str, *, retryable: bool = False, retry_after: float | None = None) -> None:
        super().__init__(message, retryable=retryable)
        self.retry_after = retry_after


class PageError(Unavailable):
    """A web page could not be read."""


class PageRefused(PageError):
    """A web page may not be read."""


class ModelError(Unavailable):
    """A model failed to answer. What was tried on the way is in ``failures``, and what it cost all the same in ``usage``."""

    def __init__(
        self, message: str, *, retryable: bool = False, usage: Usage = Usage(), failures: tuple[Failure, ...] = ()
    ) -> None:
        super().__init__(message, retryable=retryable)
        self.usage = usage
        self.failures = failures


class ModelOutputError(ModelError):
    """A model answered in a shape that cannot be read."""


class CutOff(TimeoutError):
    """A call that the run's own time limit ended when the run was first gone through, before a crash; no failure of anybody."""


EXIT_INTERRUPTED = 130  # The exit status after Ctrl-C; an interruption is no error.
