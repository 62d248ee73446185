"""``python -m suffice`` is the same program as ``suffice``."""

from suffice.doors.cli import main

main()
