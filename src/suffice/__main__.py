"""``python -m suffice``: the same program as ``suffice``."""

import os
import signal
import sys

if sys.version_info < (3, 11):  # noqa: UP036 - a clone can be run by any Python
    sys.exit("suffice needs Python 3.11 or newer; this is Python " + sys.version.split()[0])


def main() -> None:
    """Start the program. Ctrl-C while modules are imported also exits with status 130 and no traceback."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    if sys.argv[1:] == ["guard", "hook"]:
        from suffice.cli.hook import run_hook

        sys.exit(run_hook())
    from suffice.cli import app

    signal.signal(signal.SIGINT, signal.default_int_handler)
    app.main()


if __name__ == "__main__":
    main()
