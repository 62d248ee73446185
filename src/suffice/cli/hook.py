"""``suffice guard hook``. It runs after every tool call of an agent, so it is started without the other commands."""

import json
import sys

from suffice.cli.output import print_error
from suffice.guard import MAX_EVENT_BYTES, get_state_folder, watch_event


def run_hook() -> int:
    """Watch the event on standard input; print advice as the clients expect it, if there is some."""
    try:
        advice = watch_event(sys.stdin.buffer.read(MAX_EVENT_BYTES + 1), get_state_folder())
    except Exception as error:  # Whatever is wrong here is no reason to disturb the agent.
        return print_error(f"guard: {error}", 0)
    if advice:
        print(json.dumps({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": advice}}))
    return 0
