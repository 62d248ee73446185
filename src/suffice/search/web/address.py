"""When two addresses are the same page: one spelling for each."""

import re
from urllib.parse import urlsplit, urlunsplit

_DEFAULT_PORTS = {"http": 80, "https": 443}
# What says who sent the reader, not what is read.
_TRACKING_PARAMETER = re.compile(
    r"(?:utm_\w+|gclid|gclsrc|gbraid|wbraid|dclid|fbclid|msclkid|yclid|igshid|twclid|ttclid|mc_cid|mc_eid|_hsenc|_hsmi"
    r"|vero_id|srsltid|ref_src|ref_url|_ga|_gl)(?:=|$)",
    re.IGNORECASE,
)
MAX_URL_CHARS = 2_000  # Characters. What is longer is no address of a page, but data.


def canonicalize_url(url: str) -> str | None:
    """The page's address in one spelling; ``None`` if this is no address of a web page.

    >>> canonical("HTTPS://Example.org:443/a/?utm_source=x&b=1#top")
    'https://example.org/a?b=1'
    """
    if len(url) > MAX_URL_CHARS or re.search(r"[\x00-\x20\x7f]", url):
        return None
    try:
        parts = urlsplit(url)
        host, port = (parts.hostname or "").rstrip("."), parts.port
    except ValueError:
        return None
    if parts.scheme not in _DEFAULT_PORTS or not host:
        return None
    host = f"[{host}]" if ":" in host else host
    place = host if port in (None, _DEFAULT_PORTS[parts.scheme]) else f"{host}:{port}"
    query = "&".join(part for part in parts.query.split("&") if part and not _TRACKING_PARAMETER.match(part))
    return urlunsplit((parts.scheme, place, parts.path.rstrip("/"), query, ""))
