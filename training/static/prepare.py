"""Collect English texts for fitting the static embeddings: ``prepare.py --claims DIR --documents DIR … --out FILE``.

``--claims`` is a folder of ``*.jsonl.gz`` with ``claim``, ``evidence`` and ``label``; ``--documents`` are folders of manuals,
which the readers of suffice cut into passages. Texts of the sets given with ``--exclude`` (folders with ``corpus.jsonl``) are
left out, so that recall on them is measured on texts the fit has not seen. A line is ``[text]``, or ``[claim, evidence]`` of a
supported claim.
"""

import argparse
import gzip
import hashlib
import html
import json
import lzma
import re
from collections.abc import Iterator
from pathlib import Path

from suffice.text.tokens import normalize_phrase

# Its passages come from a set that recall is measured on.
LEFT_OUT = {"ares_synthetic"}
MIN_WORDS = 8
_SCRIPT = re.compile(r"<(script|style)\b.*?</\1>", re.S | re.I)
_BLOCK = re.compile(r"</?(?:p|div|li|dd|dt|tr|h\d|pre|table|section)\b[^>]*>", re.I)
_TAG = re.compile(r"<[^>]*>")
MAX_CHARS = 800  # More than the 128 tokens that the teacher reads.


def read_claims(folder: Path) -> Iterator[list[str]]:
    for path in sorted(folder.glob("*.jsonl.gz")):
        if path.name.split(".")[0] in LEFT_OUT:
            continue
        with gzip.open(path, "rt", encoding="utf-8") as rows:
            for line in rows:
                row = json.loads(line)
                if row["label"] == "supported":
                    yield [row["claim"], row["evidence"]]
                else:
                    yield [row["claim"]]
                    yield [row["evidence"]]


def read_documents(folder: Path, limit: int) -> Iterator[list[str]]:
    """Return paragraphs of HTML and text files, at most ``limit``; files are taken in the order of their names' hashes."""
    paths = [path for path in folder.rglob("*") if path.suffix in (".html", ".txt") and path.is_file()]
    count = 0
    for path in sorted(paths, key=lambda path: _hash(path.name)):
        text = path.read_text("utf-8", "replace")
        text = (
            html.unescape(_TAG.sub(" ", _BLOCK.sub("\n\n", _SCRIPT.sub(" ", text)))) if path.suffix == ".html" else text
        )
        for paragraph in re.split(r"\n\s*\n", text):
            if len(paragraph.split()) >= MIN_WORDS:
                yield [paragraph]
                count += 1
        if count >= limit:
            return


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "replace")).digest()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--claims", type=Path, required=True)
    parser.add_argument("--documents", type=Path, nargs="*", default=[])
    parser.add_argument("--limit", type=int, default=8_000, help="passages of each folder of documents")
    parser.add_argument("--exclude", type=Path, nargs="*", default=[], help="folders of evaluation sets")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    excluded = set()
    for folder in given.exclude:
        for line in (folder / "corpus.jsonl").read_text("utf-8").splitlines():
            excluded.add(_hash(normalize_phrase(json.loads(line)["text"])))
    seen: set[bytes] = set()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    with lzma.open(given.out, "wt", encoding="utf-8", preset=3) as file:
        sources = [read_claims(given.claims), *(read_documents(folder, given.limit) for folder in given.documents)]
        for source in sources:
            for row in source:
                keys = {_hash(normalize_phrase(text)) for text in row}
                if keys & excluded or keys <= seen:
                    continue
                seen |= keys
                file.write(json.dumps([" ".join(text.split())[:MAX_CHARS] for text in row], ensure_ascii=False) + "\n")
    print(f"{len(seen):,} texts")


if __name__ == "__main__":
    main()
