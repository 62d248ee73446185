"""Any search that answers JSON, described by settings: an intranet's, a product's, one's own.

SUFFICE_SEARCH_URL      the address, with {query} and, if it takes one, {k}
SUFFICE_SEARCH_RESULTS  where the list is in the answer: names joined by dots (default: the answer itself, or its
                        results, hits, items, data)
SUFFICE_SEARCH_FIELDS   what the fields of a result are called: url=link,title=name,text=body.snippet
SUFFICE_SEARCH_HEADER   a header to send, such as: Authorization: Bearer …
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from suffice.errors import InputError
from suffice.search.web.http import Call, results
from suffice.search.web.provider import Found, Provider, base_url, required
from suffice.settings import Settings
from suffice.types import Passage, Query

NAME = "The search endpoint"
ADDRESS, LIST, FIELDS, HEADER = (f"SUFFICE_SEARCH_{part}" for part in ("URL", "RESULTS", "FIELDS", "HEADER"))
_USUAL_LISTS = ("results", "hits", "items", "data")
_USUAL_FIELDS = {"url": "url", "title": "title", "text": "text"}


def endpoint(config: Settings) -> Provider:
    required(config, ADDRESS, NAME)
    template = base_url(config, ADDRESS)
    if "{query}" not in template:
        raise InputError(f"{ADDRESS} must say where the query goes: put {{query}} into it")
    where = config.environment.get(LIST, "").strip()
    fields = _fields(config.environment.get(FIELDS, ""))
    name, _, value = config.environment.get(HEADER, "").partition(":")
    headers = {name.strip(): value.strip()} if value.strip() else {}

    async def search(query: Query, k: int) -> list[Passage]:
        url = template.replace("{query}", quote(query.text, safe="")).replace("{k}", str(k))
        call = Call(url, headers=headers, key=HEADER, secret=value.strip())
        return await results(NAME, call, lambda answer: _read(answer, where, fields), k)

    return Provider("endpoint", template, search)


def _fields(text: str) -> Mapping[str, str]:
    chosen = dict(_USUAL_FIELDS)
    for pair in filter(None, map(str.strip, text.split(","))):
        name, separator, path = pair.partition("=")
        if name.strip() not in _USUAL_FIELDS or not separator or not path.strip():
            raise InputError(f"{FIELDS}={text!r} cannot be read; write it like: url=link,title=name,text=body.snippet")
        chosen[name.strip()] = path.strip()
    return chosen


def _read(answer: Any, where: str, fields: Mapping[str, str]) -> Iterator[Found]:
    found = _at(answer, where) if where else _list(answer)
    if not isinstance(found, list):
        raise ValueError(f"there is no list at {where or ', '.join(_USUAL_LISTS)}; set {LIST}")
    for result in found:
        yield Found(*(str(_at(result, fields[name]) or "") for name in ("url", "title", "text")))


def _list(answer: Any) -> Any:
    if isinstance(answer, dict):
        return next((answer[name] for name in _USUAL_LISTS if isinstance(answer.get(name), list)), None)
    return answer


def _at(value: Any, path: str) -> Any:
    for name in path.split("."):
        if isinstance(value, dict):
            value = value.get(name)
        elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value
