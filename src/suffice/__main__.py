"""``python -m suffice`` is the same program as ``suffice``."""

import os
import signal


def main() -> None:
    """Ctrl-C during the imports ends with 130 too, without a traceback."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from suffice.doors import cli

    signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


if __name__ == "__main__":
    main()
