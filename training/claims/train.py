"""Train the claim model: claim and passage in, P(supported), P(contradicted), P(not enough) out.

Rows labelled ``not_supported`` (their source does not say which) train P(contradicted) + P(not enough). Short evidence is
hidden among other passages of its source for a share of the draws, because the product shows whole passages. Sources are drawn
with weights: small human-labelled files more often, sentence-level NLI less often. The last phase uses passages only.
"""

import argparse
import json
import lzma
import math
import random
import time
from collections import defaultdict
from pathlib import Path

import numpy
import torch
from tokenizers import Tokenizer
from torch import nn
from transformers import BertConfig, BertForSequenceClassification

LABELS = {"supported": 0, "contradicted": 1, "unsupported": 2, "not_supported": 3}
MAX_TOKENS = 512
CLS, SEP = 101, 102
NLI = frozenset(
    "mnli snli cad_nli negation_nli semi_auto_nli te_protocols med scitail qasc entailmentbank".split()
)  # Sentence-level sources, drawn less often.
SMALL_HUMAN = frozenset(
    "wice summedits scifact_train check_covid citation_integrity clinifact fm2 defacto clapnq quotesum feverous".split()
)  # Small files labelled by people, drawn more often.
PASSAGE = SMALL_HUMAN | frozenset(
    """fever scitldr cochrane_simplification qmsum swipe passage_edits factor factcg_cg2c_doc realsumm_scu condaqa pubmedqa
    wikisplit covid_qa squad nq_oracle evidence_inference""".split()
)  # Sources with passages as evidence, the only ones of the last phase.


def load(folder: Path) -> list[dict]:
    with lzma.open(folder / "pairs.jsonl.xz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def encode(rows: list[dict], tokenizer: Tokenizer) -> None:
    """Add token ids of claim and evidence to each row, in place."""
    tokenizer.no_padding()
    tokenizer.no_truncation()
    for key in ("claim", "evidence"):
        texts = [row[key] for row in rows]
        for start in range(0, len(texts), 20_000):
            for row, encoding in zip(
                rows[start:],
                tokenizer.encode_batch(texts[start : start + 20_000], add_special_tokens=False),
                strict=False,
            ):
                row[key + "_ids"] = numpy.array(encoding.ids, dtype=numpy.int32)


class Draws:
    """Draws training examples: a source by weight, then a row of it, hidden among other evidence now and then."""

    def __init__(self, rows: list[dict], hide: float, seed: int) -> None:
        self.by_source: dict[str, list[dict]] = defaultdict(list)
        for row in rows:
            self.by_source[row["source_file"]].append(row)
        self.hide = hide
        self.random = random.Random(seed)

    def weights(self, sources: list[str]) -> list[float]:
        def factor(name: str) -> float:
            return 2.0 if name in SMALL_HUMAN else 0.6 if name in NLI else 1.0

        return [factor(name) * len(self.by_source[name]) for name in sources]

    def draw(self, count: int, sources: list[str]) -> list[tuple[numpy.ndarray, int, int]]:
        """Return ``count`` examples: token ids, length of the first segment, label."""
        chosen = self.random.choices(sources, self.weights(sources), k=count)
        return [self.example(self.random.choice(self.by_source[name])) for name in chosen]

    def example(self, row: dict) -> tuple[numpy.ndarray, int, int]:
        evidence = row["evidence_ids"]
        if len(evidence) < 90 and self.random.random() < self.hide:
            evidence = self.hidden(row, evidence)
        return join(row["claim_ids"], evidence, LABELS[row["label"]])

    def hidden(self, row: dict, evidence: numpy.ndarray) -> numpy.ndarray:
        others = [
            other["evidence_ids"][:120]
            for other in self.random.choices(self.by_source[row["source_file"]], k=self.random.randint(1, 3))
            if other["evidence"] != row["evidence"] and other["claim"] != row["claim"]
        ]
        pieces = [*others, evidence]
        self.random.shuffle(pieces)
        return numpy.concatenate(pieces)


def join(claim: numpy.ndarray, evidence: numpy.ndarray, label: int) -> tuple[numpy.ndarray, int, int]:
    claim = claim[:160]
    evidence = evidence[: MAX_TOKENS - 3 - len(claim)]
    ids = numpy.concatenate([[CLS], claim, [SEP], evidence, [SEP]]).astype(numpy.int64)
    return ids, len(claim) + 2, label


def batches(examples: list, tokens: int, shuffle: random.Random | None = None) -> list[list[int]]:
    """Group examples of similar length so that a batch has at most ``tokens`` padded tokens."""
    order = sorted(
        range(len(examples)), key=lambda i: (len(examples[i][0]) // 16, (shuffle or random).random() if shuffle else i)
    )
    found: list[list[int]] = []
    batch: list[int] = []
    longest = 0
    for i in order:
        longest_new = max(longest, len(examples[i][0]))
        if batch and longest_new * (len(batch) + 1) > tokens:
            found.append(batch)
            batch, longest_new = [], len(examples[i][0])
        batch.append(i)
        longest = longest_new
    found.append(batch)
    if shuffle:
        shuffle.shuffle(found)
    return found


def tensors(examples: list, indices: list[int], device: str) -> tuple[torch.Tensor, ...]:
    longest = max(len(examples[i][0]) for i in indices)
    ids = numpy.zeros((len(indices), longest), dtype=numpy.int64)
    mask = numpy.zeros_like(ids)
    kinds = numpy.zeros_like(ids)
    for row, i in enumerate(indices):
        tokens, first, _ = examples[i]
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
        kinds[row, first : len(tokens)] = 1
    labels = numpy.array([examples[i][2] for i in indices])
    return tuple(torch.from_numpy(array).to(device, non_blocking=True) for array in (ids, mask, kinds, labels))


def loss_of(logits: torch.Tensor, labels: torch.Tensor, smoothing: float) -> torch.Tensor:
    """Cross entropy; label 3 (not supported) is the sum of the two other classes."""
    logs = torch.log_softmax(logits.float(), dim=-1)
    joined = torch.logsumexp(logs[:, 1:], dim=-1, keepdim=True)
    targets = torch.cat([logs, joined], dim=-1)
    plain = -targets.gather(1, labels[:, None]).squeeze(1)
    return ((1 - smoothing) * plain - smoothing * logs.mean(dim=-1)).mean()


@torch.no_grad()
def predict(model: nn.Module, examples: list, device: str) -> numpy.ndarray:
    """Return the logits of all examples, in order."""
    model.eval()
    logits = numpy.zeros((len(examples), 3), dtype=numpy.float32)
    for indices in batches(examples, 65_536):
        ids, mask, kinds, _ = tensors(examples, indices, device)
        with torch.autocast(device, dtype=torch.bfloat16):
            out = model(input_ids=ids, attention_mask=mask, token_type_ids=kinds).logits
        logits[indices] = out.float().cpu().numpy()
    model.train()
    return logits


def balanced(logits: numpy.ndarray, labels: numpy.ndarray) -> float:
    """Balanced accuracy of supported against everything else."""
    shifted = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    said = shifted[:, 0] / shifted.sum(axis=1) >= 0.5
    true = labels == 0
    sides = [said[true].mean() if true.any() else numpy.nan, (~said[~true]).mean() if (~true).any() else numpy.nan]
    return float(numpy.nanmean(sides))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--draws", type=int, default=150_000, help="examples in each epoch")
    parser.add_argument("--rate", type=float, default=1e-4, help="highest learning rate")
    parser.add_argument("--tokens", type=int, default=16_384, help="padded tokens in a batch")
    parser.add_argument("--hide", type=float, default=0.4, help="share of short evidence hidden among other passages")
    parser.add_argument("--smoothing", type=float, default=0.02)
    parser.add_argument("--hold-out", default="", help="sources that are not trained on, separated by commas")
    parser.add_argument("--minutes", type=float, default=60.0, help="stop early after this long, with what was learned")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    torch.manual_seed(given.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    rows = load(given.data)
    for row in rows:
        row["source_file"] = row["source"]
    encode(rows, Tokenizer.from_file(str(given.data / "tokenizer.json")))
    held = set(filter(None, given.hold_out.split(",")))
    train = [row for row in rows if row["part"] == "train" and row["source_file"] not in held]
    dev_rows = [row for row in rows if row["part"] == "dev" or (row["source_file"] in held and row["part"] != "test")]
    dev = [join(row["claim_ids"], row["evidence_ids"], LABELS[row["label"]]) for row in dev_rows]
    dev_labels = numpy.array([example[2] for example in dev])
    print(f"{len(train)} training rows, {len(dev)} development rows, {time.monotonic() - began:.0f} s", flush=True)

    config = BertConfig.from_json_file(given.data / "config.json")
    config.num_labels = 3
    model = BertForSequenceClassification(config)
    from safetensors.torch import load_file

    start = {
        f"bert.{name}": value.float()
        for name, value in load_file(given.data / "start.safetensors").items()
        if name != "embeddings.position_ids"
    }
    missing = model.load_state_dict(start, strict=False)
    print("not in the start weights:", missing.missing_keys, "unused:", missing.unexpected_keys, flush=True)
    model.to(device).train()
    decay = [value for name, value in model.named_parameters() if value.ndim > 1]
    rest = [value for name, value in model.named_parameters() if value.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}], lr=given.rate
    )
    draws = Draws(train, given.hide, given.seed)
    sources = sorted(draws.by_source)
    shuffle = random.Random(given.seed)
    mean_tokens = 230
    total = given.epochs * given.draws * mean_tokens // given.tokens
    step, progress, started = 0, 0.0, time.monotonic()
    for epoch in range(given.epochs):
        last = given.epochs > 1 and (epoch == given.epochs - 1 or progress > 0.8)
        examples = draws.draw(given.draws, [name for name in sources if name in PASSAGE] if last else sources)
        sums = 0.0
        planned = batches(examples, given.tokens, shuffle)
        total = step + len(planned) * (given.epochs - epoch)
        for number, indices in enumerate(planned):
            # The schedule follows the clock when time is the tighter limit, so that the rate always comes down to its end.
            progress = max(
                step / max(total, 1), (time.monotonic() - started) / (given.minutes * 60 - (started - began))
            )
            rate = (
                given.rate
                * min(1.0, (step + 1) / (0.06 * total))
                * max(0.02, 0.5 * (1 + math.cos(math.pi * min(progress, 1.0))))
            )
            for group in optimizer.param_groups:
                group["lr"] = rate
            ids, mask, kinds, labels = tensors(examples, indices, device)
            with torch.autocast(device, dtype=torch.bfloat16):
                logits = model(input_ids=ids, attention_mask=mask, token_type_ids=kinds).logits
            loss = loss_of(logits, labels, given.smoothing)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            if number % 50 == 0:
                sums = 0.9 * sums + 0.1 * float(loss.detach()) if sums else float(loss.detach())
            step += 1
            if progress >= 1:
                break
        found = predict(model, dev, device)
        print(
            f"epoch {epoch + 1}: loss {sums:.3f}, development balanced accuracy {balanced(found, dev_labels):.4f}, "
            f"{time.monotonic() - began:.0f} s",
            flush=True,
        )
        if progress >= 1:
            break

    by_source = {}
    for name in sorted({row["source_file"] for row in dev_rows}):
        chosen = numpy.array([row["source_file"] == name for row in dev_rows])
        by_source[name] = {
            "rows": int(chosen.sum()),
            "balanced": round(balanced(found[chosen], dev_labels[chosen]), 4),
            "held_out": name in held,
        }
    temperature = fit_temperature(found, dev_labels)
    summary = {
        "arguments": {key: str(value) for key, value in vars(given).items()},
        "temperature": temperature,
        "balanced": balanced(found, dev_labels),
        "by_source": by_source,
        "seconds": round(time.monotonic() - began),
    }
    (given.out / "summary.json").write_text(json.dumps(summary, indent=1))
    save(model, given.out)
    print(json.dumps({"temperature": temperature, "balanced": summary["balanced"]}))
    print(
        " ".join(
            f"{name}{'*' if value['held_out'] else ''}={value['balanced']:.3f}" for name, value in by_source.items()
        )
    )


def fit_temperature(logits: numpy.ndarray, labels: numpy.ndarray) -> float:
    """The temperature with the smallest log loss on the development rows."""

    def log_loss(temperature: float) -> float:
        return float(loss_of(torch.from_numpy(logits / temperature), torch.from_numpy(labels), 0.0))

    return min((round(0.5 + 0.05 * i, 2) for i in range(51)), key=log_loss)


def save(model: nn.Module, out: Path) -> None:
    """Write the weights in half precision, in pieces of at most 15 MiB."""
    import safetensors.torch

    half = {
        name: value.half().cpu().contiguous() for name, value in model.state_dict().items() if value.is_floating_point()
    }
    data = safetensors.torch.save(half)
    size = 15 * 2**20
    for number in range(0, len(data), size):
        (out / f"weights.{number // size:02d}").write_bytes(data[number : number + size])


if __name__ == "__main__":
    main()
