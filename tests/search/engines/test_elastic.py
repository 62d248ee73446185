"""Elasticsearch and OpenSearch against a local server that follows their documentation; not a real engine."""

import asyncio
import base64
from typing import Any

import numpy as np
import pytest
from loopback import Answer, Loopback, Request, serving

from suffice.errors import InputError, SearchError, SearchRefused
from suffice.search.corpus.vectors import EmbeddingCache
from suffice.search.engines.elastic import open_elastic
from suffice.types import Passage, Query

DOCUMENTS = {
    "1": {"body": "The waggle dance tells where flowers are.", "name": "Dance", "link": "https://bees.example/dance"},
    "2": {"body": "A hive holds one queen.", "name": "Hive"},
    "3": {
        "body": "Nothing about insects here. " + "Long words follow. " * 400 + "The waggle dance ends it.",
        "name": "Long",
    },
}
FIELDS = {"body": {"type": "text"}, "name": {"type": "text"}, "link": {"type": "keyword"}}


class FourWords:
    """One dimension for each of four words."""

    name = "four"
    dimension = 4
    is_remote = False
    is_english_only = True

    def embed(self, texts: list[str]) -> Any:
        rows = np.array([[text.lower().count(word) for word in ("dance", "hive", "queen", "insect")] for text in texts])
        return (rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)).astype(np.float32)


def hits(*rows: tuple[str, float]) -> dict[str, Any]:
    found = [{"_index": "pages", "_id": id, "_score": score, "_source": DOCUMENTS[id]} for id, score in rows]
    return {"took": 1, "timed_out": False, "hits": {"total": {"value": len(found)}, "hits": found}}


def answer(request: Request) -> Answer:
    if request.path.endswith("/_mapping"):
        return Answer({"pages-2024": {"mappings": {"properties": FIELDS}}})
    return Answer(hits(("1", 7.5), ("3", 6.0)))


def search(server: Loopback, address: str, query: str, alpha: float = 1.0, environment: Any = None) -> list[Passage]:
    host = server.url.removeprefix("http://")

    async def run() -> list[Passage]:
        vectors = EmbeddingCache(FourWords(), None, lambda message: None)
        opened = await open_elastic(address.replace("HOST", host) + "&scheme=http", alpha, vectors, environment or {})
        return await opened(Query(query), 3)

    return asyncio.run(run())


def test_words():
    with serving(answer) as server:
        found = search(server, "elasticsearch://HOST/pages?text=body&title=name&url=link", "waggle dance")
    assert [passage.title for passage in found] == ["Dance", "Long", "Long"]
    assert found[0].location == "https://bees.example/dance"
    assert found[1].text.endswith("The waggle dance ends it.")  # The part of a long document that has the words.
    assert found[1].location == "pages#3"
    assert server.requests[-1].path == "/pages/_search"
    assert server.requests[-1].body["query"] == {"multi_match": {"query": "waggle dance", "fields": ["body", "name"]}}


def test_found_documents_are_ranked_by_words_and_meaning():
    with serving(
        lambda request: answer(request) if "_mapping" in request.path else Answer(hits(("3", 7.5), ("2", 7.4)))
    ) as server:
        found = search(server, "opensearch://HOST/pages?text=body", "queen", alpha=0.2)
    assert found[0].text == "A hive holds one queen."


def test_basic_authentication_and_api_keys():
    with serving(answer) as server:
        search(server, "elasticsearch://ann:p%40ss@HOST/pages?text=body", "dance")
        search(server, "elasticsearch://HOST/pages?text=body&api_key=k1", "dance")
        search(server, "opensearch://HOST/pages?text=body", "dance", environment={"OPENSEARCH_API_KEY": "k2"})
    sent = [request.headers["authorization"] for request in server.requests[::2]]
    assert sent == [f"Basic {base64.b64encode(b'ann:p@ss').decode()}", "ApiKey k1", "ApiKey k2"]


@pytest.mark.attack("passwords in addresses")
def test_a_redirect_does_not_carry_the_key():
    with serving(answer) as other:
        moved = Answer(b"", 302, {"location": f"{other.url}/pages/_mapping"})
        with serving(lambda request: moved) as server, pytest.raises(SearchError, match="moved"):
            search(server, "elasticsearch://ann:hunter2@HOST/pages?text=body", "dance")
        assert other.requests == []


@pytest.mark.parametrize(
    ("given", "error", "named"),
    [
        (Answer({"error": {"reason": "no such index [pages]"}, "status": 404}, 404), SearchError, "no such index"),
        (Answer({"error": {"reason": "missing authentication"}}, 401), SearchRefused, "ELASTICSEARCH_API_KEY"),
        (Answer(b"<html>", 200), SearchError, "not JSON"),
        (Answer({"pages": {}}, 200), SearchError, "shape"),
        (Answer({"pages": {"mappings": {"properties": FIELDS}}}), InputError, "no field 'content'.*body, link, name"),
    ],
)
def test_failures_are_one_sentence(given, error, named):
    with serving(lambda request: given) as server, pytest.raises(error, match=named):
        search(server, "elasticsearch://HOST/pages?text=content", "dance")


def test_dead_host():
    with pytest.raises(SearchError, match=r"127\.0\.0\.1:9") as caught:
        asyncio.run(
            open_elastic(
                "elasticsearch://ann:hunter2@127.0.0.1:9/pages?scheme=http",
                1.0,
                EmbeddingCache(FourWords(), None, lambda message: None),
                {},
            )
        )
    assert "hunter2" not in str(caught.value)
