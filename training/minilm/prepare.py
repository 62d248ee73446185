"""Collect what MiniLM learns from: questions with the passages that answer them, of documentation and of encyclopedias.

    python training/minilm/prepare.py --packages SDISTS --claims CLAIMS --texts TEXTS --out build/minilm

Writes ``packages.json.xz`` (each with name, part, passages and questions), ``start.npz`` (the float weights of the model that
ships) and the tokenizer, so that ``train.py`` needs nothing of suffice. ``SDISTS``, ``CLAIMS`` and ``TEXTS`` are those of
``training/reader``. A true claim is a question that its evidence answers. Of MuSiQue and HotpotQA questions with an odd number
are trained on, the others measured. Needs onnx.
"""

import argparse
import gzip
import hashlib
import json
import lzma
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy
import onnx
from onnx import numpy_helper

from suffice.models.embeddings.minilm import FOLDER

sys.path.insert(0, str(Path(__file__).parents[1] / "reader"))

import documents
import prepare as reading
import written

CLAIMS = {"squad": 3000, "squadshifts_wiki": 3000, "nq_oracle": 1500, "fever": 3000, "boolq": 1200, "clapnq": 600}
MATRICES = ("attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense")
MATRICES += ("intermediate.dense", "output.dense")  # Of a layer, in the order of the exported graph.


def read_packages(folder: Path) -> Iterator[dict]:
    """Yield the documentation of packages with the questions that were written about it."""
    rows = written.read_rows("written_questions.jsonl.gz")
    for name in dict.fromkeys(row["package"] for row in rows if row["package"] not in documents.EXCLUDED):
        passages = written.read_passages(folder, name)
        places = {(one.title, hashlib.sha256(one.text.encode()).hexdigest()): at for at, one in enumerate(passages)}
        asked = [row for row in rows if row["package"] == name and row["answer"]]
        own = [(row, places.get((row["title"], row["sha256"]))) for row in asked]
        questions = [(row["question"], at, row["answer"].split("\n")[0]) for row, at in own if at is not None]
        texts = [(one.title, one.text) for one in passages]
        yield {"name": name, "part": documents.part_of(name), "passages": texts, "questions": questions}


def read_claims(folder: Path) -> Iterator[dict]:
    """Yield sources of claims; only passages of the training part."""
    for name, most in CLAIMS.items():
        lines = gzip.decompress((folder / f"{name}.jsonl.gz").read_bytes()).decode().splitlines()
        rows = [row for row in map(json.loads, lines) if reading.part_of(row["evidence"]) == "train"]
        places = {text: at for at, text in enumerate(dict.fromkeys(row["evidence"] for row in rows))}
        true = [(row["claim"], places[row["evidence"]], "") for row in rows if row["label"] == "supported"]
        yield {"name": name, "part": "train", "passages": [("", text) for text in places], "questions": true[:most]}


def read_multihop(folder: Path) -> Iterator[dict]:
    """Yield the two halves of each set; a question stands there once for each passage that it needs."""
    for name in ("musique", "hotpotqa"):
        corpus = [json.loads(line) for line in (folder / name / "corpus.jsonl").open()]
        places = {row["id"]: at for at, row in enumerate(corpus)}
        rows = [json.loads(line) for line in (folder / name / "questions.jsonl").open()]
        texts = [(row["title"], row["text"]) for row in corpus]
        for part, half in (("train", rows[1::2]), ("multihop", rows[0::2])):
            gold = [[places[one] for one in row["gold"]] for row in half]
            questions = [(row["question"], at, "") for row, own in zip(half, gold, strict=True) for at in own]
            other = [own for own in gold for _ in own]
            yield {"name": name, "part": part, "passages": texts, "questions": questions, "gold": other}


def read_weights(path: Path) -> dict[str, numpy.ndarray]:
    """Return the weights of the exported model as floats, by the names that they have in transformers."""
    graph = onnx.load(str(path)).graph
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}

    def scale_back(stem: str) -> numpy.ndarray:
        apart = values[f"{stem}_quantized"].astype(numpy.float32) - values[f"{stem}_zero_point"].astype(numpy.float32)
        return numpy.asarray(apart * values[f"{stem}_scale"], numpy.float32)

    found = {name.removeprefix("model."): value for name, value in values.items() if value.dtype == numpy.float32}
    found = {name: value for name, value in found.items() if not name.endswith("_scale")}
    for kind in ("word", "position", "token_type"):
        found[f"embeddings.{kind}_embeddings.weight"] = scale_back(f"model.embeddings.{kind}_embeddings.weight")
    used = [
        one
        for node in graph.node
        for one in node.input
        if one.startswith("onnx::MatMul") and one.endswith("_quantized")
    ]
    for number, name in enumerate(dict.fromkeys(used)):
        layer, part = divmod(number, len(MATRICES))
        found[f"encoder.layer.{layer}.{MATRICES[part]}.weight"] = scale_back(name.removesuffix("_quantized")).T
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    for name in ("packages", "claims", "texts", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    found = [*read_packages(given.packages), *read_claims(given.claims), *read_multihop(given.texts)]
    with lzma.open(given.out / "packages.json.xz", "wt", preset=6) as file:
        json.dump(found, file)
    numpy.savez_compressed(
        given.out / "start.npz",
        **{name: one.astype("float16") for name, one in read_weights(FOLDER / "model.onnx").items()},
    )
    shutil.copy(FOLDER / "tokenizer.json", given.out)


if __name__ == "__main__":
    main()
