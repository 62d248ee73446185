"""Fit static token embeddings to MiniLM: ``fit.py --texts FILE --weights DIR --out FILE``.

Every token gets one vector; a text's vector is the mean of its tokens' vectors, scaled to length one. The vectors start as the
model's output for each token alone, reduced to 256 dimensions and weighted by rarity, and are then fitted so that texts get
the vectors, and pairs of texts the cosines, that MiniLM gives them. Needs PyTorch, best with a GPU; a few minutes.
"""

import argparse
import hashlib
import json
import lzma
import time
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer

DIMENSION = 256
MAX_TOKENS = 128
BATCH = 2048
DEV_SHARE = 25  # One text in so many is kept for measuring.


def embed(teacher: torch.nn.Module, encoded: list[list[int]]) -> np.ndarray:
    """Return the teacher's vectors, with texts of similar length side by side."""
    order = sorted(range(len(encoded)), key=lambda i: len(encoded[i]))
    vectors = np.zeros((len(encoded), 384), np.float32)
    device = next(teacher.parameters()).device
    for start in range(0, len(order), 1024):
        rows = order[start : start + 1024]
        ids = np.zeros((len(rows), len(encoded[rows[-1]])), np.int64)
        for row, i in enumerate(rows):
            ids[row, : len(encoded[i])] = encoded[i]
        lengths = torch.tensor([[len(encoded[i])] for i in rows], device=device)
        mask = (torch.arange(ids.shape[1], device=device)[None] < lengths).long()
        with torch.no_grad():
            hidden = teacher(input_ids=torch.tensor(ids, device=device), attention_mask=mask).last_hidden_state.float()
        pooled = (hidden * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        vectors[rows] = torch.nn.functional.normalize(pooled, dim=1).cpu().numpy()
    return vectors


def load_teacher(folder: Path) -> torch.nn.Module:
    """Load MiniLM from ``config.json`` and ``start.safetensors``, as ``training/claims/prepare.py`` writes them."""
    import safetensors.torch
    from transformers import BertConfig, BertModel

    model = BertModel(BertConfig.from_json_file(str(folder / "config.json")), add_pooling_layer=False)
    weights = safetensors.torch.load_file(folder / "start.safetensors")
    missing, _ = model.load_state_dict(
        {name.removeprefix("bert."): value.float() for name, value in weights.items()}, strict=False
    )
    assert not [name for name in missing if "position_ids" not in name], missing
    return model.eval().to("cuda" if torch.cuda.is_available() else "cpu").half()


def start_table(tokens: np.ndarray, counts: np.ndarray, texts: int, axes: np.ndarray) -> np.ndarray:
    return (tokens @ axes) * np.log((texts + 1) / (counts + 1))[:, None] / 10


class Student(torch.nn.Module):
    def __init__(self, table: np.ndarray) -> None:
        super().__init__()
        self.bag = torch.nn.EmbeddingBag.from_pretrained(torch.tensor(table), freeze=False, mode="sum")

    def forward(self, ids: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(self.bag(ids, offsets), dim=1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument(
        "--weights", type=Path, required=True, help="folder made by training/claims/prepare.py --weights"
    )
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--relations", type=float, default=1.0, help="weight of the cosines between texts")
    parser.add_argument("--pairs", type=float, default=0.0, help="weight of finding a claim's evidence")
    parser.add_argument("--cache", type=Path, help="keep the teacher's vectors here between fits")
    given = parser.parse_args()
    began = time.time()

    with lzma.open(given.texts, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    texts = list(dict.fromkeys(text for row in rows for text in row))
    number = {text: i for i, text in enumerate(texts)}
    tokenizer = Tokenizer.from_file(str(given.weights / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    encoded = [item.ids for item in tokenizer.encode_batch(texts)]
    special = {tokenizer.token_to_id(name) for name in ("[CLS]", "[SEP]", "[PAD]")}
    vocabulary = tokenizer.get_vocab_size()
    if given.cache is not None and given.cache.exists():
        stored = np.load(given.cache)
        target, tokens = stored["target"].astype(np.float32), stored["tokens"].astype(np.float32)
    else:
        teacher = load_teacher(given.weights)
        first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
        tokens = embed(teacher, [[first, i, last] for i in range(vocabulary)])
        target = embed(teacher, encoded)
        if given.cache is not None:
            np.savez(given.cache, target=target.astype(np.float16), tokens=tokens.astype(np.float16))
    print(
        f"{len(texts):,} texts, {sum(map(len, encoded)):,} tokens; teacher done after {time.time() - began:.0f} s",
        flush=True,
    )

    bags = [np.array([i for i in ids if i not in special] or [100]) for ids in encoded]
    is_dev = np.array([hashlib.md5(text.encode("utf-8", "replace")).digest()[0] % DEV_SHARE == 0 for text in texts])
    counts = np.zeros(vocabulary)
    for bag in bags:
        counts[np.unique(bag)] += 1
    axes = np.linalg.svd(target[~is_dev][:: max(1, len(texts) // 50_000)], full_matrices=False)[2][:DIMENSION].T
    device = "cuda" if torch.cuda.is_available() else "cpu"
    student = Student(start_table(tokens, counts, len(texts), axes).astype(np.float32)).to(device)
    goal = torch.tensor(target @ axes, device=device)
    goal = torch.nn.functional.normalize(goal, dim=1)

    flat = torch.tensor(np.concatenate(bags), device=device)
    starts = np.concatenate([[0], np.cumsum([len(bag) for bag in bags])])
    lengths = torch.tensor(np.diff(starts), device=device)
    begins = torch.tensor(starts[:-1], device=device)

    def gather(chosen: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        size = lengths[chosen]
        offsets = torch.cumsum(size, 0) - size
        position = torch.arange(int(size.sum()), device=device) - torch.repeat_interleave(offsets, size)
        return flat[torch.repeat_interleave(begins[chosen], size) + position], offsets

    pairs = np.array([[number[a], number[b]] for a, b in (row for row in rows if len(row) == 2)])
    dev_pairs = torch.tensor(pairs[is_dev[pairs].any(1)][:4000], device=device)
    train_pairs = torch.tensor(pairs[~is_dev[pairs].any(1)], device=device)

    def measure() -> str:
        with torch.no_grad():
            chosen = torch.tensor(np.flatnonzero(is_dev), device=device)
            mine = student(*gather(chosen))
            likeness = (mine * goal[chosen]).sum(1).mean().item()
            some = chosen[:3000]
            own, theirs = mine[:3000] @ mine[:3000].T, goal[some] @ goal[some].T
            order = torch.corrcoef(torch.stack([own.flatten(), theirs.flatten()]))[0, 1].item()
            found = []
            for rows_of in (lambda i: student(*gather(i)), lambda i: goal[i]):
                scores = rows_of(dev_pairs[:, 0]) @ rows_of(dev_pairs[:, 1]).T
                rank = (scores > scores.diagonal()[:, None]).sum(1)
                found.append((1 / (1 + rank.float())).mean().item())
        return f"cosine {likeness:.3f}, correlation {order:.3f}, claim→evidence MRR {found[0]:.3f} (teacher {found[1]:.3f})"

    print("start:", measure(), flush=True)
    train = torch.tensor(np.flatnonzero(~is_dev), device=device)
    steps = given.epochs * (len(train) // BATCH)
    optimizer = torch.optim.Adam(student.parameters(), lr=given.rate)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, given.rate, total_steps=steps, pct_start=0.1)
    step = 0
    for epoch in range(given.epochs):
        order = train[torch.randperm(len(train), device=device)]
        for start in range(0, len(order) - BATCH + 1, BATCH):
            chosen = order[start : start + BATCH]
            mine = student(*gather(chosen))
            loss = 1 - (mine * goal[chosen]).sum(1).mean()
            if given.relations:
                own, theirs = mine @ mine.T, goal[chosen] @ goal[chosen].T
                loss = loss + given.relations * 20 * ((own - theirs) ** 2).mean()
            if given.pairs:
                some = train_pairs[torch.randint(len(train_pairs), (1024,), device=device)]
                scores = student(*gather(some[:, 0])) @ student(*gather(some[:, 1])).T * 20
                same = some[:, 1][:, None] == some[:, 1][None]
                scores = scores.masked_fill(same & ~torch.eye(len(some), dtype=torch.bool, device=device), -1e4)
                loss = loss + given.pairs * torch.nn.functional.cross_entropy(
                    scores, torch.arange(len(some), device=device)
                )
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            step += 1
        if epoch % 5 == 4 or epoch == given.epochs - 1:
            print(f"epoch {epoch + 1}:", measure(), f"{time.time() - began:.0f} s", flush=True)
    table = student.bag.weight.detach().cpu().numpy()
    scale = np.abs(table).max(1, keepdims=True) / 127
    scale[scale == 0] = 1
    np.savez(given.out, vectors=np.round(table / scale).astype(np.int8), scales=scale[:, 0].astype(np.float32))


if __name__ == "__main__":
    main()
