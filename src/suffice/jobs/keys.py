"""API keys: who may order runs, and how many. Only a digest is kept; a key is shown once, when it is made.

A key is random enough (256 bits) that a plain digest cannot be turned back, so no slow hash is needed on every request.
"""

import hashlib
import hmac
import json
import secrets
import time
from dataclasses import asdict, dataclass

import sqlalchemy as sa

from suffice.errors import InputError
from suffice.jobs.database import keys

KEY_PREFIX = "suffice"


@dataclass(frozen=True, slots=True)
class Quota:
    """What a key may do: runs queued or under way at once, orders a minute, and US dollars a run (``None``: no bound)."""

    active: int = 20
    per_minute: int = 60
    max_cost: float | None = None


@dataclass(frozen=True, slots=True)
class ApiKey:
    id: str
    name: str
    created: float
    revoked: bool
    quota: Quota


class ApiKeyStore:
    def __init__(self, engine: sa.Engine) -> None:
        self._engine = engine

    def create(self, name: str, quota: Quota) -> tuple[ApiKey, str]:
        """A new key: what is kept, and the secret that is never seen again."""
        if not name.strip() or len(name) > 100:
            raise InputError("A key needs a name of at most 100 characters: who or what uses it?")
        id = secrets.token_hex(4)
        secret = f"{KEY_PREFIX}_{id}_{secrets.token_urlsafe(32)}"
        key = ApiKey(id, name.strip(), time.time(), False, quota)
        with self._engine.begin() as connection:
            connection.execute(
                sa.insert(keys).values(
                    id=id,
                    name=key.name,
                    digest=_digest(secret),
                    created=key.created,
                    revoked=False,
                    allowance=json.dumps(asdict(quota)),
                )
            )
        return key, secret

    def list_keys(self) -> list[ApiKey]:
        with self._engine.connect() as connection:
            return [_key_from_row(row) for row in connection.execute(sa.select(keys).order_by(keys.c.created))]

    def has_any(self) -> bool:
        """Whether anybody has made a key: from then on everybody needs one, also when all were revoked."""
        with self._engine.connect() as connection:
            return connection.execute(sa.select(keys.c.id).limit(1)).first() is not None

    def revoke(self, id: str) -> ApiKey:
        with self._engine.begin() as connection:
            changed = connection.execute(sa.update(keys).where(keys.c.id == id).values(revoked=True))
        if not changed.rowcount:
            raise InputError(f"There is no key {id!r}; suffice keys list shows those there are")
        return next(key for key in self.list_keys() if key.id == id)

    def authenticate(self, secret: str) -> ApiKey | None:
        """Whose secret this is; ``None`` for nobody's."""
        prefix, _, rest = secret.partition("_")
        id = rest.partition("_")[0]
        with self._engine.connect() as connection:
            found = connection.execute(sa.select(keys).where(keys.c.id == id)).one_or_none()
        digest = found.digest if found is not None else ""
        right = hmac.compare_digest(_digest(secret), digest)
        return (
            _key_from_row(found) if found is not None and right and prefix == KEY_PREFIX and not found.revoked else None
        )


def _key_from_row(row: sa.Row[tuple[object, ...]]) -> ApiKey:
    return ApiKey(row.id, row.name, row.created, row.revoked, Quota(**json.loads(row.quota)))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
