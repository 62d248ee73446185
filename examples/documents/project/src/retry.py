"""Call a function again when it fails."""

import time

MAX_TRIES = 4
DEFAULT_TIMEOUT = 20.0  # Seconds that one try may take.


def retry(call, tries=MAX_TRIES, pause=0.5):
    """Call a function until it succeeds, at most four times, with a pause of half a second that doubles after each try.

    Only ``OSError`` is tried again. The last error is raised.
    """
    for number in range(1, tries + 1):
        try:
            return call()
        except OSError:
            if number == tries:
                raise
            time.sleep(pause)
            pause *= 2
