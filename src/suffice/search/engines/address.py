"""Addresses of corpora: ``postgres://HOST/DATABASE/COLLECTION``, ``elasticsearch://HOST/INDEX``, ``opensearch://HOST/INDEX``."""

from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from suffice.errors import InputError

POSTGRES_SCHEMES = ("postgres", "postgresql")
ELASTIC_SCHEMES = ("elasticsearch", "opensearch")
_SECRET_PARAMETERS = ("password", "api_key", "sslpassword")


def is_address(text: str) -> bool:
    """Whether ``--docs`` names a corpus behind an address and not a file or folder."""
    return text.partition("://")[0].lower() in (*POSTGRES_SCHEMES, *ELASTIC_SCHEMES) and "://" in text


def is_postgres(text: str) -> bool:
    return is_address(text) and text.partition("://")[0].lower() in POSTGRES_SCHEMES


def remove_secrets(text: str) -> str:
    """Return an address without its password and keys, as it may be stored and shown; other texts are returned as they are.

    >>> remove_secrets("postgres://ann:secret@db/wiki/pages?sslmode=require")
    'postgres://ann@db/wiki/pages?sslmode=require'
    """
    if not is_address(text):
        return text
    try:
        parts = urlsplit(text)
    except ValueError:
        return text.partition("://")[0] + "://…"
    user_info, at, host = parts.netloc.rpartition("@")
    user = user_info.partition(":")[0]
    query = [(name, value) for name, value in parse_qsl(parts.query) if name.lower() not in _SECRET_PARAMETERS]
    netloc = f"{user}@{host}" if at and user else host
    return urlunsplit((parts.scheme, netloc, parts.path, urlencode(query, safe="/:,"), ""))


def split_address(text: str) -> tuple[str, list[str], dict[str, str]]:
    """Return the network location, the parts of the path and the parameters of an address."""
    try:
        parts = urlsplit(text)
        parts.port  # noqa: B018  Raises for a port that is not a number.
    except ValueError as error:
        raise InputError(f"{remove_secrets(text)} is not an address ({error})") from error
    return parts.netloc, [part for part in parts.path.split("/") if part], dict(parse_qsl(parts.query))
