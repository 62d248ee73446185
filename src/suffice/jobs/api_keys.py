"""API keys and their quotas. Only a digest is stored; a key is shown once, when it is created.

A key holds 256 random bits, so a plain digest cannot be reversed and no slow hash is needed on every request.
"""

import asyncio
import hashlib
import hmac
import json
import math
import secrets
import time
from dataclasses import asdict, dataclass

import sqlalchemy as sa

from suffice.errors import InputError
from suffice.jobs.database import keys

KEY_PREFIX = "suffice"
RECHECK_SECONDS = 1.0  # Seconds after which a service without keys looks for one again.


@dataclass(frozen=True, slots=True)
class Quota:
    """What the owner of a key may do."""

    active: int = 20
    """Runs that may be queued or running at the same time."""
    per_minute: int = 60
    """Runs that may be requested in a minute."""
    max_cost: float | None = None
    """US dollars that one run may cost; ``None`` is unlimited."""
    searches_per_minute: int = 600
    """Searches that may be requested in a minute, from each serving process."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A stored key, without its secret."""

    id: str
    name: str
    created: float
    revoked: bool
    quota: Quota


class ApiKeyStore:
    def __init__(self, engine: sa.Engine) -> None:
        self.engine = engine
        self._is_required = False
        self._checked_at = -math.inf

    def create(self, name: str, quota: Quota) -> tuple[ApiKey, str]:
        """Create a key; return it with its secret, which cannot be read again."""
        if not name.strip() or len(name) > 100:
            raise InputError("A key needs a name of at most 100 characters that says who or what uses it")
        id = secrets.token_hex(4)
        secret = f"{KEY_PREFIX}_{id}_{secrets.token_urlsafe(32)}"
        key = ApiKey(id, name.strip(), time.time(), False, quota)
        row = asdict(key)
        row |= {"digest": _digest(secret), "allowance": json.dumps(row.pop("quota"))}
        with self.engine.begin() as connection:
            connection.execute(sa.insert(keys).values(row))
        return key, secret

    def list_keys(self) -> list[ApiKey]:
        """Return all keys, oldest first."""
        with self.engine.connect() as connection:
            return [_key_from_row(row) for row in connection.execute(sa.select(keys).order_by(keys.c.created))]

    def has_any(self) -> bool:
        """Whether a key was ever created. From then on every request needs one, even if all keys are revoked."""
        with self.engine.connect() as connection:
            self._is_required = connection.execute(sa.select(keys.c.id).limit(1)).first() is not None
        return self._is_required

    async def is_required(self) -> bool:
        """Whether a key was ever created, at most ``RECHECK_SECONDS`` ago: the first key takes effect without a restart."""
        if not self._is_required and time.monotonic() - self._checked_at > RECHECK_SECONDS:
            self._checked_at = time.monotonic()  # Before the query: if the database hangs, only this request waits.
            await asyncio.to_thread(self.has_any)
        return self._is_required

    def revoke(self, id: str) -> ApiKey:
        """Revoke a key; requests with it are refused from now on."""
        with self.engine.begin() as connection:
            changed = connection.execute(sa.update(keys).where(keys.c.id == id).values(revoked=True))
        if not changed.rowcount:
            ids = [key.id for key in self.list_keys() if key.name == id and not key.revoked]
            if ids:
                commands = " or ".join(f"suffice keys revoke {found}" for found in ids)
                raise InputError(f"{id!r} is the name of a key, and revoke takes the id; use: {commands}")
            raise InputError(f"There is no key {id!r}; list the keys with: suffice keys list")
        return next(key for key in self.list_keys() if key.id == id)

    def authenticate(self, secret: str) -> ApiKey | None:
        """Return the key of a secret; ``None`` if it is unknown or revoked."""
        prefix, _, rest = secret.partition("_")
        id = rest.partition("_")[0]
        with self.engine.connect() as connection:
            row = connection.execute(sa.select(keys).where(keys.c.id == id)).one_or_none()
        matches = hmac.compare_digest(_digest(secret), row.digest if row is not None else "")
        return _key_from_row(row) if row is not None and matches and prefix == KEY_PREFIX and not row.revoked else None


def _key_from_row(row: sa.Row[tuple[object, ...]]) -> ApiKey:
    return ApiKey(row.id, row.name, row.created, row.revoked, Quota(**json.loads(row.allowance)))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
