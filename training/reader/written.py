"""Examples that were written for the reader: ``written_claims.jsonl.gz`` and ``written_questions.jsonl.gz``.

The passages of most claims and of all questions are named by the SHA-256 of their text; they are found again among the claims
and questions of ``prepare.py`` and in the documentation of packages, as the product reads and cuts it: of source distributions, and of the
folders that ``bench/sets/fetch.py`` makes of ``corpora.json``.
"""

import asyncio
import gzip
import hashlib
import json
import re
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

import documents
import numpy
import questions as asking

from suffice.models.embeddings.static import embed_static
from suffice.search.corpus.search import CorpusSearch
from suffice.types import Passage

HERE = Path(__file__).parent
HELD = 8  # One of so many passages of claims is kept for the development part.
NEAR = 16


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def read_rows(name: str) -> list[dict]:
    return [json.loads(line) for line in gzip.decompress((HERE / name).read_bytes()).decode().splitlines()]


def list_claims(known: list[str]) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield claim, passage, part, label and source; ``known`` are the passages of other claims and of questions."""
    texts = {digest(text): text for text in known}
    for row in read_rows("written_claims.jsonl.gz"):
        text = row.get("text") or texts.get(row["sha256"])
        if text is None:
            continue
        part = "dev" if int(digest(text), 16) % HELD == 0 else "train"
        # A copy of a passage may be in another part: here it is a text of its own.
        text = text if digest(text) not in texts else f"{text} "
        for claim in row["true"]:
            yield claim, text, part, "supported", "written_true"
        for kind, _, claim in row["false"]:
            yield claim, text, part, "not_supported", f"written_{kind}"
        for claim in row["open"]:
            yield claim, text, part, "unsupported", "written_open"


def list_questions(packages: Path) -> Iterator[tuple[str, str, str, str, list[str]]]:
    """Yield question, passage, part, answer and passages that do not answer, nearest by words and by meaning."""
    rows = read_rows("written_questions.jsonl.gz")
    for package in dict.fromkeys(row["package"] for row in rows if row["package"] not in documents.EXCLUDED):
        passages = read_passages(packages, package)
        texts = [f"{passage.title}\n{passage.text}" for passage in passages]
        places = {(passage.title, digest(passage.text)): place for place, passage in enumerate(passages)}
        asked = [row for row in rows if row["package"] == package and (row["title"], row["sha256"]) in places]
        by_words = asking.similar([row["question"] for row in asked], texts, NEAR)
        by_meaning = embed_static([row["question"] for row in asked]) @ embed_static(texts).T
        part = "train" if documents.part_of(package) == "train" else "dev"
        for row, words, scores in zip(asked, by_words, by_meaning, strict=True):
            own, answer = places[row["title"], row["sha256"]], row["answer"] or ""
            near = [place for pair in zip(numpy.argsort(-scores).tolist(), words, strict=False) for place in pair]
            others = [place for place in dict.fromkeys([*near, own - 1, own + 1]) if place != own and 0 <= place < len(texts)]  # fmt: skip
            lacking = [texts[place] for place in others if not answer or answer.lower() not in texts[place].lower()]
            yield row["question"], texts[own], part, answer, lacking[: NEAR - 1]


def read_passages(packages: Path, package: str) -> list[Passage]:
    """Return the passages of a package's documentation: of its folder, or of its source distribution."""
    if (packages / package).is_dir():
        return asyncio.run(list_passages(packages / package))
    [archive] = packages.glob(f"{package}-[0-9]*.tar.gz")
    with tempfile.TemporaryDirectory() as folder, tarfile.open(archive) as opened:
        for member in opened:
            inner = member.name.partition("/")[2]
            if member.isfile() and inner.endswith((".rst", ".md", ".txt")) and is_guide(inner):
                path = Path(folder, inner)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(opened.extractfile(member).read())  # type: ignore[union-attr]
        return asyncio.run(list_passages(Path(folder)))


async def list_passages(folder: Path) -> list[Passage]:
    with tempfile.TemporaryDirectory() as cache:
        search = await CorpusSearch.open([folder], cache_dir=Path(cache))
        return list(await search.list_passages(100_000) or [])


def is_guide(path: str) -> bool:
    return bool(documents.DOCS.search(path)) and not documents.SKIPPED.search(path)


def find_spans(answer: str, passage: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(re.escape(answer), passage)][:3] if answer else []
