"""Any search service that answers with JSON, described by settings.

SUFFICE_SEARCH_URL      the URL, with {query} and optionally {k}
SUFFICE_SEARCH_RESULTS  the path of the result list in the answer: names joined by dots (default: the answer itself, or its
                        results, hits, items or data)
SUFFICE_SEARCH_FIELDS   the names of the fields of a result: url=link,title=name,text=body.snippet
SUFFICE_SEARCH_HEADER   a header to send, such as: Authorization: Bearer …
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from suffice.errors import InputError
from suffice.search.web.http import ProviderRequest, fetch_passages
from suffice.search.web.provider import Provider, SearchResult, get_base_url, require_setting
from suffice.settings import Settings
from suffice.types import Passage, Query

NAME = "The search endpoint"
URL_SETTING, RESULTS_SETTING, FIELDS_SETTING, HEADER_SETTING = (
    f"SUFFICE_SEARCH_{part}" for part in ("URL", "RESULTS", "FIELDS", "HEADER")
)
_DEFAULT_LIST_NAMES = ("results", "hits", "items", "data")
_DEFAULT_FIELDS = {"url": "url", "title": "title", "text": "text"}


def endpoint(config: Settings) -> Provider:
    require_setting(config, URL_SETTING, NAME)
    template = get_base_url(config, URL_SETTING)
    if "{query}" not in template:
        raise InputError(f"{URL_SETTING} must contain {{query}}, where the query is inserted")
    results_path = config.environment.get(RESULTS_SETTING, "").strip()
    fields = _parse_fields(config.environment.get(FIELDS_SETTING, ""))
    name, _, value = config.environment.get(HEADER_SETTING, "").partition(":")
    headers = {name.strip(): value.strip()} if value.strip() else {}

    async def search(query: Query, k: int) -> list[Passage]:
        url = template.replace("{query}", quote(query.text, safe="")).replace("{k}", str(k))
        request = ProviderRequest(url, headers=headers, key_setting=HEADER_SETTING, secret=value.strip())
        return await fetch_passages(NAME, request, lambda answer: _parse_results(answer, results_path, fields), k)

    return Provider("endpoint", template, search)


def _parse_fields(text: str) -> Mapping[str, str]:
    fields = dict(_DEFAULT_FIELDS)
    for pair in filter(None, map(str.strip, text.split(","))):
        name, separator, path = pair.partition("=")
        if name.strip() not in _DEFAULT_FIELDS or not separator or not path.strip():
            raise InputError(
                f"{FIELDS_SETTING}={text!r} cannot be read; write it like: url=link,title=name,text=body.snippet"
            )
        fields[name.strip()] = path.strip()
    return fields


def _parse_results(answer: Any, results_path: str, fields: Mapping[str, str]) -> Iterator[SearchResult]:
    results = get_by_path(answer, results_path) if results_path else _find_list(answer)
    if not isinstance(results, list):
        raise ValueError(f"there is no list at {results_path or ', '.join(_DEFAULT_LIST_NAMES)}; set {RESULTS_SETTING}")
    for result in results:
        yield SearchResult(*(str(get_by_path(result, fields[name]) or "") for name in ("url", "title", "text")))


def _find_list(answer: Any) -> Any:
    if isinstance(answer, dict):
        return next((answer[name] for name in _DEFAULT_LIST_NAMES if isinstance(answer.get(name), list)), None)
    return answer


def get_by_path(value: Any, path: str) -> Any:
    """Return what stands in nested objects and lists at a path of names and numbers; ``None`` if nothing does."""
    for name in path.split("."):
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value
