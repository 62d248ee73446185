"""``suffice keys``: manage who may use the service."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from suffice import settings
from suffice.cli.options import CommandGroup, argument, flag
from suffice.cli.output import print_note

if TYPE_CHECKING:
    from suffice.jobs.api_keys import ApiKeyStore

keys_app = CommandGroup("keys", help="Manage the API keys of 'suffice serve'.", no_args_is_help=True)


@keys_app.command()
def create(
    name: str = argument(..., "The person or program that will use the key.", "NAME"),
    active: int = flag(20, "Runs that may be queued or running at the same time.", metavar="N", min=1),
    per_minute: int = flag(60, "Runs that may be started per minute.", metavar="N", min=1),
    max_cost: float | None = flag(None, "US dollars that one run may cost.", metavar="USD", min=0.0001),
    searches_per_minute: int = flag(600, "Searches that may be made per minute.", metavar="N", min=1),
) -> None:
    """Create a key and show it once.

    Only a digest of the key is stored, so it cannot be shown again.
    """
    from suffice.jobs.api_keys import Quota

    key, secret = _open_key_store().create(name, Quota(active, per_minute, max_cost, searches_per_minute))
    print_note(f"Key {key.id} for {key.name}. Save it now: it is not shown again. Clients set SUFFICE_API_KEY.")
    print_note("A running service requires a key from now on.")
    print(secret)


@keys_app.command(name="list")
def list_keys() -> None:
    """List all keys and what they allow."""
    keys = _open_key_store().list_keys()
    print(f"{'id':<8}  {'created':<10}  {'allowed':<42}  name" if keys else "No keys.")
    for key in keys:
        created, quota = datetime.fromtimestamp(key.created, UTC).date(), key.quota
        cost = "" if quota.max_cost is None else f", ${quota.max_cost:g} a run"
        allowed = f"{quota.active} at once, {quota.per_minute} a minute{cost}"
        print(f"{key.id}  {created}  {'revoked' if key.revoked else allowed:<42}  {key.name}")


@keys_app.command()
def revoke(key: str = argument(..., "The key's id, as 'suffice keys list' shows it.", "ID")) -> None:
    """Revoke a key: the service rejects it from now on."""
    revoked = _open_key_store().revoke(key)
    print_note(f"Key {revoked.id} ({revoked.name}) is revoked.")


def _open_key_store() -> "ApiKeyStore":
    from suffice.jobs.api_keys import ApiKeyStore
    from suffice.jobs.database import open_configured

    return ApiKeyStore(open_configured(settings.load()))
