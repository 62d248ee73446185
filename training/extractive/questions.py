"""Make questions with a known answer from documentation: ``python -m training.extractive.questions SDIST… --out FOLDER``.

A heading that is a question ("How do I …?", "How to …") asks what the text below it answers; so do the words of any longer
heading, as people type them into a search. The documentation is copied with such a heading shortened to about half of its
words, because people ask in other words than a heading has. ``FOLDER`` gets the copies and ``questions.jsonl``: question,
folder, and the file and lines of the section that answers it. ``written.jsonl`` adds questions that were written by hand for
some packages, with the strings of their answer, or none where the documentation has no answer; ``training/reader`` has more
of them, and those of the packages that its reader was not trained on are taken too, also over manuals that
``bench/sets/fetch.py FOLDER NAME… --list training/reader/corpora.json`` fetched before (``documents.TEST_PACKAGES``).
"""

import argparse
import gzip
import json
import re
import tarfile
from collections import Counter
from pathlib import Path
from random import Random

from suffice.text.entities import content_stems

WRITTEN = Path(__file__).with_name("written.jsonl")
WRITTEN_FOR_READER = Path(__file__).parents[1] / "reader" / "written_questions.jsonl.gz"
SEED = 7
SUFFIXES = (".rst", ".md", ".txt")
MIN_CHARS, MAX_CHARS = 120, 4000
MAX_QUESTIONS, MAX_KEYWORDS, MAX_WRITTEN = 40, 12, 60  # Of a package.
MIN_WORDS = 3
_MARKDOWN = re.compile(r"#{1,6}\s+(.+?)\s*#*$")
_UNDERLINE = re.compile(r"([=\-~^\"'*+#_.:`])\1{2,}\s*$")
_HOW_TO = re.compile(r"^how to (?=[a-z])", re.IGNORECASE)
_DOCS = re.compile(r"(?:^|/)(?:docs?|documentation|manual)/|/(?:README|FAQ)", re.IGNORECASE)
_KEYWORDS = re.compile(r"[A-Z][a-z]+(?: [\w-]+){2,10}")
_MARKS = re.compile(r":[\w:]+:`~?([^`<]+)[^`]*`|[`*]+")


def find_headings(lines: list[str]) -> list[tuple[int, int, str]]:
    """Return first line, first line of the section and words of each heading, in lines from 0."""
    found, in_code = [], False
    for i, line in enumerate(lines):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        if in_code:
            continue
        if match := _MARKDOWN.match(line):
            found.append((i, i + 1, match[1]))
        elif line.strip() and not line[0].isspace() and _UNDERLINE.match(lines[i + 1] if i + 1 < len(lines) else ""):
            found.append((i, i + 2, line.strip()))
    return found


def read_as_question(heading: str) -> str:
    """Return the question that a heading asks; empty if it asks none."""
    words = " ".join(_MARKS.sub(lambda mark: mark[1] or "", heading).split())
    if _HOW_TO.match(words):
        words = _HOW_TO.sub("How do I ", words).rstrip("?.:") + "?"
    if words.endswith("?"):
        return words if 4 <= len(words.split()) <= 25 and words.isascii() else ""
    return words if _KEYWORDS.fullmatch(words) and len(content_stems(words)) >= MIN_WORDS else ""


def shorten(heading: str, random: Random) -> str:
    """Return about half of the words of a heading, at least one."""
    words = [word for word in re.findall(r"[\w.-]+", heading) if len(word) > 3]
    kept = [word for word in words if random.random() < 0.5]
    return " ".join(kept or words[:1] or ["Notes"]).capitalize()


def convert(text: str, random: Random) -> tuple[str, list[tuple[str, int, int]]]:
    """Return the text with shortened headings, and each question with the lines of its answer, from 1."""
    lines, questions = text.split("\n"), []
    headings = find_headings(lines)
    for number, (start, body, heading) in enumerate(headings):
        end = headings[number + 1][0] if number + 1 < len(headings) else len(lines)
        question = read_as_question(heading)
        if question and MIN_CHARS <= len("\n".join(lines[body:end]).strip()) <= MAX_CHARS:
            questions.append((question, start + 1, end))
            short = shorten(heading, random)
            lines[start] = re.match(r"#*\s*", lines[start])[0] + short  # type: ignore[index]
            if body == start + 2:
                lines[start + 1] = lines[start + 1][0] * max(3, len(short))
    return "\n".join(lines), questions


def make(archive: Path, out: Path, random: Random) -> list[dict[str, object]]:
    """Copy the documentation of a source package and return its questions."""
    folder = out / re.sub(r"-[\d.]+\w*\.tar\.gz$", "", archive.name)
    found: list[dict[str, object]] = []
    with tarfile.open(archive) as opened:
        for member in opened:
            if not member.isfile() or not member.name.endswith(SUFFIXES) or not _DOCS.search(member.name):
                continue
            file = opened.extractfile(member)
            text, questions = convert(file.read().decode("utf-8", "replace") if file else "", random)
            path = folder / member.name.partition("/")[2]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            found += [
                {"question": question, "folder": str(folder), "path": str(path), "lines": [first, last]}
                for question, first, last in questions
            ]
    asked = [row for row in found if str(row["question"]).endswith("?")]
    typed = [row for row in found if row not in asked]
    return [
        row
        for rows, most in ((asked, MAX_QUESTIONS), (typed, MAX_KEYWORDS))
        for row in random.sample(rows, min(len(rows), most))
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("archives", nargs="+", type=Path, metavar="SDIST")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    random = Random(SEED)
    rows = [row for archive in options.archives for row in make(archive, options.out, random)]
    for row in map(json.loads, WRITTEN.read_text(encoding="utf-8").splitlines()):
        folder = options.out / row.pop("package")
        rows += [{**row, "folder": str(folder)}] if folder.is_dir() else []
    written = [json.loads(line) for line in gzip.decompress(WRITTEN_FOR_READER.read_bytes()).decode().splitlines()]
    random.shuffle(written)
    taken: Counter[str] = Counter()
    for row in written:
        folder, answer = options.out / row["package"], [[row["answer"]]] if row["answer"] else []
        taken[row["package"]] += 1
        if folder.is_dir() and taken[row["package"]] <= MAX_WRITTEN:
            rows.append({"question": row["question"], "answer": answer, "folder": str(folder)})
    lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (options.out / "questions.jsonl").write_text(lines, encoding="utf-8")
    print(len(rows), "questions of", len({row["folder"] for row in rows}), "packages")


if __name__ == "__main__":
    main()
