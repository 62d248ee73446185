"""Export trained weights as an int8 ONNX file, fit its temperatures on the development part and record where it comes from.

    python training/reader/export.py --model answers --weights build/small --held build/gpu/held.jsonl.xz --out build/model

It writes ``MODEL.onnx`` and its record in ``provenance.json``. With ``--start`` the weights are a mean of the trained ones
(``--share`` of them) and those of a reader before. Inputs: ``input_ids``, ``attention_mask``, ``token_type_ids``. Outputs: ``claims`` (supported,
contradicted, not enough), ``answerable`` and ``ends`` (first and last token of the answer), all logits; the small models use their own only. The
temperature of claims is fitted on sources that were not trained on, because on the others a reader is surer than it should be.
"""

import argparse
import hashlib
import json
import lzma
import zlib
from pathlib import Path
from random import Random

import numpy
from alter import HELD_BACK
from model import OUTPUTS, STARTS, load, split

from examples import LABELS
from suffice.models.embeddings.minilm import load_tokenizer
from suffice.models.reader.model import MODELS, ReaderModel

NAMES = ["input_ids", "attention_mask", "token_type_ids"]
START = {
    "small": "the reader that ships, which started from sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)",
    "middle": "every second layer of a large reader, which started from sentence-transformers/all-mpnet-base-v2 (Apache-2.0)",
    "large": "sentence-transformers/all-mpnet-base-v2 (Apache-2.0)",
}


def export(size: str, weights: list[Path], start: list[Path], share: float, heard: list[dict], out: Path) -> None:
    """Write the model with int8 weights, a mean of both with ``share`` of the first if ``start`` names some.

    In ``heard``, rows of the development part, it listens for the inputs that int8 would lose the others for.
    """
    import onnx
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    plain = out.with_suffix(".float.onnx")
    out.parent.mkdir(parents=True, exist_ok=True)
    axes = {name: {0: "pairs", 1: "tokens"} for name in [*NAMES, "ends"]} | {
        name: {0: "pairs"} for name in OUTPUTS if name != "ends"
    }
    pair = tuple(torch.ones((2, 16), dtype=torch.long) for _ in NAMES)
    model = load(size, weights).eval()
    if start:
        before = load(size, start).state_dict()
        mixed = {name: share * value + (1 - share) * before[name] for name, value in model.state_dict().items()}
        model.load_state_dict(mixed)
    if size != "small":  # Its inputs are about equally loud.
        split(model, [encode(row) for row in heard])
    torch.onnx.export(model, pair, str(plain), input_names=NAMES, output_names=list(OUTPUTS), dynamic_axes=axes, opset_version=17, dynamo=False)  # fmt: skip
    floats = [node.name for node in onnx.load(plain).graph.node if any(name.endswith(".few") for name in node.input)]
    quantize_dynamic(str(plain), str(out), weight_type=QuantType.QInt8, per_channel=True, nodes_to_exclude=floats)
    plain.unlink()


def encode(row: dict) -> tuple:
    """Return the inputs of the network for a claim or question with its passage."""
    import torch

    pair = load_tokenizer(512).encode(row.get("claim") or row["question"], row["passage"])
    return tuple(torch.tensor([ids]) for ids in (pair.ids, pair.attention_mask, pair.type_ids))


def load_held(path: Path) -> tuple[list[dict], list[dict]]:
    """Return claims and questions of the development part, in random order that never changes."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        rows = [row for row in map(json.loads, file) if row["part"] == "dev"]
    Random(3).shuffle(rows)
    return [row for row in rows if "claim" in row], [row for row in rows if "question" in row]


def claim_loss(logits: numpy.ndarray, labels: numpy.ndarray) -> float:
    """Mean negative log probability of the label; label 3 is contradicted or not enough."""
    logs = logits - numpy.logaddexp.reduce(logits, axis=1)[:, None]
    logs = numpy.concatenate([logs, numpy.logaddexp(logs[:, 1], logs[:, 2])[:, None]], axis=1)
    return float(-logs[numpy.arange(len(labels)), labels].mean())


def answer_loss(logits: numpy.ndarray, labels: numpy.ndarray) -> float:
    return float(numpy.logaddexp(0, numpy.where(labels == 1, -logits, logits)).mean())


def fit_temperature(loss, logits: numpy.ndarray, labels: numpy.ndarray) -> float:
    """Return the temperature between 0.5 and 4 with the least loss."""
    choices = numpy.arange(0.5, 4.0, 0.01)
    return round(float(min(choices, key=lambda value: loss(logits / value, labels))), 2)


def record(folder: Path, model: str, given: dict) -> None:
    """Write the record of a model, beside those of the others if there are some."""
    path = folder / "provenance.json"
    records = json.loads(path.read_text()) if path.exists() else {}
    weights = (folder / f"{model}.onnx").read_bytes()
    marks = {"sha256": hashlib.sha256(weights).hexdigest(), "crc32": zlib.crc32(weights)}
    path.write_text(json.dumps(records | {model: given | marks}, indent=1) + "\n")


def read_claims(reader: ReaderModel, model: str, rows: list[dict]) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return the log probabilities of claims, and their labels."""
    judged = [reader.judge_by(model, row["claim"], row["passage"]) for row in rows]
    return numpy.log(numpy.array(judged) + 1e-9), numpy.array([LABELS[row["label"]] for row in rows])


def read_answers(reader: ReaderModel, model: str, rows: list[tuple]) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return the log-odds that a passage answers a question, and whether it does."""
    read = reader.reread if model == "large" else reader.read
    found = numpy.array([read(question, [passage])[0].probability for question, passage, _ in rows])
    return numpy.log(found + 1e-9) - numpy.log(1 - found + 1e-9), numpy.array([int(true) for *_, true in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--model", choices=MODELS, required=True, help="what the weights are for")
    parser.add_argument("--size", choices=tuple(STARTS), default="small")
    parser.add_argument("--weights", type=Path, required=True, help="folder that train.py wrote")
    parser.add_argument("--start", type=Path, help="folder with weights of pack.py: take a mean of both")
    parser.add_argument("--share", type=float, default=0.5, help="share of the trained weights in that mean")
    parser.add_argument("--held", type=Path, required=True, help="held.jsonl.xz of prepare.py")
    parser.add_argument("--rows", type=int, default=600, help="development rows for the temperature, at most")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    stored = f"{given.size}{16 if given.size == 'small' else 8}"
    start = sorted(given.start.rglob(f"{STARTS[given.size]}.[0-9]*")) if given.start else []
    claims, questions = load_held(given.held)
    export(
        given.size,
        sorted(given.weights.rglob(f"{stored}.[0-9]*")),
        start,
        given.share,
        [*claims[:30], *questions[:30]],
        given.out / f"{given.model}.onnx",
    )
    record(given.out, given.model, {"temperature": {"claims": 1.0, "answers": 1.0}})
    reader = ReaderModel(given.out)
    temperature, losses = {}, {}
    for job in ("claims", "answers") if given.model == "large" else (given.model,):
        if job == "claims":
            rows: list = [row for row in claims if row["source"] in HELD_BACK][: given.rows]
            loss, (logits, labels) = claim_loss, read_claims(reader, given.model, rows)
        else:
            rows = [(row["question"], row["passage"], row["kind"] == "wh") for row in questions if row["kind"] != "relevant"]  # fmt: skip
            rows += [(row["question"], other, False) for row in questions for other in row["others"][:1]]
            rows = rows[:: max(1, len(rows) // given.rows)]
            loss, (logits, labels) = answer_loss, read_answers(reader, given.model, rows)
        temperature[job] = fit_temperature(loss, logits, labels)
        losses[job] = [len(rows), *(round(loss(logits / value, labels), 4) for value in (1, temperature[job]))]
    path = given.weights / "summary.json"
    summary = json.loads(path.read_text()) if path.exists() else {}
    provenance = {
        "start_weights": START[given.size],
        "weights": f"{given.share} of the trained weights, the rest of a reader before" if start else "trained",
        "recipe": "training/reader",
        "temperature": temperature,
        "training": {name: summary.get(name) for name in ("steps", "drawn", "seconds")},
        "development": {name: value["all"] for name, value in summary.get("development", {}).items()},
        "export": losses,  # Rows, loss before, loss with the temperature.
    }
    record(given.out, given.model, provenance)
    print(json.dumps(provenance, indent=1))


if __name__ == "__main__":
    main()
