"""``suffice keys``: who may use the service."""

from datetime import UTC, datetime

from suffice import settings
from suffice.doors.terminal import Terminal
from suffice.jobs import database
from suffice.jobs.keys import Allowance, Keys


def create(name: str, allowance: Allowance) -> int:
    key, secret = _keys().create(name, allowance)
    terminal = Terminal(quiet=False)
    terminal.say(
        f"Key {key.id} for {key.name}. Keep it now, it is not shown again; clients read it from SUFFICE_API_KEY."
    )
    terminal.say("A service that was started without keys asks for them when it is started again.")
    print(secret)
    return 0


def listed() -> int:
    for key in _keys().all():
        made = datetime.fromtimestamp(key.created, UTC).date()
        allowed = f"{key.allowance.active} at once, {key.allowance.per_minute} a minute"
        if key.allowance.max_cost is not None:
            allowed += f", ${key.allowance.max_cost:g} a run"
        print(f"{key.id}  {made}  {'revoked' if key.revoked else allowed}  {key.name}")
    return 0


def revoke(id: str) -> int:
    key = _keys().revoke(id)
    Terminal(quiet=False).say(f"Key {key.id} ({key.name}) is refused from now on.")
    return 0


def _keys() -> Keys:
    config = settings.load()
    return Keys(database.connect(database.address(config.database_url, config.data_dir)))
