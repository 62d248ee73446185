"""Turn the rows of a grid into those that are kept here: ``python -m bench.lab_keep ROWS… --data FOLDER… --out DIR``.

Of two rows of the same question and cell the first is kept. Lexical scores are computed again from the answers. Then all
that may quote a data set (answers, queries) is removed. Writes ``rows.jsonl.gz``, the same bytes for the same rows, and
``tables.md``.
"""

import argparse
import gzip
import io
import json
from pathlib import Path
from typing import Any

from suffice import settings
from suffice.lab.data import load_dataset
from suffice.lab.episode import Row
from suffice.lab.grid import Key, make_key, read_rows
from suffice.lab.result_table import to_markdown
from suffice.lab.scores import score_lexically
from suffice.lab.tables import build_tables

_TEXTS = ("answer", "query_texts", "passages_by_round")


def strip_row(row: dict[str, Any]) -> dict[str, Any]:
    """Return a row without texts and without times, which differ from run to run."""
    return {name: value for name, value in row.items() if name not in (*_TEXTS, "seconds")}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="+", type=Path)
    parser.add_argument("--data", action="append", type=Path, default=[])
    parser.add_argument("--model-name", help="the model behind a server that names none")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    truths: dict[tuple[str, str], tuple[str, ...]] = {}
    for folder in options.data:
        dataset = load_dataset(folder, settings.load().cache_dir)
        truths |= {(dataset.name, question.id): question.answers for question in dataset.questions}
    rows: dict[Key, Row] = {}
    for path in options.rows:
        for row in read_rows(path):
            rows.setdefault(make_key(row), row)
    for row in rows.values():
        key = (row["data"], row["question"])
        if "answer" in row and key in truths:
            scores = score_lexically(row["answer"], truths[key])
            row["scores"] |= {name: None if value is None else round(value, 4) for name, value in scores.items()}
        row["model"] = options.model_name or row["model"]
    kept = [strip_row(rows[key]) for key in sorted(rows)]
    options.out.mkdir(parents=True, exist_ok=True)
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", mtime=0) as file:
        file.write("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept).encode())
    (options.out / "rows.jsonl.gz").write_bytes(packed.getvalue())
    text = "\n\n".join(map(to_markdown, build_tables(kept)))
    (options.out / "tables.md").write_text(text + "\n", encoding="utf-8")
    print(f"{len(kept):,} rows, {len(packed.getvalue()):,} bytes")


if __name__ == "__main__":
    main()
