"""``python -m suffice`` is the same program as ``suffice``."""

import os
import signal


def main() -> None:
    """Ctrl-C during the imports ends with 130 too, without a traceback."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from suffice.cli import app

    signal.signal(signal.SIGINT, signal.default_int_handler)
    app.main()


if __name__ == "__main__":
    main()
