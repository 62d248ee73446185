"""Export trained weights as an int8 ONNX file with its tokenizer and a record of where it comes from."""

import argparse
import json
import shutil
from pathlib import Path

import torch
from safetensors.torch import load
from transformers import BertConfig, BertForSequenceClassification


class Probabilities(torch.nn.Module):
    """The model with calibrated probabilities as its output."""

    def __init__(self, model: BertForSequenceClassification, temperature: float) -> None:
        super().__init__()
        self.model = model
        self.temperature = temperature

    def forward(
        self, input_ids: torch.Tensor, attention_mask: torch.Tensor, token_type_ids: torch.Tensor
    ) -> torch.Tensor:
        logits = self.model(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids).logits
        return torch.softmax(logits / self.temperature, dim=-1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder that prepare.py wrote")
    parser.add_argument("--run", type=Path, required=True, help="folder that train.py wrote")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    summary = json.loads((given.run / "summary.json").read_text())
    config = BertConfig.from_json_file(given.data / "config.json")
    config.num_labels = 3
    config._attn_implementation = "eager"
    model = BertForSequenceClassification(config)
    state = load(b"".join(path.read_bytes() for path in sorted(given.run.glob("weights.*"))))
    model.load_state_dict({name: value.float() for name, value in state.items()}, strict=False)
    wrapped = Probabilities(model.eval(), summary["temperature"]).eval()
    example = tuple(torch.ones((2, 16), dtype=torch.long) for _ in range(3))
    names = ["input_ids", "attention_mask", "token_type_ids"]
    plain = given.out / "model.fp32.onnx"
    torch.onnx.export(
        wrapped,
        example,
        str(plain),
        input_names=names,
        output_names=["probabilities"],
        dynamic_axes={name: {0: "pairs", 1: "tokens"} for name in names} | {"probabilities": {0: "pairs"}},
        opset_version=17,
        dynamo=False,
    )
    from onnxruntime.quantization import QuantType, quantize_dynamic

    quantize_dynamic(str(plain), str(given.out / "model.onnx"), weight_type=QuantType.QInt8, per_channel=True)
    shutil.copy(given.data / "tokenizer.json", given.out / "tokenizer.json")
    (given.out / "provenance.json").write_text(json.dumps(summary, indent=1))
    for path in sorted(given.out.iterdir()):
        print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
