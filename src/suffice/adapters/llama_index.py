"""A LlamaIndex retriever over documents or the web: ``LlamaIndexRetriever(docs="handbook/").retrieve("notice period")``."""

from collections.abc import Sequence

from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

from suffice.adapters.retrieval import describe_passage, find_passages, run_anywhere
from suffice.types import Passage


class LlamaIndexRetriever(BaseRetriever):  # type: ignore[misc]  # Its types are not read, see pyproject.toml.
    """Finds passages; the metadata of each node says where it stands."""

    def __init__(
        self, docs: str | Sequence[str] = (), *, web: bool = False, k: int = 5, alpha: float | None = None
    ) -> None:
        super().__init__()
        self._docs = docs
        self._web = web
        self._k = k
        self._alpha = alpha

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(map(_to_node, await self._find(query_bundle.query_str)))

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return list(map(_to_node, run_anywhere(self._find(query_bundle.query_str))))

    async def _find(self, query: str) -> list[Passage]:
        return await find_passages(query, self._docs, self._k, self._alpha, web=self._web)


def _to_node(passage: Passage) -> NodeWithScore:
    metadata = {name: value for name, value in describe_passage(passage).items() if name != "score"}
    return NodeWithScore(node=TextNode(id_=passage.id, text=passage.text, metadata=metadata), score=passage.score)
