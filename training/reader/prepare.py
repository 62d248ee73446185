"""Collect claims and questions with their passages, as token ids for ``train.py`` and as text for ``export.py``.

    python training/reader/prepare.py --claims CLAIMS --texts TEXTS --packages SDISTS --tokenizer src/suffice/models/minilm/tokenizer.json --out build/gpu

Claims come from the folder ``CLAIMS``; more are made from them and from plain texts by ``alter.py``. Questions are made from
supported claims, from the documentation of packages (``documents.py``) and taken from MuSiQue and HotpotQA (odd ones only; the
even ones are for measuring). Both are joined by what was written for the reader (``written.py``). Passages that do not answer a question are the ones with the answering sentence taken out and
those that share most words with it. Passages are split by a hash of their text, documentation by package: 1/25
development, 1/25 test.
"""

import argparse
import gzip
import hashlib
import json
import lzma
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from random import Random

import alter
import documents
import numpy
import questions as asking
import written
from tokenizers import Tokenizer

from examples import LABELS, write_examples

ASKED = frozenset(
    """squad squadshifts_wiki squadshifts_amazon squadshifts_reddit nq_oracle covid_qa fairytaleqa ares_synthetic re_docred fewrel
    wikisplit clapnq quotesum swipe passage_edits qmsum scitldr cochrane_simplification fever feverous fm2 check_covid
    defacto scifact_train wice factcg_cg2c_doc factor evidence_inference pubmedqa""".split()
)  # Sources whose supported claims become questions.
FROM_QUESTIONS = frozenset(
    "squad squadshifts_wiki squadshifts_amazon squadshifts_reddit nq_oracle covid_qa fairytaleqa ares_synthetic".split()
)  # Their claims were made from questions, so the words that a false version changes are the answer.
POLAR = frozenset("boolq condaqa strategyqa".split())
ANSWERABLE = {
    "altered": 0,
    "relevant": 2,
}  # Kind of a question: not answered by its passage; told about, but not answered.
SHORT = frozenset("med snli cad_nli negation_nli mnli".split())  # Captions and puzzles: nothing is made from them.
FAMILY = re.compile(r"(.*?)(?:-(w|n|nf|nt|d|nb))?$")


def part_of(evidence: str) -> str:
    """Return ``dev``, ``test`` or ``train`` for a passage."""
    bucket = int(hashlib.md5(evidence.encode()).hexdigest(), 16) % 25
    return {0: "dev", 1: "test"}.get(bucket, "train")


class Collection:
    """Passages by number, claims and questions about them."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        self.parts: list[str] = []
        self.claims: list[list] = []  # claim, passage, label, source, kind
        self.questions: list[list] = []  # question, passage, spans, source, kind, passages without an answer

    def passage(self, text: str, part: str = "") -> int:
        if text not in self.numbers:
            self.numbers[text] = len(self.numbers)
            self.parts.append(part or part_of(text))
        return self.numbers[text]


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
    found.questions += hard_negatives(found, made)
    found.questions += altered(found, made, source, random)


def disjoint(first: tuple[int, int], second: tuple[int, int]) -> bool:
    return first[1] <= second[0] or second[1] <= first[0]


def hard_negatives(found: Collection, made: list[list]) -> list[list]:
    """Add to each question up to four passages of its source that share most words with it but lack the answer."""
    texts = list(found.numbers)
    numbers = sorted({row[1] for row in made})
    near = asking.similar([row[0] for row in made], [texts[number] for number in numbers], 10)
    for row, places in zip(made, near, strict=True):
        answer = row.pop().lower()
        part = found.parts[row[1]]
        ranked = [numbers[place] for place in places]
        lacking = [number for number in ranked if number != row[1] and answer not in texts[number].lower()]
        row[5] = [number for number in dict.fromkeys([*row[5], *lacking]) if found.parts[number] == part][:4]
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
    found.questions += hard_negatives(found, made)


def add_corpus(found: Collection, folder: Path) -> None:
    """Odd questions of a corpus with each gold passage, and the passages of the corpus that share most words with the question."""
    passages = [json.loads(line) for line in (folder / "corpus.jsonl").read_text(encoding="utf-8").splitlines()]
    texts = {row["id"]: f"{row['title']}\n{row['text']}" for row in passages}
    order = list(texts)
    asked = [json.loads(line) for line in (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()][1::2]
    near = asking.similar([row["question"] for row in asked], [texts[number] for number in order], 20)
    for row, places in zip(asked, near, strict=True):
        answers = [answer for answer in (row["answer"], *row["aliases"]) if answer.lower() not in ("yes", "no")]
        others = [order[place] for place in places if order[place] not in row["gold"]]
        others = [
            found.passage(texts[other], "train")
            for other in others
            if not any(answer.lower() in texts[other].lower() for answer in answers)
        ]
        for gold in row["gold"]:
            spans = [match.span() for answer in answers for match in re.finditer(re.escape(answer), texts[gold])][:6]
            kind = "wh" if spans else "relevant"
            found.questions.append(
                [row["question"], found.passage(texts[gold], "train"), spans, folder.name, kind, others[:8]]
            )


def stated_questions(sections: list[documents.Section], verbs: asking.Verbs, random: Random) -> Iterator[tuple]:
    """Ask for a figure, a name or a literal of one sentence of each section."""
    for place, section in enumerate(sections):
        choices = alter.sentences(section.text)
        if not choices or random.random() < 0.4:
            continue
        sentence = random.choice(choices)
        spans = asking.find_answers(sentence, sentence)
        literals = [match.span(1) for match in re.finditer(r"`([^`]{2,40})`", sentence)]
        if not (spans := (literals if literals and random.random() < 0.6 else spans[:2])):
            continue
        span = random.choice(spans)
        question = asking.make_question(sentence, span, verbs, random).replace("`", "")
        start = section.text.find(sentence)
        if start >= 0 and 4 < len(question.split()) < 40 and sentence[slice(*span)].lower() not in question.lower():
            yield question, place, (start + span[0], start + span[1]), "stated"


def read_documents(folder: Path, limit: int, verbs: asking.Verbs) -> Iterator[tuple]:
    """Yield each package: name, sections, questions, and for each question the places of the sections that share most words with it."""
    random = Random(2)
    for package, sections, asked in documents.read_packages(folder, limit):
        asked += list(stated_questions(sections, verbs, random))
        yield (
            package,
            sections,
            asked,
            asking.similar([question for question, *_ in asked], [section.text for section in sections], 12),
        )


def add_documents(found: Collection, packages: Iterator[tuple]) -> None:
    """Questions over the documentation of packages; beside the similar sections, the neighbours of the one that answers."""
    for package, sections, asked, near in packages:
        part = documents.part_of(package)
        for (question, place, span, kind), places in zip(asked, near, strict=True):
            beside = [at for at in (place - 1, place + 1) if 0 <= at < len(sections)]
            heading = sections[place].heading
            chosen = [
                at
                for at in dict.fromkeys([*places[:8], *beside, *places[8:]])
                if at != place and sections[at].heading != heading
            ]
            numbers = [found.passage(sections[at].text, part) for at in chosen[:7]]
            gold = found.passage(sections[place].text, part)
            found.questions.append(
                [question, gold, [span] if span else [], f"docs_{kind}", "wh", [n for n in numbers if n != gold]]
            )


def add_made(found: Collection, texts: list[tuple[str, str, str]], random: Random) -> None:
    """Claims made from true sentences, false ones and true ones beside them; ``texts`` are sentence, passage and part."""
    for sentence, passage, part in texts:
        for claim, evidence, label, kind in alter.alter(sentence, passage, random):
            found.claims.append([claim, found.passage(evidence, part), label, f"made_{kind}", kind])


def add_written(found: Collection, packages: Path) -> None:
    """What was written for the reader: claims of several kinds, and questions over documentation, some without an answer."""
    for question, passage, part, answer, others in written.list_questions(packages):
        number, spans = found.passage(passage, part), written.find_spans(answer, passage)
        numbers = [other for other in (found.passage(text, part) for text in others) if found.parts[other] == part]
        if spans:
            found.questions.append([question, number, spans, "docs_written", "wh", numbers])
        elif not answer:
            for other in (number, *numbers[:3]):
                found.questions.append([question, other, [], "docs_absent", "altered", []])
    for claim, passage, part, label, source in list(written.list_claims(list(found.numbers))):
        found.claims.append([claim, found.passage(passage, part), label, source, "written"])


def sources(data: Path) -> Iterator[tuple[str, list[dict]]]:
    for path in sorted(data.glob("*.jsonl.gz")):
        yield path.name.split(".")[0], read_source(path)


def true_sentences(found: Collection, texts: Path, limit: int) -> list[tuple[str, str, str]]:
    """Return sentences with the passage that says them: supported claims, and sentences of passages as they stand."""
    passages = list(found.numbers)
    rows = [
        (row[0], passages[row[1]], found.parts[row[1]])
        for row in found.claims
        if row[2] == "supported" and row[3] not in (*SHORT, *alter.HELD_BACK)
    ]
    for corpus in ("musique", "hotpotqa"):
        for line in (texts / corpus / "corpus.jsonl").read_text(encoding="utf-8").splitlines()[4000:]:
            row = json.loads(line)
            text = f"{row['title']}\n{row['text']}"
            rows += [(sentence, text, part_of(text)) for sentence in alter.sentences(row["text"])]
    docs = [passages[row[1]] for row in found.questions if row[3].startswith("docs_")]
    for text in sorted(set(docs)):
        part = found.parts[found.numbers[text]]
        rows += [(sentence, text, part) for sentence in alter.sentences(text)]
    Random(4).shuffle(rows)
    return rows[:limit]


def write(found: Collection, tokenizer: Tokenizer, out: Path) -> None:
    """Write token ids of the training and development parts, and texts of the development and test parts."""
    texts = list(found.numbers)
    with lzma.open(out / "held.jsonl.xz", "wt", encoding="utf-8") as file:
        for row in found.claims:
            if found.parts[row[1]] != "train":
                file.write(json.dumps({"claim": row[0], "passage": texts[row[1]], "label": row[2], "source": row[3], "kind": row[4], "part": found.parts[row[1]]}) + "\n")  # fmt: skip
        for question, number, spans, source, kind, others in found.questions:
            if found.parts[number] != "train":
                file.write(json.dumps({"question": question, "passage": texts[number], "spans": spans, "others": [texts[other] for other in others], "source": source, "kind": kind, "part": found.parts[number]}) + "\n")  # fmt: skip
    kept = [number for number, part in enumerate(found.parts) if part != "test"]
    place = {number: at for at, number in enumerate(kept)}
    sources = sorted({row[3] for row in [*found.claims, *found.questions]})
    at_source = {name: number for number, name in enumerate(sources)}
    asked = {row[1] for row in found.questions}
    ids: list = []
    offsets: dict[int, numpy.ndarray] = {}
    for start in range(0, len(kept), 10_000):
        chunk = kept[start : start + 10_000]
        for number, encoding in zip(
            chunk, tokenizer.encode_batch([texts[number] for number in chunk], add_special_tokens=False), strict=True
        ):
            ids.append(encoding.ids[:500])
            if number in asked:
                offsets[number] = numpy.array(encoding.offsets, dtype=numpy.int32).reshape(-1, 2)[:500]
    claims, questions = [], []
    rows = [row for row in found.claims if row[1] in place]
    for row, encoding in zip(
        rows, tokenizer.encode_batch([row[0] for row in rows], add_special_tokens=False), strict=True
    ):
        claims.append(
            {"ids": encoding.ids, "passage": place[row[1]], "label": LABELS[row[2]], "source": at_source[row[3]]}
        )
    rows = [row for row in found.questions if row[1] in place]
    for row, encoding in zip(
        rows, tokenizer.encode_batch([row[0] for row in rows], add_special_tokens=False), strict=True
    ):
        spans = [span for span in (token_span(offsets[row[1]], *span) for span in row[2]) if span]
        if row[2] and not spans:
            continue
        others = [place[number] for number in row[5] if number in place]
        questions.append({"ids": encoding.ids, "passage": place[row[1]], "spans": spans, "others": others, "source": at_source[row[3]], "answerable": ANSWERABLE.get(row[4], 1)})  # fmt: skip
    passages = [(one, found.parts[number]) for number, one in zip(kept, ids, strict=True)]
    write_examples(out / "data", passages, claims, questions, sources)


def token_span(offsets: numpy.ndarray, start: int, end: int) -> tuple[int, int] | None:
    """Return the first and last token of a span of characters."""
    inside = numpy.flatnonzero((offsets[:, 0] < end) & (offsets[:, 1] > start))
    return (int(inside[0]), int(inside[-1])) if len(inside) else None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--claims", type=Path, required=True, help="folder of *.jsonl.gz with claim, evidence, label, split, id"
    )
    parser.add_argument(
        "--texts", type=Path, required=True, help="folder with musique/ and hotpotqa/: corpus.jsonl, questions.jsonl"
    )
    parser.add_argument("--packages", type=Path, required=True, help="folder with source distributions of packages")
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--sections", type=int, default=250, help="sections of a package at most")
    parser.add_argument(
        "--sentences", type=int, default=80_000, help="true sentences that false ones are made from, at most"
    )
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    tokenizer = Tokenizer.from_file(str(given.tokenizer))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    verbs = asking.Verbs(frozenset(word for word in tokenizer.get_vocab() if len(word) > 2 and word.isalpha()))
    found, random = Collection(), Random(1)
    for source, rows in sources(given.claims):
        add_claims(found, rows, source)
        if source in ASKED:
            add_questions(found, rows, source, verbs, random)
        elif source in POLAR:
            add_polar(found, rows, source, verbs, random)
        print(source, len(found.claims), len(found.questions), flush=True)
    for corpus in ("musique", "hotpotqa"):
        add_corpus(found, given.texts / corpus)
    add_documents(found, read_documents(given.packages, given.sections, verbs))
    print("documents", len(found.numbers), len(found.questions), flush=True)
    add_made(found, true_sentences(found, given.texts, given.sentences), Random(3))
    add_written(found, given.packages)
    print(f"{len(found.numbers)} passages, {len(found.claims)} claims, {len(found.questions)} questions", flush=True)
    write(found, tokenizer, given.out)


if __name__ == "__main__":
    main()
