"""Teach MiniLM which passage answers a question: contrastive training from the weights that ship.

    python training/minilm/train.py --data build/minilm --out build/tuned.npz

``build/minilm`` is what ``prepare.py`` wrote. A question should be nearer to the stretch that holds its answer than to the
other stretches of the batch: those of the same packages, and the nearest wrong ones of its package, which are looked for again
with the weights of the moment. What a stretch's vector was before holds it in place (``--hold``), because gates, meters and
weights were fitted on cosines between passages. Word embeddings stay. Packages that are not trained on are measured: recall
among all passages of the package, each by its nearest stretch. Torch, numpy and tokenizers are enough; wants a GPU (three
minutes).
"""

import argparse
import itertools
import json
import lzma
import math
import random
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import torch
from tokenizers import Tokenizer
from torch.nn import functional

LAYERS, HEADS, WIDTH, MAX_TOKENS = 6, 12, 384, 128
STRETCH, STEP = 400, 260  # As in suffice/measure/stretches.py.
PACKAGES, QUESTIONS, NEAR = 4, 48, 3  # Of a batch, of each package, and of each question.
MINED, LOOKED_AT = 16, 40  # Wrong stretches that a question keeps, of so many that are nearest.
SHARPNESS = 20.0
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


@dataclass
class Asked:
    """A question by its tokens, with the stretches that may answer it and the passages that are not wrong."""

    question: int
    right: list[int]
    passage: int
    spared: set[int]
    answer: str
    wrong: list[int] = field(default_factory=list)


class Package:
    """Passages cut into stretches, and questions about them; texts are numbers in ``tokens``."""

    def __init__(self, row: dict, tokenizer: Tokenizer, tokens: list[numpy.ndarray]) -> None:
        def add(texts: list[str]) -> list[int]:
            tokens.extend(numpy.array(one.ids, numpy.int32) for one in tokenizer.encode_batch(texts))
            return list(range(len(tokens) - len(texts), len(tokens)))

        self.name, self.part = row["name"], row["part"]
        self.texts = [f"{title}\n{text}".lower() for title, text in row["passages"]]
        cut = [split(title, text) for title, text in row["passages"]]
        self.ends = numpy.cumsum([0, *map(len, cut)]).tolist()
        self.stretches = numpy.array(add([one for own in cut for one in own]))
        self.owner = numpy.repeat(numpy.arange(len(cut)), list(map(len, cut)))
        self.asked = []
        numbers = add([question for question, *_ in row["questions"]])
        for at, (number, (_, passage, answer)) in enumerate(zip(numbers, row["questions"], strict=True)):
            start = self.ends[passage]
            own = [int(self.stretches[start + i]) for i, text in enumerate(cut[passage]) if answer in text]
            right = own or self.stretches[start : self.ends[passage + 1]].tolist()
            spared = {passage, *(row["gold"][at] if "gold" in row else [])}
            self.asked.append(Asked(number, right[:3], passage, spared, answer.lower()))


def split(title: str, text: str) -> list[str]:
    return [f"{title}. {text[at : at + STRETCH]}" for at in range(0, max(1, len(text) - STRETCH + STEP), STEP)]


class Encoder:
    """MiniLM with its weights in a dictionary."""

    def __init__(self, weights: dict[str, torch.Tensor], tokens: list[numpy.ndarray]) -> None:
        self.weights, self.tokens = weights, tokens

    def linear(self, hidden: torch.Tensor, name: str) -> torch.Tensor:
        return functional.linear(hidden, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def norm(self, hidden: torch.Tensor, name: str) -> torch.Tensor:
        parts = (self.weights[f"{name}.LayerNorm.{end}"] for end in ("weight", "bias"))
        return functional.layer_norm(hidden, (WIDTH,), *parts, 1e-12)

    def embed(self, numbers: list[int], dropout: float = 0.0) -> torch.Tensor:
        """Return unit vectors of texts, given by their numbers."""
        rows = [self.tokens[number] for number in numbers]
        lengths = numpy.array(list(map(len, rows)))
        padded = numpy.zeros((len(rows), lengths.max()), numpy.int64)
        for place, row in enumerate(rows):
            padded[place, : len(row)] = row
        length = padded.shape[1]
        ids = torch.from_numpy(padded).to(DEVICE)
        mask = torch.arange(length, device=DEVICE)[None] < torch.from_numpy(lengths).to(DEVICE)[:, None]
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
    def embed_many(self, numbers: list[int]) -> torch.Tensor:
        """Return the same for many texts, those of like length together."""
        order = sorted(range(len(numbers)), key=lambda at: len(self.tokens[numbers[at]]))
        found = torch.empty((len(numbers), WIDTH), device=DEVICE)
        for start in range(0, len(order), 2048):
            places = order[start : start + 2048]
            found[torch.tensor(places, device=DEVICE)] = self.embed([numbers[place] for place in places])
        return found


@torch.no_grad()
def measure(encoder: Encoder, packages: list[Package]) -> dict[int, float]:
    """Return how often the right passage is among the first, by its nearest stretch."""
    places = []
    for one in packages:
        cosines = encoder.embed_many([asked.question for asked in one.asked]) @ encoder.embed_many(one.stretches).T
        best = torch.stack([cosines[:, a:b].amax(1) for a, b in itertools.pairwise(one.ends)], dim=1)
        right = best.gather(1, torch.tensor([asked.passage for asked in one.asked], device=DEVICE)[:, None])
        places += (best > right).sum(1).tolist()
    return {count: round(sum(place < count for place in places) / len(places), 3) for count in (1, 3, 8, 12, 30)}


@torch.no_grad()
def mine(encoder: Encoder, packages: list[Package]) -> None:
    """Find the wrong stretches that are nearest to each question."""
    for one in packages:
        cosines = encoder.embed_many([asked.question for asked in one.asked]) @ encoder.embed_many(one.stretches).T
        nearest = torch.topk(cosines, min(LOOKED_AT, cosines.shape[1]), dim=1).indices.tolist()
        for asked, row in zip(one.asked, nearest, strict=True):
            wrong = [at for at in row if one.owner[at] not in asked.spared]
            wrong = [at for at in wrong if not (asked.answer and asked.answer in one.texts[one.owner[at]])]
            asked.wrong = [int(one.stretches[at]) for at in wrong[:MINED]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=277)
    parser.add_argument("--rate", type=float, default=8e-5)
    parser.add_argument("--hold", type=float, default=0.7)
    given = parser.parse_args()
    tokenizer, tokens = Tokenizer.from_file(str(given.data / "tokenizer.json")), list[numpy.ndarray]()
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    with lzma.open(given.data / "packages.json.xz", "rt") as file:
        rows = [row for row in json.load(file) if row["questions"]]
    parts: dict[str, list[Package]] = {}
    for row in rows:
        parts.setdefault(row["part"], []).append(Package(row, tokenizer, tokens))
    training, held = parts.pop("train"), {name: parts[name] for name in parts}
    with numpy.load(given.data / "start.npz") as stored:
        weights = {name: torch.tensor(stored[name].astype("float32"), device=DEVICE) for name in stored.files}
    start = Encoder(weights, tokens)
    learnt = {name: value.clone().requires_grad_("word_embeddings" not in name) for name, value in weights.items()}
    encoder = Encoder(learnt, tokens)
    print("before", {name: measure(start, own) for name, own in held.items()}, flush=True)
    optimizer = torch.optim.AdamW(
        [one for one in learnt.values() if one.requires_grad], lr=given.rate, weight_decay=0.01
    )
    chance = random.Random(0)
    sizes = [len(one.asked) ** 0.75 for one in training]
    for step in range(given.steps):
        if step % max(1, given.steps // 3) == 0:
            mine(encoder, training)
        for group in optimizer.param_groups:
            fall = max(0.02, 0.5 * (1 + math.cos(math.pi * step / given.steps)))
            group["lr"] = given.rate * min(1, (step + 1) / 100) * fall
        asked: list[Asked] = []
        for one in chance.choices(training, sizes, k=PACKAGES):
            asked += chance.sample(one.asked, min(QUESTIONS, len(one.asked)))
        right = [chance.choice(one.right) for one in asked]
        wrong = [text for one in asked for text in chance.sample(one.wrong, min(NEAR, len(one.wrong)))]
        texts = list(dict.fromkeys(right + wrong))
        scores = SHARPNESS * encoder.embed([one.question for one in asked], 0.1) @ encoder.embed(texts, 0.1).T
        places = {text: place for place, text in enumerate(texts)}
        loss = functional.cross_entropy(scores, torch.tensor([places[text] for text in right], device=DEVICE))
        with torch.no_grad():
            before = start.embed(texts)
        loss = loss + given.hold * (1 - (encoder.embed(texts) * before).sum(1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("after", {name: measure(encoder, own) for name, own in held.items()}, flush=True)
    tuned = {name: value.detach().cpu().numpy() for name, value in learnt.items() if value.requires_grad}
    numpy.savez(given.out, **{name: value.astype("float16") for name, value in tuned.items()})


if __name__ == "__main__":
    main()
