"""Generate sentences that a source says, and the same sentences made false: by rules, from the text alone, with a seed.

Untouched: word for word, and lightly reworded. Corrupted: a number changed, a name swapped for another one, a negation added or
removed, the citation moved to another source, a claim invented about the source's subject.
"""

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

from suffice.text.entities import content_stems, extract_names
from suffice.text.sentences import split_sentences
from suffice.types import Passage, Place

KINDS = (
    "untouched, word for word",
    "untouched, reworded",
    "number changed",
    "name swapped",
    "negation flipped",
    "citation moved",
    "claim invented",
)
_AUXILIARY = re.compile(r"\b(is|are|was|were|has been|have been|had been|can|could|will|would|may|must)\b(?! not\b)")
_NEGATION = re.compile(r"\b(is|are|was|were|did|does|do|can|could|has|have|had|would) not\b|\b(?:never)\b")
_NUMBER = re.compile(r"(?<![\w.,-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w,.]*\d)(?!-)")
_INVENTED = (
    "{} was awarded the Copley Medal in 1931.",
    "{} moved its headquarters to Rotterdam after a merger.",
    "{} inspired a musical that ran for two seasons on Broadway.",
    "{} was the subject of a parliamentary inquiry.",
    "{} has been translated into seventeen languages.",
    "Critics accused {} of copying an older design.",
)
_REWORDED = (
    (re.compile(r"^(?:However|Moreover|Furthermore|In addition|Additionally|Thus|Therefore), (\w)"), lambda m: m[1].upper()),
    (re.compile(r"\s*\([^()]*\)"), lambda m: ""),
    (re.compile(r"\bapproximately\b"), lambda m: "about"),
    (re.compile(r"\b(?:also|respectively) "), lambda m: ""),
    (re.compile(r"\bin order to\b"), lambda m: "to"),
    (re.compile(r"\bsuch as\b"), lambda m: "like"),
    (re.compile(r"\balthough\b"), lambda m: "though"),
    (re.compile(r"\b(was|were|is|are|did|does) not\b"), lambda m: f"{m[1]}n't"),
    (re.compile(r"(\d) ?%"), lambda m: f"{m[1]} percent"),
    (re.compile(r"\b(two|three|four|five|six|seven|eight|nine|ten)\b"), lambda m: _DIGITS[m[1]]),
    (
        re.compile(r"^(In|On|During|After|Before|At) ([^,]{3,40}), (\w)(.+)\.$"),
        lambda m: f"{m[3].upper()}{m[4]} {m[1].lower()} {m[2]}.",
    ),
)  # fmt: skip
_DIGITS = dict(zip("two three four five six seven eight nine ten".split(), map(str, range(2, 11)), strict=True))


def load_passages(data: Path, limit: int) -> list[Passage]:
    """Return shuffled passages of three corpora."""
    found = []
    for corpus in ("musique", "hotpotqa"):
        for line in (data / corpus / "corpus.jsonl").read_text().splitlines()[:limit]:
            row = json.loads(line)
            found.append(Passage(f"{corpus}:{row['id']}", row["text"], row["title"], Place(corpus, record=row["id"])))
    for line in (data / "scifact" / "documents.jsonl").read_text().splitlines()[: limit // 2]:
        row = json.loads(line)
        found.append(Passage(row["id"], " ".join(row["sentences"]), row["title"], Place("scifact", record=row["id"])))
    Random(71).shuffle(found)  # This seed and the one below were not used while the rules were written.
    return found[:limit]


def generate_corruptions(passages: Sequence[Passage], limit: int) -> Iterator[tuple[str, str, Passage]]:
    """Yield what was done, the sentence, and the passage that it is checked against."""
    random = Random(5)
    count = 0
    for number, passage in enumerate(passages):
        whole = [passage.text[start:end] for start, end in split_sentences(passage.text)]
        usable = [
            one
            for one in whole
            if 8 <= len(one.split()) <= 35 and one.endswith(".") and "\n" not in one and one[0].isupper()
        ]
        if not usable:
            continue
        sentence = random.choice(usable)
        count += 1
        if count > limit:
            return
        yield KINDS[0], sentence, passage
        yield KINDS[1], _reword(sentence), passage
        corrupted = (
            _change_number(sentence, random),
            _swap_name(sentence, passages, number, random),
            flip_negation(sentence),
        )
        for kind, changed in zip(KINDS[2:5], corrupted, strict=True):
            if changed and changed != sentence:
                yield kind, changed, passage
        yield KINDS[5], sentence, _find_similar_source(sentence, passages, number)
        yield KINDS[6], random.choice(_INVENTED).format(passage.title.rstrip(".")), passage


def _reword(sentence: str) -> str:
    changed = sentence
    for pattern, instead in _REWORDED:
        changed = pattern.sub(instead, changed)
    return changed if changed != sentence else f"According to the source, {sentence}"


def _change_number(sentence: str, random: Random) -> str:
    found = list(_NUMBER.finditer(sentence))
    if not found:
        return ""
    match = random.choice(found)
    text = match.group().replace(",", "")
    value = float(text)
    changed = value + random.choice([1, 2, 3, 7, 10]) if value >= 10 else value + random.choice([1, 2, 3])
    shown = f"{changed:.{len(text.partition('.')[2])}f}"
    return sentence[: match.start()] + shown + sentence[match.end() :]


def _swap_name(sentence: str, passages: Sequence[Passage], number: int, random: Random) -> str:
    """Replace a name by another one of the same passage (one time in two) or of another passage."""
    own = [name for name in extract_names(sentence) if len(name) > 3]
    same = [name for name in extract_names(passages[number].text) if not set(name.split()) & set(sentence.split())]
    others = extract_names(passages[(number + 17) % len(passages)].text)
    others = [name for name in others if not set(name.split()) & set(passages[number].text.split()) and len(name) > 3]
    choices = same if same and random.random() < 0.5 else others
    if not own or not choices:
        return ""
    return sentence.replace(random.choice(own), random.choice(choices), 1)


def flip_negation(sentence: str) -> str:
    """Return the sentence with a negation taken out, else put in."""
    if match := _NEGATION.search(sentence):
        return sentence[: match.start()] + (match[1] or "always") + sentence[match.end() :]
    return _AUXILIARY.sub(lambda match: f"{match[1]} not", sentence, count=1)


def _find_similar_source(sentence: str, passages: Sequence[Passage], number: int) -> Passage:
    """Return, of two hundred other passages, the one that shares most words with the sentence."""
    wanted = content_stems(sentence)
    near = [passages[(number + i) % len(passages)] for i in range(1, 201)]
    near = [passage for passage in near if sentence not in passage.text and passage.title != passages[number].title]
    return max(near, key=lambda passage: len(wanted & content_stems(passage.text)))
