"""A LangChain retriever over documents or the web: ``LangChainRetriever(docs="handbook/").invoke("notice period")``."""

from collections.abc import Sequence

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever

from suffice.adapters.retrieval import describe_passage, find_passages, run_anywhere
from suffice.types import Passage


class LangChainRetriever(BaseRetriever):  # type: ignore[misc]  # Its types are not read, see pyproject.toml.
    """Finds passages; the metadata of each says where it stands."""

    docs: str | Sequence[str] = ()
    web: bool = False
    k: int = 5
    alpha: float | None = None
    """Weight of words against meaning: 1 is words only, 0 meaning only."""

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun
    ) -> list[Document]:
        return list(map(_to_document, await find_passages(query, self.docs, self.k, self.alpha, web=self.web)))

    def _get_relevant_documents(self, query: str, *, run_manager: CallbackManagerForRetrieverRun) -> list[Document]:
        found = run_anywhere(find_passages(query, self.docs, self.k, self.alpha, web=self.web))
        return list(map(_to_document, found))


def _to_document(passage: Passage) -> Document:
    return Document(id=passage.id, page_content=passage.text, metadata=describe_passage(passage))
