"""Recall of the search by how it weighs words and meaning: ``python -m bench.ranking --packages SDISTS [--count 30]``.

The questions are those of ``training/reader/written_questions.jsonl.gz`` over packages that nothing is trained on; ``SDISTS``
is the folder of ``training/reader``. Every passage of a package is compared in every way, so that weights and numbers of
candidates can be tried without searching again. A passage is right if it is the one that the question was written for, or has
its answer.
"""

import argparse
import asyncio
import hashlib
import itertools
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bench.answers import holds
from suffice.measure.stretches import split_stretches
from suffice.models.embeddings.minilm import get_minilm
from suffice.models.embeddings.static import embed_static
from suffice.search.corpus.search import CorpusSearch, read_vectors

sys.path.insert(0, str(Path(__file__).parents[1] / "training" / "reader"))

COUNTS = (1, 3, 5, 8, 12, 20, 30)
Floats = NDArray[np.float32]


class Compared(NamedTuple):
    """A question with all passages' scores: words, static vectors, the stretch that they call nearest, the nearest stretch."""

    right: list[int]
    words: Floats
    rough: Floats
    stretch: Floats
    nearest: Floats


def compare(search: CorpusSearch, rows: list[dict[str, Any]], count: int) -> Iterator[Compared]:
    """Yield questions over one package, drawn by chance."""
    index, model = search._index, get_minilm()
    addresses = index.list_addresses()
    entries = [index.get_entry(address) for address in addresses]
    places = {(address.segment_ord, address.doc): place for place, address in enumerate(addresses)}
    cut = [split_stretches(entry.title, entry.text) for entry in entries]
    ends = np.cumsum([0, *map(len, cut)]).tolist()
    stretches = [one for own in cut for one in own]
    vectors, fast = model.embed(stretches), embed_static(stretches)
    static = read_vectors(entries)
    keys = [(entry.title, hashlib.sha256(entry.text.encode()).hexdigest()) for entry in entries]
    for row in rows:
        own = [place for place, key in enumerate(keys) if key == (row["title"], row["sha256"])]
        if not own or not row["answer"]:
            continue
        texts = (place for place, entry in enumerate(entries) if holds(entry.text, [[row["answer"]]]))
        question = row["question"]
        cosines, likely = vectors @ model.embed([question])[0], fast @ embed_static([question])[0]
        chosen = [start + int(np.argmax(likely[start:end])) for start, end in itertools.pairwise(ends)]
        hits = index.search(index.extract_terms(question), 400)
        words = np.zeros(len(entries), np.float32)
        for score, address in hits:
            words[places[address.segment_ord, address.doc]] = score / hits[0][0]
        nearest = np.maximum.reduceat(cosines, ends[:-1])
        yield Compared(sorted({*own, *texts}), words, static @ embed_static([question])[0], cosines[chosen], nearest)
        if not (count := count - 1):
            break


def score(one: Compared, candidates: int, embedded: int, alpha: float, share: float) -> Floats:
    """Return the scores of all passages: those of ``embedded`` candidates are exact, the others come behind in their order."""
    by_words = [place for place in np.argsort(-one.words, kind="stable")[:candidates] if one.words[place] > 0]
    found = list(dict.fromkeys([*by_words, *np.argsort(-one.rough, kind="stable")[:candidates]]))
    first = alpha * one.words + (1 - alpha) * one.rough
    order = sorted(found, key=lambda place: -first[place])
    scores = np.full(len(one.words), -9.0, np.float32)
    scores[order] = -1 - np.arange(len(order)) / 1000
    best = order[:embedded]
    scores[best] = alpha * one.words[best] + (1 - alpha) * ((1 - share) * one.rough[best] + share * one.stretch[best])
    return scores


WAYS: dict[str, Callable[[Compared], Floats]] = {
    "words": lambda one: one.words,
    "static vectors": lambda one: one.rough,
    "MiniLM, the nearest stretch": lambda one: one.nearest,
    "MiniLM, the stretch that the static vectors call nearest": lambda one: one.stretch,
    "50 and 50 candidates, 31 of them embedded, words .25, stretch 2 of 3": lambda one: score(one, 50, 31, 0.25, 2 / 3),
    "40 and 40 candidates, 31 of them embedded, words .2, stretch 6 of 7": lambda one: score(one, 40, 31, 0.2, 6 / 7),
    "40 and 40, all embedded, words .2, stretch 6 of 7": lambda one: score(one, 40, 80, 0.2, 6 / 7),
    "**40 and 40, all embedded, words .2, the stretch alone**": lambda one: score(one, 40, 80, 0.2, 1.0),
    "50 and 50, all embedded, words .2, stretch 6 of 7": lambda one: score(one, 50, 100, 0.2, 6 / 7),
    "100 and 100, all embedded, words .15, stretch 6 of 7": lambda one: score(one, 100, 200, 0.15, 6 / 7),
}


async def collect(packages: Path, count: int) -> list[Compared]:
    import documents
    import written

    rows = written.read_rows("written_questions.jsonl.gz")
    found: list[Compared] = []
    for name in sorted({row["package"] for row in rows if documents.part_of(row["package"]) != "train"}):
        if (packages / name).is_dir():
            own = [row for row in rows if row["package"] == name]
            random.Random(name).shuffle(own)
            search = await CorpusSearch.open([packages / name], cache_dir=None)
            found += compare(search, own, count)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--count", type=int, default=30, help="questions of each package")
    given = parser.parse_args()
    found = asyncio.run(collect(given.packages, given.count))
    print(f"| {len(found)} questions | {' | '.join(f'first {count}' for count in COUNTS)} |")
    print("|---|" + "--:|" * len(COUNTS))
    for name, way in WAYS.items():
        places = [min(np.argsort(np.argsort(-way(one), kind="stable"))[one.right]) for one in found]
        shares = [np.mean([place < count for place in places]) for count in COUNTS]
        print(f"| {name} | {' | '.join(f'{share:.3f}'.lstrip('0') for share in shares)} |")


if __name__ == "__main__":
    main()
