"""The reader in PyTorch: one encoder with heads for claims and answers. Needs torch and numpy only.

Three sizes: ``small`` (MiniLM, 6 layers, 384 dimensions, the one that ships), ``large`` (MPNet, 12 layers, 768 dimensions, its
teacher) and ``middle`` (every second layer of a large one). All read the token ids of the BERT vocabulary; ``pack.py`` puts
MPNet's embeddings in that order. Weights are stored as int8 with a scale for each row, or as float16, in files small enough to be
copied one by one.
"""

import io
import lzma
import math
from pathlib import Path

import numpy
import torch
from torch import nn
from torch.nn import functional

SIZES = {
    "small": {"layers": 6, "width": 384, "heads": 12, "epsilon": 1e-12, "relative": False},
    "large": {"layers": 12, "width": 768, "heads": 12, "epsilon": 1e-5, "relative": True},
}
SIZES["middle"] = SIZES["large"] | {"layers": 6}
STARTS = {"small": "small", "large": "large", "middle": "large"}
VOCABULARY, POSITIONS, BUCKETS = 30_522, 512, 32
LOUD = 16  # Inputs of a layer that stay floats when it is exported.
OUTPUTS = ("claims", "answerable", "ends")
PIECE_BYTES = 15 * 2**20


class Layer(nn.Module):
    """A transformer layer with the norm after each part."""

    def __init__(self, width: int, heads: int, epsilon: float, dropout: float = 0.1) -> None:
        super().__init__()
        self.heads, self.rate = heads, dropout
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.attention_norm = nn.LayerNorm(width, eps=epsilon)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm = nn.LayerNorm(width, eps=epsilon)
        self.dropout = nn.Dropout(dropout)

    def forward(self, hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        """Attend under an additive mask, then transform each token."""
        rows, length, width = hidden.shape

        def split(tensor: torch.Tensor) -> torch.Tensor:
            return tensor.view(rows, length, self.heads, width // self.heads).transpose(1, 2)

        query, key, value = split(self.query(hidden)), split(self.key(hidden)), split(self.value(hidden))
        if torch.onnx.is_in_onnx_export():
            scores = query @ key.transpose(2, 3) / math.sqrt(width // self.heads) + mask
            read = scores.softmax(dim=-1) @ value
        else:
            rate = self.rate if self.training else 0.0
            read = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=rate)
        read = self.out(read.transpose(1, 2).reshape(rows, length, width))
        hidden = self.attention_norm(hidden + self.dropout(read))
        return self.norm(hidden + self.dropout(self.down(functional.gelu(self.up(hidden)))))


class Split(nn.Module):
    """A linear layer whose loudest inputs are read apart, as floats: int8 shares one scale among all inputs and would lose the others."""

    def __init__(self, linear: nn.Linear, loudness: torch.Tensor) -> None:
        super().__init__()
        channels = loudness.topk(LOUD).indices.sort().values
        self.weight, self.bias = linear.weight, linear.bias
        self.few = nn.Parameter(self.weight.data[:, channels].T.clone())
        self.weight.data[:, channels] = 0.0
        self.register_buffer("channels", channels)
        self.register_buffer("quiet", torch.ones(linear.in_features).index_fill(0, channels, 0.0))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return what the linear layer would."""
        return functional.linear(hidden * self.quiet, self.weight, self.bias) + hidden[..., self.channels] @ self.few


class Reader(nn.Module):
    """The encoder and its three heads."""

    def __init__(self, size: str) -> None:
        super().__init__()
        given = SIZES[size]
        width = given["width"]
        self.heads = given["heads"]
        self.words = nn.Embedding(VOCABULARY, width)
        self.positions = nn.Embedding(POSITIONS, width)
        self.kinds = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=given["epsilon"])
        self.relative = nn.Embedding(BUCKETS, given["heads"]) if given["relative"] else None
        self.layers = nn.ModuleList(Layer(width, given["heads"], given["epsilon"]) for _ in range(given["layers"]))
        self.dropout = nn.Dropout(0.1)
        self.claims = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Dropout(0.1), nn.Linear(width, 3))
        self.answerable = nn.Sequential(nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1))
        self.ends = nn.Linear(width, 2)

    def encode(self, ids: torch.Tensor, mask: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
        """Return the last hidden state of every token."""
        places = torch.arange(ids.shape[1], device=ids.device)
        hidden = self.norm(self.words(ids) + self.positions(places) + self.kinds(kinds))
        hidden = self.dropout(hidden)
        hidden = hidden.to(torch.bfloat16) if torch.is_autocast_enabled(ids.device.type) else hidden
        bias = (1.0 - mask[:, None, None, :].to(hidden.dtype)) * -1e4
        if self.relative is not None:
            near = self.relative.weight[buckets(places)].permute(2, 0, 1)[None].to(hidden.dtype)
            bias = bias + near.detach()
        elif not torch.onnx.is_in_onnx_export():
            bias = bias.expand(len(ids), 1, ids.shape[1], ids.shape[1])
        for layer in self.layers:
            hidden = layer(hidden, bias)
        return hidden

    def forward(self, ids: torch.Tensor, mask: torch.Tensor, kinds: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return claim logits, the answerable logit, and start and end logits of every token."""
        hidden = self.dropout(self.encode(ids, mask, kinds))
        first = hidden[:, 0]
        return self.claims(first), self.answerable(first).squeeze(-1), self.ends(hidden)


@torch.no_grad()
def split(model: Reader, pairs: list[tuple[torch.Tensor, ...]]) -> None:
    """Let the feed-forward layers read apart the inputs that are loudest in these pairs."""
    loudness: dict[str, torch.Tensor] = {}

    def listen(name: str, given: tuple[torch.Tensor, ...]) -> None:
        most = given[0].abs().amax(dim=(0, 1))
        loudness[name] = torch.maximum(loudness.get(name, most), most)

    parts = [(layer, part, f"{number}.{part}") for number, layer in enumerate(model.layers) for part in ("up", "down")]
    hooks = [
        getattr(layer, part).register_forward_pre_hook(lambda _, given, name=name: listen(name, given))
        for layer, part, name in parts
    ]
    for pair in pairs:
        model(*pair)
    for hook in hooks:
        hook.remove()
    for layer, part, name in parts:
        setattr(layer, part, Split(getattr(layer, part), loudness[name]))


def buckets(places: torch.Tensor) -> torch.Tensor:
    """Return MPNet's bucket of each pair of places: exact up to 7 tokens apart, then by the logarithm of the distance."""
    apart = places[:, None] - places[None, :]
    half, exact = BUCKETS // 2, BUCKETS // 4
    distance = apart.abs()
    far = exact + (torch.log(distance.clamp(min=1).float() / exact) / math.log(128 / exact) * (half - exact)).long()
    found = torch.where(distance < exact, distance, far.clamp(max=half - 1))
    return found + (apart < 0).long() * half


# -- weights on disk ---------------------------------------------------------------------------------------------------


def store(state: dict[str, numpy.ndarray], folder: Path, name: str, bits: int) -> list[Path]:
    """Write weights as ``NAME.000``, ``NAME.001`` …: int8 rows with scales, or float16, packed with LZMA."""
    arrays: dict[str, numpy.ndarray] = {}
    for key, value in state.items():
        value = numpy.asarray(value, dtype=numpy.float32)
        if bits == 8 and value.ndim == 2 and value.size > 10_000:
            scale = numpy.abs(value).max(axis=1) / 127 + 1e-12
            arrays[f"{key}:rows"] = numpy.rint(value / scale[:, None]).astype(numpy.int8)
            arrays[f"{key}:scale"] = scale.astype(numpy.float32)
        else:
            arrays[key] = value.astype(numpy.float16 if bits == 16 and value.size > 10_000 else numpy.float32)
    buffer = io.BytesIO()
    numpy.savez(buffer, **arrays)
    packed = lzma.compress(buffer.getvalue(), preset=0) if bits == 8 else buffer.getvalue()
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob(f"{name}.[0-9][0-9][0-9]"):
        old.unlink()
    paths = []
    for number, start in enumerate(range(0, len(packed), PIECE_BYTES)):
        paths.append(folder / f"{name}.{number:03d}")
        paths[-1].write_bytes(packed[start : start + PIECE_BYTES])
    return paths


def restore(paths: list[Path]) -> dict[str, torch.Tensor]:
    """Read what ``store`` wrote, from its pieces in any folders."""
    packed = b"".join(path.read_bytes() for path in sorted(paths, key=lambda path: path.name))
    raw = lzma.decompress(packed) if packed[:6] == b"\xfd7zXZ\x00" else packed
    with numpy.load(io.BytesIO(raw)) as arrays:
        found = {}
        for key in arrays.files:
            if key.endswith(":rows"):
                key = key.removesuffix(":rows")
                value = arrays[f"{key}:rows"].astype(numpy.float32) * arrays[f"{key}:scale"][:, None]
            elif key.endswith(":scale"):
                continue
            else:
                value = arrays[key].astype(numpy.float32)
            found[key] = torch.from_numpy(value)
    return found


def load(size: str, paths: list[Path]) -> Reader:
    """Return a reader with stored weights; heads that are not among them keep their random start."""
    torch.manual_seed(0)
    model = Reader(size)
    nn.init.zeros_(model.kinds.weight)
    for head in (model.claims, model.answerable):
        nn.init.normal_(head[-1].weight, std=0.02)
        nn.init.zeros_(head[-1].bias)
    found = restore(paths)
    if size == "middle" and f"layers.{SIZES['large']['layers'] - 1}.norm.weight" in found:
        found = _halve(found)
    missing = model.load_state_dict(found, strict=False)
    if missing.unexpected_keys or any(key.startswith(("words", "layers")) for key in missing.missing_keys):
        raise ValueError(f"these weights do not fit the {size} reader: {missing}")
    return model


def _halve(weights: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Keep the second of each two layers."""
    kept = {key: value for key, value in weights.items() if not key.startswith("layers.")}
    for key, value in weights.items():
        layer, _, rest = key.removeprefix("layers.").partition(".")
        if key not in kept and int(layer) % 2:
            kept[f"layers.{int(layer) // 2}.{rest}"] = value
    return kept
