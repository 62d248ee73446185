"""``suffice keys``: who may use the service."""

from datetime import UTC, datetime

from suffice import settings
from suffice.cli.terminal import Terminal
from suffice.jobs import database
from suffice.jobs.api_keys import ApiKeyStore, Quota


def create_key(name: str, allowance: Quota) -> int:
    key, secret = _open_key_store().create(name, allowance)
    terminal = Terminal(quiet=False)
    terminal.say(
        f"Key {key.id} for {key.name}. Keep it now, it is not shown again; clients read it from SUFFICE_API_KEY."
    )
    terminal.say("A service that was started without keys asks for them when it is started again.")
    print(secret)
    return 0


def list_keys() -> int:
    for key in _open_key_store().list_keys():
        made = datetime.fromtimestamp(key.created, UTC).date()
        allowed = f"{key.quota.active} at once, {key.quota.per_minute} a minute"
        if key.quota.max_cost is not None:
            allowed += f", ${key.quota.max_cost:g} a run"
        print(f"{key.id}  {made}  {'revoked' if key.revoked else allowed}  {key.name}")
    return 0


def revoke_key(id: str) -> int:
    key = _open_key_store().revoke(id)
    Terminal(quiet=False).say(f"Key {key.id} ({key.name}) is refused from now on.")
    return 0


def _open_key_store() -> ApiKeyStore:
    config = settings.load()
    return ApiKeyStore(database.open_engine(database.database_url(config.database_url, config.data_dir)))
