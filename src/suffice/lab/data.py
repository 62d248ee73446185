"""Data sets of an experiment: published formats and our own, read from a folder.

Each loader returns questions with their true answers, gold passages and group (hop count, category), and for each question the
collection to search: a JSONL file of passages, or the folder of a repository. Collections that must be built from a published
file are written to the cache folder.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from suffice.errors import InputError
from suffice.replay.episodes import read_jsonl

Unanswerable = Literal["own", "swap", "none"]
LOCOMO_CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}


@dataclass(frozen=True, slots=True)
class LabQuestion:
    """A question, its true answers (none: it cannot be answered), its gold passages, and where to search."""

    id: str
    text: str
    answers: tuple[str, ...]
    gold: frozenset[str]
    group: str
    corpus: Path

    @property
    def answerable(self) -> bool:
        return bool(self.answers)


@dataclass(frozen=True, slots=True)
class Dataset:
    name: str
    format: str
    questions: tuple[LabQuestion, ...]


@dataclass(frozen=True, slots=True)
class DataFormat:
    """A published format: what it is, where it comes from, its licence and the files that a folder must hold."""

    name: str
    what: str
    source: str
    licence: str
    layout: str
    detect: Callable[[Path], bool]
    load: Callable[[Path, Path], Iterator[LabQuestion]]


def load_dataset(folder: Path, cache_dir: Path, unanswerable: Unanswerable = "own") -> Dataset:
    """Read a folder. ``unanswerable`` says which questions without an answer are kept: the set's own, entity swaps, none."""
    format = detect_format(folder)
    questions = list(format.load(folder, cache_dir / "lab"))
    if unanswerable != "own":
        questions = [question for question in questions if question.answerable]
    if unanswerable == "swap":
        if format.name != "locomo":
            raise InputError(
                f"{folder}: entity swaps are made from LoCoMo conversations; {format.name} names no speakers"
            )
        questions += list(swap_speakers(questions, folder))
    if not questions:
        raise InputError(f"{folder} holds no questions")
    if len({question.id for question in questions}) < len(questions):
        raise InputError(f"{folder}: two questions have the same id; ids must be unique")
    return Dataset(folder.resolve().name, format.name, tuple(questions))


def detect_format(folder: Path) -> DataFormat:
    """Return the format of a folder; raise ``InputError`` that says what a folder may hold."""
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; 'suffice lab data' lists the data sets and their layout")
    for format in FORMATS:
        if format.detect(folder):
            return format
    layouts = "; ".join(f"{format.name}: {format.layout}" for format in FORMATS)
    raise InputError(f"{folder} is none of the known data sets. A folder holds: {layouts}")


def sample_questions(questions: Sequence[LabQuestion], count: int | None, seed: int) -> list[LabQuestion]:
    """Return ``count`` questions in an order that depends on the seed and their ids only. A smaller sample is the beginning of
    a larger one."""
    ordered = sorted(questions, key=lambda question: hashlib.sha256(f"{seed} {question.id}".encode()).digest())
    return ordered[:count]


# -- formats -------------------------------------------------------------------------------------------------------------


def _load_own(folder: Path, cache: Path) -> Iterator[LabQuestion]:
    for _, item in read_jsonl(folder / "questions.jsonl"):
        answers, gold = _answers(item.get("answer"), item.get("aliases")), frozenset(map(str, item.get("gold") or ()))
        group = re.sub(r"^(\dhop)\d$", r"\1", str(item.get("kind") or item.get("group") or "all"))
        id, text = _text(item, "id"), _text(item, "question")
        yield LabQuestion(id, text, answers, gold, group, folder / "corpus.jsonl")


def _load_musique(folder: Path, cache: Path) -> Iterator[LabQuestion]:
    builder = CorpusBuilder(cache, folder, "musique")
    for path in sorted(folder.glob("musique*.jsonl")):
        for _, item in read_jsonl(path):
            added = [(builder.add(one["title"], one["paragraph_text"]), one) for one in item["paragraphs"]]
            gold = {id for id, paragraph in added if paragraph.get("is_supporting")}
            answers = _answers(item.get("answer"), item.get("answer_aliases")) if item.get("answerable", True) else ()
            id, text = _text(item, "id"), _text(item, "question")
            group = f"{id[0]}hop" if id[0].isdecimal() else "all"
            known = frozenset(gold if answers else ())
            yield LabQuestion(id, text, answers, known, group, builder.path)
    builder.write()


def _load_hotpot(folder: Path, cache: Path) -> Iterator[LabQuestion]:
    """HotpotQA and 2WikiMultihopQA: a list of questions with their paragraphs as ``[title, [sentence, …]]``."""
    builder = CorpusBuilder(cache, folder, "hotpot")
    for path in sorted(_find_hotpot_files(folder)):
        for item in json.loads(path.read_text(encoding="utf-8")):
            ids = {
                title: builder.add(title, " ".join(sentence.strip() for sentence in text))
                for title, text in item["context"]
            }
            gold = frozenset(ids[title] for title, _ in item["supporting_facts"] if title in ids)
            id, group = str(item.get("_id") or item.get("id")), str(item.get("type") or "all")
            yield LabQuestion(id, _text(item, "question"), _answers(item["answer"]), gold, group, builder.path)
    builder.write()


def _load_locomo(folder: Path, cache: Path) -> Iterator[LabQuestion]:
    for sample in _read_locomo(folder):
        conversation, name = sample["conversation"], str(sample["sample_id"])
        builder = CorpusBuilder(cache, folder, f"locomo-{name}")
        for key in conversation:
            if re.fullmatch(r"session_\d+", key):
                date = conversation.get(f"{key}_date_time", "")
                for turn in conversation[key]:
                    picture = f" (shows a picture: {turn['blip_caption']})" if turn.get("blip_caption") else ""
                    text = f"{turn['speaker']}: {turn['text']}{picture}"
                    builder.add(f"{turn['speaker']}, {date}", text, id=f"{name} {turn['dia_id']}")
        builder.write()
        for number, item in enumerate(sample["qa"], 1):
            gold = {f"{name} {id}" for evidence in item["evidence"] for id in re.findall(r"D\d+:\d+", evidence)}
            category = LOCOMO_CATEGORIES.get(item["category"], str(item["category"]))
            answers = () if category == "adversarial" else _answers(item.get("answer"))
            id, known = f"{name} q{number}", frozenset(gold if answers else ())
            yield LabQuestion(id, str(item["question"]), answers, known, category, builder.path)


def swap_speakers(questions: Iterable[LabQuestion], folder: Path) -> Iterator[LabQuestion]:
    """Yield questions that cannot be answered: the one speaker a question names is exchanged for the other.

    A question that names both or none of the speakers, or that both may share ("they"), is left out.
    """
    speakers = {
        str(sample["sample_id"]): (sample["conversation"]["speaker_a"], sample["conversation"]["speaker_b"])
        for sample in _read_locomo(folder)
    }
    for question in questions:
        first, second = speakers[question.id.split()[0]]
        named = [name for name in (first, second) if re.search(rf"\b{re.escape(name)}\b", question.text)]
        if len(named) != 1 or re.search(r"\b(?:both|they|their|and)\b", question.text, re.IGNORECASE):
            continue
        other = second if named[0] == first else first
        text = re.sub(rf"\b{re.escape(named[0])}\b", other, question.text)
        yield replace(question, id=f"{question.id} swap", text=text, answers=(), gold=frozenset(), group="entity swap")


def _load_sweqa(folder: Path, cache: Path) -> Iterator[LabQuestion]:
    for path in sorted(folder.glob("*.jsonl")):
        repository = folder / path.stem
        if not repository.is_dir():
            raise InputError(
                f"{path} asks about the repository {path.stem}; put its source into the folder {repository}"
            )
        for number, (_, item) in enumerate(read_jsonl(path), 1):
            id, answers = f"{path.stem} {number}", _answers(item.get("answer"))
            yield LabQuestion(id, _text(item, "question"), answers, frozenset(), path.stem, repository)


FORMATS: tuple[DataFormat, ...] = (
    DataFormat(
        "own",
        "your own questions over your own passages",
        "you",
        "yours",
        "corpus.jsonl ({id, title, text}) and questions.jsonl ({id, question, answer, aliases, gold, kind})",
        lambda folder: (folder / "questions.jsonl").is_file() and (folder / "corpus.jsonl").is_file(),
        _load_own,
    ),
    DataFormat(
        "locomo",
        "questions about ten long conversations; category 5 cannot be answered",
        "https://github.com/snap-research/locomo",
        "CC BY-NC 4.0",
        "locomo10.json",
        lambda folder: any(folder.glob("locomo*.json")),
        _load_locomo,
    ),
    DataFormat(
        "musique",
        "multi-hop questions, two to four hops",
        "https://github.com/StonyBrookNLP/musique",
        "CC BY 4.0",
        "musique_ans_v1.0_dev.jsonl (or another musique*.jsonl)",
        lambda folder: any(folder.glob("musique*.jsonl")),
        _load_musique,
    ),
    DataFormat(
        "hotpotqa",
        "two-hop questions; 2WikiMultihopQA has the same format",
        "https://hotpotqa.github.io and https://github.com/Alab-NII/2wikimultihop",
        "CC BY-SA 4.0 (HotpotQA), Apache-2.0 (2WikiMultihopQA)",
        "hotpot*.json, or dev.json of 2WikiMultihopQA",
        lambda folder: bool(_find_hotpot_files(folder)),
        _load_hotpot,
    ),
    DataFormat(
        "sweqa",
        "questions about repositories (SWE-QA, SWE-QA-Pro)",
        "https://github.com/peng-weihan/SWE-QA-Bench",
        "Apache-2.0",
        "REPOSITORY.jsonl ({question, answer}) beside the folder REPOSITORY/ with its source",
        lambda folder: _is_sweqa(folder),
        _load_sweqa,
    ),
)


class CorpusBuilder:
    """Collects passages, each once, and writes them as a JSONL collection into the cache folder."""

    def __init__(self, cache: Path, folder: Path, name: str) -> None:
        digest = hashlib.sha256(str(folder.resolve()).encode()).hexdigest()[:12]
        self.path = cache / f"{name}-{digest}.jsonl"
        self._ids: dict[tuple[str, str], str] = {}
        self._lines: list[str] = []

    def add(self, title: str, text: str, id: str | None = None) -> str:
        """Add a passage and return its id; without an ``id``, the same passage is added once."""
        key = (title, text if id is None else f"{id} {text}")
        if key not in self._ids:
            self._ids[key] = id or f"p{len(self._ids)}"
            self._lines.append(json.dumps({"id": self._ids[key], "title": title, "text": text}, ensure_ascii=False))
        return self._ids[key]

    def write(self) -> None:
        content = "\n".join(self._lines) + "\n"
        try:
            if not self.path.exists() or self.path.read_text(encoding="utf-8") != content:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                part = self.path.with_suffix(f".{hashlib.sha256(content.encode()).hexdigest()[:8]}.part")
                part.write_text(content, encoding="utf-8")
                part.replace(self.path)
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}; set SUFFICE_CACHE_DIR") from error


def _find_hotpot_files(folder: Path) -> list[Path]:
    found = [*folder.glob("hotpot*.json"), *folder.glob("2wiki*.json")]
    others = (folder / f"{name}.json" for name in ("dev", "test", "train"))
    return found or [path for path in others if path.is_file()]


def _is_sweqa(folder: Path) -> bool:
    for path in sorted(folder.glob("*.jsonl")):
        with path.open(encoding="utf-8") as lines:
            try:
                first = json.loads(next(lines, "null"))
            except ValueError:
                return False
        return isinstance(first, dict) and {"question", "answer"} <= first.keys() and "rounds" not in first
    return False


def _read_locomo(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("locomo*.json")):
        try:
            yield from json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise InputError(f"{path} cannot be read as JSON: {error}; download it again") from error


def _answers(answer: Any, aliases: Iterable[Any] | None = None) -> tuple[str, ...]:
    given = [str(text) for text in (answer, *(aliases or ())) if text is not None and str(text).strip()]
    return tuple(dict.fromkeys(given))


def _text(item: dict[str, Any], name: str) -> str:
    if item.get(name) in (None, ""):
        raise InputError(f"A question has no {name!r}: {json.dumps(item, ensure_ascii=False)[:120]}")
    return str(item[name])
