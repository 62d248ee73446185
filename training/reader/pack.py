"""Put start weights into the form that ``model.py`` reads: MPNet or the large reader that ships, and the small one that ships.

python training/reader/pack.py --large all-mpnet-base-v2/model.safetensors --small src/suffice/models/reader/answers.onnx --out build/gpu
"""

import argparse
import json
from pathlib import Path

import numpy
import onnx
from model import SIZES, VOCABULARY, store
from onnx import numpy_helper

CLS, SEP, PAD = 101, 102, 0
MPNET_SPECIAL = {CLS: 0, SEP: 2, PAD: 1}
MPNET_SHIFT = 4  # MPNet's vocabulary is BERT's, four places later, with its own three marks at the front.
PARTS = {
    "attention.attn.q": "query",
    "attention.attn.k": "key",
    "attention.attn.v": "value",
    "attention.attn.o": "out",
    "attention.LayerNorm": "attention_norm",
    "intermediate.dense": "up",
    "output.dense": "down",
    "output.LayerNorm": "norm",
}
EMBEDDINGS = ("words.weight", "positions.weight", "kinds.weight", "relative.weight")
MATRICES = ("query", "key", "value", "out", "up", "down")  # Of a layer, in the order of the exported graph.


def read_safetensors(path: Path) -> dict[str, numpy.ndarray]:
    """Read float32 and int64 tensors of a safetensors file."""
    raw = path.read_bytes()
    size = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + size])
    kinds = {"F32": numpy.float32, "I64": numpy.int64}
    return {
        name: numpy.frombuffer(
            raw, kinds[at["dtype"]], offset=8 + size + at["data_offsets"][0], count=int(numpy.prod(at["shape"]))
        ).reshape(at["shape"])
        for name, at in header.items()
        if name != "__metadata__"
    }


def from_mpnet(tensors: dict[str, numpy.ndarray]) -> dict[str, numpy.ndarray]:
    """Rename MPNet's weights, with its word embeddings in the order of the BERT vocabulary."""
    order = numpy.arange(VOCABULARY) + MPNET_SHIFT
    for ours, theirs in MPNET_SPECIAL.items():
        order[ours] = theirs
    found = {
        "words.weight": tensors["embeddings.word_embeddings.weight"][order],
        "positions.weight": tensors["embeddings.position_embeddings.weight"][2:],
        "relative.weight": tensors["encoder.relative_attention_bias.weight"],
    }
    for end in ("weight", "bias"):
        found[f"norm.{end}"] = tensors[f"embeddings.LayerNorm.{end}"]
        for head in ("claims", "answerable"):
            found[f"{head}.0.{end}"] = tensors[f"pooler.dense.{end}"]
        for layer in range(SIZES["large"]["layers"]):
            for theirs, ours in PARTS.items():
                found[f"layers.{layer}.{ours}.{end}"] = tensors[f"encoder.layer.{layer}.{theirs}.{end}"]
    return found


def from_onnx(path: Path, size: str) -> dict[str, numpy.ndarray]:
    """Return float weights of the exported int8 reader: its quantised matrices are scaled back and named by their place."""
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(str(path)).graph.initializer}
    found = {name: value for name, value in values.items() if name.endswith(("bias", "norm.weight"))}
    matrices = [f"layers.{layer}.{part}" for layer in range(SIZES[size]["layers"]) for part in MATRICES] + ["ends"]
    for name in [name for name in values if name.endswith("_quantized")]:
        stem = name.removesuffix("_quantized")
        apart = values[name].astype(numpy.float32) - values[f"{stem}_zero_point"].astype(numpy.float32)
        value = apart * values[f"{stem}_scale"]
        if stem.startswith("onnx::MatMul"):
            found[f"{matrices.pop(0)}.weight"] = value.T
        else:
            found[stem] = value if stem in EMBEDDINGS else value.T
    for name in [name for name in values if name.endswith(".few")]:
        stem = name.removesuffix(".few")
        found[f"{stem}.weight"][:, values[f"{stem}.channels"]] = values[name].T
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument(
        "--large",
        type=Path,
        required=True,
        help="model.safetensors of all-mpnet-base-v2, or large.onnx that ships, in one piece",
    )
    parser.add_argument("--small", type=Path, required=True, help="answers.onnx or claims.onnx that ships")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    is_trained = given.large.suffix == ".onnx"
    large = from_onnx(given.large, "large") if is_trained else from_mpnet(read_safetensors(given.large))
    for name, state in (("large", large), ("small", from_onnx(given.small, "small"))):
        for path in store(state, given.out / "start", name, 8):
            print(path, path.stat().st_size)


if __name__ == "__main__":
    main()
