"""Export trained weights as an int8 ONNX file, fit its temperatures on the development part and record where it comes from.

    python training/reader/export.py --size small --weights build/small --start build/gpu/start --held build/gpu/held.jsonl.xz --out build/model

With ``--start`` the weights are the mean of the trained ones and those that the training started from. Inputs: ``input_ids``,
``attention_mask``, ``token_type_ids``. Outputs: ``claims`` (supported, contradicted, not enough), ``answerable`` and ``ends`` (first
and last token of the answer), all logits. The temperature of claims is fitted on sources that were not trained on, because on the
others a reader is surer than it should be.
"""

import argparse
import hashlib
import json
import lzma
from pathlib import Path
from random import Random

import numpy
from alter import HELD_BACK
from model import OUTPUTS, load

from examples import LABELS
from suffice.models.reader import ReaderModel

NAMES = ["input_ids", "attention_mask", "token_type_ids"]
START = {
    "small": "suffice-reader-1, which started from sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0)",
    "large": "sentence-transformers/all-mpnet-base-v2 (Apache-2.0)",
}


def export(size: str, weights: list[Path], start: list[Path], out: Path) -> None:
    """Write the model with int8 weights, the mean of both if ``start`` names some."""
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    plain = out / "float.onnx"
    out.mkdir(parents=True, exist_ok=True)
    axes = {name: {0: "pairs", 1: "tokens"} for name in [*NAMES, "ends"]} | {
        name: {0: "pairs"} for name in OUTPUTS if name != "ends"
    }
    pair = tuple(torch.ones((2, 16), dtype=torch.long) for _ in NAMES)
    model = load(size, weights).eval()
    if start:
        before = load(size, start).state_dict()
        model.load_state_dict({name: (value + before[name]) / 2 for name, value in model.state_dict().items()})
    torch.onnx.export(model, pair, str(plain), input_names=NAMES, output_names=list(OUTPUTS), dynamic_axes=axes, opset_version=17, dynamo=False)  # fmt: skip
    quantize_dynamic(str(plain), str(out / "model.onnx"), weight_type=QuantType.QInt8, per_channel=True)
    plain.unlink()


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


def record(folder: Path, given: dict) -> None:
    digest = hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    (folder / "provenance.json").write_text(json.dumps(given | {"sha256": digest}, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", choices=("small", "large"), required=True)
    parser.add_argument("--weights", type=Path, required=True, help="folder that train.py wrote")
    parser.add_argument("--start", type=Path, help="folder with the start weights of pack.py: take the mean of both")
    parser.add_argument("--held", type=Path, required=True, help="held.jsonl.xz of prepare.py")
    parser.add_argument(
        "--rows", type=int, default=600, help="development rows that each temperature is fitted on, at most"
    )
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    stored = f"{given.size}{16 if given.size == 'small' else 8}"
    start = sorted(given.start.rglob(f"{given.size}.[0-9]*")) if given.start else []
    export(given.size, sorted(given.weights.rglob(f"{stored}.[0-9]*")), start, given.out)
    record(given.out, {"temperatures": {"claims": 1.0, "answerable": 1.0}})
    reader = ReaderModel(given.out)
    claims, questions = load_held(given.held)
    claims = [row for row in claims if row["source"] in HELD_BACK][: given.rows]
    judged = numpy.log(reader.judge([(row["claim"], row["passage"]) for row in claims]) + 1e-9)
    labels = numpy.array([LABELS[row["label"]] for row in claims])
    pairs = [(row["question"], row["passage"], row["kind"] == "wh") for row in questions if row["kind"] != "relevant"]
    pairs += [(row["question"], other, False) for row in questions for other in row["others"][:1]]
    pairs = pairs[:: max(1, len(pairs) // given.rows)]
    answers = numpy.array([reader.read(question, [passage])[0].probability for question, passage, _ in pairs])
    answerable = numpy.array([int(true) for *_, true in pairs])
    logits = numpy.log(answers + 1e-9) - numpy.log(1 - answers + 1e-9)
    temperatures = {
        "claims": fit_temperature(claim_loss, judged, labels),
        "answerable": fit_temperature(answer_loss, logits, answerable),
    }
    summary = (
        json.loads((given.weights / "summary.json").read_text()) if (given.weights / "summary.json").exists() else {}
    )
    development = {name: value["all"] for name, value in summary.get("development", {}).items()}
    provenance = {
        "model": ReaderModel.name,
        "start_weights": START[given.size],
        "weights": "mean of the trained weights and those that they started from" if start else "trained",
        "recipe": "training/reader",
        "temperatures": temperatures,
        "training": {name: summary.get(name) for name in ("steps", "drawn", "seconds")},
        "development": development,
        "export": {
            "rows": {"claims": len(claims), "questions": len(pairs)},
            "claims_loss": [round(claim_loss(judged / value, labels), 4) for value in (1, temperatures["claims"])],
            "answerable_loss": [
                round(answer_loss(logits / value, answerable), 4) for value in (1, temperatures["answerable"])
            ],
        },
    }
    record(given.out, provenance)
    print(json.dumps(provenance, indent=1))


if __name__ == "__main__":
    main()
