"""Canonical URLs: one spelling for each web page."""

import re
from urllib.parse import urlsplit, urlunsplit

DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_URL_CHARS = 2_000  # A longer URL is not the address of a page, but data.
# Parameters that identify the referrer, not the page.
_TRACKING_PARAMETER = re.compile(
    r"(?:utm_\w+|gclid|gclsrc|gbraid|wbraid|dclid|fbclid|msclkid|yclid|igshid|twclid|ttclid|mc_cid|mc_eid|_hsenc|_hsmi"
    r"|vero_id|srsltid|ref_src|ref_url|_ga|_gl)(?:=|$)",
    re.IGNORECASE,
)


def canonicalize_url(url: str) -> str | None:
    """Return the canonical URL of a page; ``None`` if this is not the URL of a web page.

    >>> canonicalize_url("HTTPS://Example.org:443/a/?utm_source=x&b=1#top")
    'https://example.org/a?b=1'
    """
    if len(url) > MAX_URL_CHARS or re.search(r"[\x00-\x20\x7f]", url):
        return None
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return None
    if parts.scheme not in DEFAULT_PORTS or not host:
        return None
    host = f"[{host}]" if ":" in host else host
    netloc = host if port in (None, DEFAULT_PORTS[parts.scheme]) else f"{host}:{port}"
    query = "&".join(part for part in parts.query.split("&") if part and not _TRACKING_PARAMETER.match(part))
    return urlunsplit((parts.scheme, netloc, parts.path.rstrip("/"), query, ""))


def shorten_url(url: str) -> str:
    """Return the URL, cut to a length that fits into a message."""
    return url if len(url) <= 160 else url[:159] + "…"
