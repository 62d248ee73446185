"""arXiv: preprints by title and abstract. It needs no key; its terms allow one request every three seconds."""

from collections.abc import Iterator
from xml.etree import ElementTree

from suffice.errors import SearchError
from suffice.search.web.http import ProviderRequest, send_request
from suffice.search.web.provider import Provider, SearchResult, get_base_url, to_passages
from suffice.settings import Settings
from suffice.text.plain import to_one_line
from suffice.text.tokens import tokenize
from suffice.types import Passage, Query

_ATOM_NS = "{http://www.w3.org/2005/Atom}"
MAX_QUERY_WORDS = 20


def arxiv(config: Settings) -> Provider:
    url = get_base_url(config, "ARXIV_BASE_URL", "https://export.arxiv.org/api")

    async def search(query: Query, k: int) -> list[Passage]:
        # A question is not in arXiv's query syntax: search for any of its words.
        terms = " OR ".join(f"all:{word}" for word in list(dict.fromkeys(tokenize(query.text)))[:MAX_QUERY_WORDS])
        if not terms:
            return []
        request = ProviderRequest(f"{url}/query", {"search_query": terms, "max_results": k, "sortBy": "relevance"})
        return to_passages(_parse_results(await send_request("arXiv", request)), k)

    return Provider("arxiv", url, search, per_second=1 / 3)


def _parse_results(body: bytes) -> Iterator[SearchResult]:
    if b"<!DOCTYPE" in body or b"<!ENTITY" in body:
        raise SearchError("arXiv answered with XML that declares entities, which is not parsed")
    try:
        feed = ElementTree.fromstring(body)
    except ElementTree.ParseError as error:
        raise SearchError(f"arXiv did not answer with an Atom feed: {error}") from error
    if feed.tag != f"{_ATOM_NS}feed":
        raise SearchError(f"arXiv did not answer with an Atom feed: {feed.tag[:60]}")
    for entry in feed.iter(f"{_ATOM_NS}entry"):
        url, title, summary = (entry.findtext(f"{_ATOM_NS}{name}", "") for name in ("id", "title", "summary"))
        if "/api/errors" in url:
            raise SearchError(f"arXiv did not accept the query: {to_one_line(summary)}")
        yield SearchResult(url.replace("http://", "https://", 1), to_one_line(title), to_one_line(summary))
