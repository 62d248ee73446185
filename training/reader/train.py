"""Train the reader: one encoder, two tasks.

Claim and passage give P(supported), P(contradicted), P(not enough). Question and passage give P(answerable) and the answer's first and
last token. Claims labelled ``not_supported`` (their source does not say which) train P(contradicted) + P(not enough). Short passages
are hidden among others of their source for a share of the draws, because the product shows whole passages. Sources are drawn with
weights; the last fifth of the training uses passage-length claims only. Everything follows the clock: whatever the speed, the rate
comes down to its end and the weights are written inside ``--minutes``. What is saved is a running mean of the weights.
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
from torch.nn import functional
from transformers import BertConfig, BertModel

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
    wikisplit covid_qa squad nq_oracle evidence_inference generated paws""".split()
)  # Sources with passages as evidence, the only ones of the last phase.
QUESTIONED = frozenset(
    "squad squadshifts_wiki squadshifts_amazon squadshifts_reddit nq_oracle covid_qa fairytaleqa ares_synthetic".split()
)  # Sources whose questions are closest to real ones.


class Reader(nn.Module):
    """An encoder with a head for claims, one for answerability and one for the answer's ends."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.bert = BertModel(config, add_pooling_layer=True)
        self.dropout = nn.Dropout(0.1)
        self.classifier = nn.Linear(config.hidden_size, 3)
        self.answerable = nn.Sequential(
            nn.Linear(config.hidden_size, config.hidden_size), nn.Tanh(), nn.Linear(config.hidden_size, 1)
        )
        self.ends = nn.Linear(config.hidden_size, 2)

    def forward(self, input_ids, attention_mask, token_type_ids):
        """Return claim logits, the answerable logit, and start and end logits of every token."""
        out = self.bert(input_ids=input_ids, attention_mask=attention_mask, token_type_ids=token_type_ids)
        hidden = self.dropout(out.last_hidden_state)
        claims = self.classifier(self.dropout(out.pooler_output))
        return claims, self.answerable(hidden[:, 0]).squeeze(-1), self.ends(hidden)


class Examples:
    """Passages, claims and questions of ``prepare.py`` as token ids."""

    def __init__(self, folder: Path, limit: int | None = None) -> None:
        self.rows: dict[str, list] = {}
        with lzma.open(folder / "examples.jsonl.xz", "rt", encoding="utf-8") as file:
            for line in file:
                kind, count = json.loads(line)
                self.rows[kind] = [json.loads(next(file)) for _ in range(count)]
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        if limit:  # For a trial run: few rows, and of the passages only those that they need.
            for kind in ("claims", "questions"):
                self.rows[kind] = random.Random(0).sample(self.rows[kind], limit)
            used = {row[1] for kind in ("claims", "questions") for row in self.rows[kind]}
            used.update(number for row in self.rows["questions"] for number in row[5])
        self.parts = [row[1] for row in self.rows["passages"]]
        self.ids: list = [None] * len(self.parts)
        offsets: dict[int, numpy.ndarray] = {}
        asked = {row[1] for row in self.rows["questions"]}
        order = sorted(used) if limit else range(len(self.parts))
        for numbers in chunks(list(order), 10_000):
            texts = [self.rows["passages"][number][0] for number in numbers]
            for number, encoding in zip(numbers, tokenizer.encode_batch(texts, add_special_tokens=False), strict=True):
                self.ids[number] = numpy.array(encoding.ids, dtype=numpy.uint16)
                if number in asked:
                    offsets[number] = numpy.array(encoding.offsets, dtype=numpy.int32).reshape(-1, 2)
        self.claims: list[dict] = []
        for rows in chunks(self.rows["claims"], 20_000):
            for row, ids in zip(rows, encode(tokenizer, [row[0] for row in rows]), strict=True):
                self.claims.append(
                    {"ids": ids, "passage": row[1], "label": LABELS[row[2]], "source": row[3], "kind": row[4]}
                )
        self.questions: list[dict] = []
        for rows in chunks(self.rows["questions"], 20_000):
            for row, ids in zip(rows, encode(tokenizer, [row[0] for row in rows]), strict=True):
                spans = [token_span(offsets[row[1]], *span) for span in row[2]]
                kept = {"ids": ids, "passage": row[1], "spans": [span for span in spans if span], "source": row[3]}
                if row[2] and not kept["spans"]:
                    continue
                self.questions.append(kept | {"kind": row[4], "others": row[5]})
        del self.rows


def chunks(rows: list, size: int):
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def encode(tokenizer: Tokenizer, texts: list[str]) -> list[numpy.ndarray]:
    found = tokenizer.encode_batch(texts, add_special_tokens=False)
    return [numpy.array(encoding.ids, dtype=numpy.uint16) for encoding in found]


def token_span(offsets: numpy.ndarray, start: int, end: int) -> tuple[int, int] | None:
    """Return the first and last token of a span of characters."""
    inside = numpy.flatnonzero((offsets[:, 0] < end) & (offsets[:, 1] > start))
    return (int(inside[0]), int(inside[-1])) if len(inside) else None


class Example:
    """One training example: token ids, length of the first segment, and what the heads should say."""

    __slots__ = ("answerable", "first", "ids", "label", "spans")

    def __init__(self, first, passage, label=-1, answerable=-1, spans=()) -> None:
        first = first[:160]
        passage = passage[: MAX_TOKENS - 3 - len(first)]
        self.ids = numpy.concatenate([[CLS], first, [SEP], passage, [SEP]]).astype(numpy.int32)
        self.first = len(first) + 2
        self.label = label
        self.answerable = answerable
        # Answers cut off at the end count as none; no answer points at the first token.
        kept = [(start + self.first, end + self.first) for start, end in spans if end + self.first < len(self.ids) - 1]
        if answerable == 1 and spans and not kept:
            self.answerable = 0
        self.spans = kept if self.answerable == 1 else []


class Draws(torch.utils.data.IterableDataset):
    """Endless batches: a task, a source by weight, a row of it, hidden among other passages now and then."""

    def __init__(self, examples: Examples, given: argparse.Namespace, held: set[str]) -> None:
        self.examples, self.given = examples, given
        self.claims: dict[str, list[dict]] = defaultdict(list)
        self.questions: dict[str, list[dict]] = defaultdict(list)
        for row in examples.claims:
            if examples.parts[row["passage"]] == "train" and row["source"] not in held:
                self.claims[row["source"]].append(row)
        for row in examples.questions:
            if examples.parts[row["passage"]] == "train" and row["source"] not in held:
                self.questions[row["source"]].append(row)
        self.near: dict[int, list[int]] = {}  # Passages much like a passage that do not say the same.
        for rows in self.questions.values():
            for row in rows:
                self.near.setdefault(row["passage"], []).extend(
                    n for n in row["others"] if examples.parts[n] == "train"
                )
        self.ends_at = 0.0
        self.late_at = 0.0

    def __iter__(self):
        worker = torch.utils.data.get_worker_info()
        self.random = random.Random(1000 * self.given.seed + (worker.id if worker else 0))
        while time.monotonic() < self.ends_at:
            late = time.monotonic() > self.late_at
            drawn = [self.draw(late) for _ in range(self.given.pool)]
            planned = batches(drawn, self.given.tokens, self.random)
            for indices in planned:
                yield collate([drawn[i] for i in indices])

    def draw(self, late: bool) -> Example:
        if self.random.random() < self.given.questions:
            return self.question()
        names = [name for name in self.claims if name in PASSAGE] if late else list(self.claims)
        weights = [
            (2.0 if n in SMALL_HUMAN else 0.6 if n in NLI else 0.8 if n == "generated" else 1.0) * len(self.claims[n])
            for n in names
        ]
        row = self.random.choice(self.claims[self.random.choices(names, weights)[0]])
        number, label = row["passage"], row["label"]
        if label == 0 and row["source"] != "fever" and self.near.get(number) and self.random.random() < 0.08:
            number, label = self.random.choice(self.near[number]), LABELS["unsupported"]
        passage, _ = self.surround(number, self.claims[row["source"]], 90, self.given.hide, row["passage"])
        return Example(row["ids"], passage, label=label)

    def question(self) -> Example:
        names = list(self.questions)
        weights = [(2.0 if name in QUESTIONED else 0.6) * len(self.questions[name]) for name in names]
        rows = self.questions[self.random.choices(names, weights)[0]]
        row = self.random.choice(rows)
        number, spans, answerable = row["passage"], row["spans"], int(row["kind"] != "altered")
        others = [other for other in row["others"] if self.examples.parts[other] == "train"]
        if answerable and self.random.random() < 0.4:
            number = (
                self.random.choice(others)
                if others and self.random.random() < 0.8
                else self.random.choice(rows)["passage"]
            )
            if number != row["passage"]:
                answerable, spans = 0, []
        passage, shift = self.surround(number, rows, 220, self.given.hide, row["passage"])
        return Example(
            row["ids"], passage, answerable=answerable, spans=[(start + shift, end + shift) for start, end in spans]
        )

    def surround(
        self, number: int, rows: list[dict], longest: int, share: float, avoid: int = -1
    ) -> tuple[numpy.ndarray, int]:
        """Return a passage, hidden among others for a share of the draws, and how many tokens stand before it."""
        ids = self.examples.ids[number]
        if len(ids) >= longest or self.random.random() >= share:
            return ids, 0
        pieces = [
            self.examples.ids[other["passage"]][: self.random.randint(40, 130)]
            for other in self.random.choices(rows, k=self.random.randint(1, 3))
            if other["passage"] not in (number, avoid)
        ]
        place = self.random.randint(0, len(pieces))
        shift = sum(map(len, pieces[:place]))
        return numpy.concatenate([*pieces[:place], ids, *pieces[place:]]), shift


def batches(examples: list[Example], tokens: int, shuffle: random.Random | None = None) -> list[list[int]]:
    """Group examples of similar length so that a batch has at most ``tokens`` padded tokens."""
    order = sorted(range(len(examples)), key=lambda i: (len(examples[i].ids) // 16, shuffle.random() if shuffle else i))
    found: list[list[int]] = []
    batch: list[int] = []
    longest = 0
    for i in order:
        longest_new = max(longest, len(examples[i].ids))
        if batch and longest_new * (len(batch) + 1) > tokens:
            found.append(batch)
            batch, longest_new = [], len(examples[i].ids)
        batch.append(i)
        longest = longest_new
    if batch:
        found.append(batch)
    if shuffle:
        shuffle.shuffle(found)
    return found


def collate(examples: list[Example]) -> dict[str, numpy.ndarray]:
    """Return padded arrays; lengths are rounded up to 16 so that few shapes occur."""
    longest = min(MAX_TOKENS, -(-max(len(example.ids) for example in examples) // 16) * 16)
    shape = (len(examples), longest)
    ids = numpy.zeros(shape, dtype=numpy.int32)
    starts, ends = numpy.zeros(shape, dtype=bool), numpy.zeros(shape, dtype=bool)
    for row, example in enumerate(examples):
        ids[row, : len(example.ids)] = example.ids
        for start, end in example.spans or [(0, 0)]:
            starts[row, start] = ends[row, end] = True
    numbers = {
        "lengths": [len(example.ids) for example in examples],
        "firsts": [example.first for example in examples],
        "labels": [example.label for example in examples],
        "answerable": [example.answerable for example in examples],
    }
    arrays = {name: numpy.array(values, dtype=numpy.int64) for name, values in numbers.items()}
    return {"ids": ids, "starts": starts, "ends": ends, **arrays}


def place(arrays: dict[str, numpy.ndarray], device: str) -> dict[str, torch.Tensor]:
    """Move a batch to the device and add mask and segments."""
    batch = {name: torch.from_numpy(array).to(device, non_blocking=True) for name, array in arrays.items()}
    positions = torch.arange(batch["ids"].shape[1], device=device)[None, :]
    batch["mask"] = positions < batch["lengths"][:, None]
    batch["kinds"] = batch["mask"] & (positions >= batch["firsts"][:, None])
    return batch


def unchanged(batch: dict[str, numpy.ndarray]) -> dict[str, numpy.ndarray]:
    """Keep arrays as they are between processes, so that little shared memory is needed."""
    return batch


def claim_loss(logits: torch.Tensor, labels: torch.Tensor, smoothing: float) -> torch.Tensor:
    """Cross entropy; label 3 (not supported) is the sum of the two other classes."""
    logs = torch.log_softmax(logits.float(), dim=-1)
    joined = torch.logsumexp(logs[:, 1:], dim=-1, keepdim=True)
    targets = torch.cat([logs, joined], dim=-1)
    plain = -targets.gather(1, labels[:, None]).squeeze(1)
    return (1 - smoothing) * plain - smoothing * logs.mean(dim=-1)


def span_loss(logits: torch.Tensor, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Negative log of the probability of all right places together, the mean of first and last token."""
    allowed = batch["kinds"].clone()
    allowed[:, 0] = True
    total = 0.0
    for number, wanted in enumerate((batch["starts"], batch["ends"])):
        scores = logits[:, :, number].float().masked_fill(~allowed, -1e4)
        logs = torch.log_softmax(scores, dim=-1)
        total = total - torch.logsumexp(logs.masked_fill(~wanted, -1e4), dim=-1)
    return total / 2


def losses(model: nn.Module, batch: dict[str, torch.Tensor], smoothing: float) -> torch.Tensor:
    claims, answerable, ends = model(batch["ids"].long(), batch["mask"].long(), batch["kinds"].long())
    is_claim = (batch["labels"] >= 0).float()
    is_question = 1 - is_claim
    claim = claim_loss(claims, batch["labels"].clamp(min=0), smoothing) * is_claim
    wanted = batch["answerable"].clamp(min=0).float() * (1 - 2 * smoothing) + smoothing
    answer = functional.binary_cross_entropy_with_logits(answerable.float(), wanted, reduction="none")
    question = (answer + 0.5 * span_loss(ends, batch)) * is_question
    return torch.stack(
        [
            (claim + question).sum() / len(is_claim),
            claim.sum() / is_claim.sum().clamp(min=1),
            question.sum() / is_question.sum().clamp(min=1),
        ]
    )


@torch.no_grad()
def predict(model: nn.Module, examples: list[Example], device: str, tokens: int = 65_536) -> dict[str, numpy.ndarray]:
    """Return claim logits, answerable logits and the best span of all examples, in order."""
    model.eval()
    found = {
        "claims": numpy.zeros((len(examples), 3), dtype=numpy.float32),
        "answerable": numpy.zeros(len(examples), dtype=numpy.float32),
        "spans": numpy.zeros((len(examples), 2), dtype=numpy.int64),
    }
    for indices in batches(examples, tokens):
        batch = place(collate([examples[i] for i in indices]), device)
        with torch.autocast(device, dtype=torch.bfloat16):
            claims, answerable, ends = model(batch["ids"].long(), batch["mask"].long(), batch["kinds"].long())
        found["claims"][indices] = claims.float().cpu().numpy()
        found["answerable"][indices] = answerable.float().cpu().numpy()
        found["spans"][indices] = best_spans(ends.float(), batch).cpu().numpy()
    model.train()
    return found


def best_spans(logits: torch.Tensor, batch: dict[str, torch.Tensor], longest: int = 24) -> torch.Tensor:
    """Return the first and last token of the best span inside the passage."""
    allowed = batch["kinds"].clone()
    scores = logits.masked_fill(~allowed[:, :, None], -1e4)
    best = torch.full((len(scores),), -1e9, device=scores.device)
    spans = torch.zeros((len(scores), 2), dtype=torch.long, device=scores.device)
    for width in range(min(longest, scores.shape[1])):
        sums = scores[:, : scores.shape[1] - width, 0] + scores[:, width:, 1]
        value, place = sums.max(dim=1)
        better = value > best
        best = torch.where(better, value, best)
        spans = torch.where(better[:, None], torch.stack([place, place + width], dim=1), spans)
    return spans


def balanced(said: numpy.ndarray, true: numpy.ndarray) -> float:
    """Balanced accuracy of a yes/no decision."""
    sides = [said[true].mean() if true.any() else numpy.nan, (~said[~true]).mean() if (~true).any() else numpy.nan]
    return float(numpy.nanmean(sides))


def supported(logits: numpy.ndarray) -> numpy.ndarray:
    """Probability of supported."""
    shifted = numpy.exp(logits - logits.max(axis=1, keepdims=True))
    return shifted[:, 0] / shifted.sum(axis=1)


def evaluation(examples: Examples, part: str, held: set[str], limit: int) -> tuple[list[dict], list[Example]]:
    """Return rows and examples of one part: claims, then questions with their passage, then with a passage that lacks the answer."""
    chosen: list[tuple[dict, Example]] = []
    for row in examples.claims:
        if examples.parts[row["passage"]] == part or (
            row["source"] in held and examples.parts[row["passage"]] != "test"
        ):
            chosen.append((row, Example(row["ids"], examples.ids[row["passage"]], label=row["label"])))
    for row in examples.questions:
        if examples.parts[row["passage"]] == part or (
            row["source"] in held and examples.parts[row["passage"]] != "test"
        ):
            answerable = int(row["kind"] != "altered")
            chosen.append(
                (row, Example(row["ids"], examples.ids[row["passage"]], answerable=answerable, spans=row["spans"]))
            )
            if row["others"]:
                chosen.append(
                    (row | {"kind": "other"}, Example(row["ids"], examples.ids[row["others"][0]], answerable=0))
                )
    if len(chosen) > limit:
        chosen = random.Random(0).sample(chosen, limit)
    return [row for row, _ in chosen], [example for _, example in chosen]


def scores(rows: list[dict], examples: list[Example], found: dict[str, numpy.ndarray], held: set[str]) -> dict:
    """Return balanced accuracies by source, and for questions exact and overlapping spans."""
    labels = numpy.array([example.label for example in examples])
    answerable = numpy.array([example.answerable for example in examples])
    sources = numpy.array([row["source"] for row in rows])
    kinds = numpy.array([row["kind"] for row in rows])
    claims, asked = labels >= 0, answerable >= 0
    says = supported(found["claims"]) >= 0.5
    answers = found["answerable"] >= 0
    spanned = numpy.array([bool(example.spans) for example in examples])
    exact = numpy.array(
        [tuple(span) in example.spans for span, example in zip(found["spans"].tolist(), examples, strict=True)]
    )
    inside = numpy.array(
        [
            any(first <= end and start <= last for start, end in example.spans)
            for (first, last), example in zip(found["spans"].tolist(), examples, strict=True)
        ]
    )
    result: dict = {
        "claims": {"rows": int(claims.sum()), "balanced": balanced(says[claims], labels[claims] == 0)},
        "questions": {
            "rows": int(asked.sum()),
            "balanced": balanced(answers[asked], answerable[asked] == 1),
            "exact": float(exact[spanned].mean()) if spanned.any() else 0.0,
            "overlap": float(inside[spanned].mean()) if spanned.any() else 0.0,
        },
        "kinds": {
            kind: float((answers == (answerable == 1))[asked & (kinds == kind)].mean())
            for kind in sorted(set(kinds[asked]))
        },
        "claims_by_source": {},
        "questions_by_source": {},
    }
    for name in sorted(set(sources)):
        chosen = claims & (sources == name)
        if chosen.any():
            result["claims_by_source"][name] = {
                "rows": int(chosen.sum()), "balanced": round(balanced(says[chosen], labels[chosen] == 0), 4), "held_out": name in held
            }  # fmt: skip
        chosen = asked & (sources == name)
        if chosen.any():
            spans = chosen & spanned
            result["questions_by_source"][name] = {
                "rows": int(chosen.sum()), "balanced": round(balanced(answers[chosen], answerable[chosen] == 1), 4),
                "exact": round(float(exact[spans].mean()), 4) if spans.any() else None,
                "overlap": round(float(inside[spans].mean()), 4) if spans.any() else None, "held_out": name in held,
            }  # fmt: skip
    return result


def load_start(model: Reader, folder: Path) -> None:
    """Load weights of an earlier run (``weights.*``, or packed as ``weights.xz``), else of the encoder alone (``start.safetensors``)."""
    from safetensors.torch import load

    if pieces := sorted(folder.glob("weights.*")):
        data = b"".join(path.read_bytes() for path in pieces)
        state = load(lzma.decompress(data) if pieces[0].suffix == ".xz" else data)
    else:
        state = {f"bert.{name}": value for name, value in load((folder / "start.safetensors").read_bytes()).items()}
        state.pop("bert.embeddings.position_ids", None)
    missing = model.load_state_dict({name: value.float() for name, value in state.items()}, strict=False)
    print("not in the start weights:", missing.missing_keys, "unused:", missing.unexpected_keys, flush=True)


def save(state: dict[str, torch.Tensor], out: Path) -> None:
    """Write the weights in half precision, in pieces of at most 15 MiB."""
    import safetensors.torch

    half = {name: value.half().cpu().contiguous() for name, value in state.items() if value.is_floating_point()}
    data = safetensors.torch.save(half)
    size = 15 * 2**20
    for number in range(0, len(data), size):
        (out / f"weights.{number // size:02d}").write_bytes(data[number : number + size])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=9.0, help="everything is done and written after this long")
    parser.add_argument("--rate", type=float, default=1e-4, help="highest learning rate")
    parser.add_argument("--tokens", type=int, default=32_768, help="padded tokens in a batch")
    parser.add_argument(
        "--pool", type=int, default=4096, help="examples that a worker draws and sorts by length at a time"
    )
    parser.add_argument("--questions", type=float, default=0.45, help="share of the draws that are questions")
    parser.add_argument("--hide", type=float, default=0.4, help="share of short passages hidden among others")
    parser.add_argument("--smoothing", type=float, default=0.02)
    parser.add_argument("--mean", type=float, default=0.999, help="decay of the running mean of the weights")
    parser.add_argument("--hold-out", default="", help="sources that are not trained on, separated by commas")
    parser.add_argument("--workers", type=int, default=10)
    parser.add_argument("--limit", type=int, help="use only so many claims and questions, for a trial")
    parser.add_argument("--judged", type=int, default=25_000, help="development rows at most")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    torch.manual_seed(given.seed)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    held = set(filter(None, given.hold_out.split(",")))
    examples = Examples(given.data, given.limit)
    dev_rows, dev = evaluation(examples, "dev", held, given.judged)
    few = list(range(0, len(dev), 4))
    draws = Draws(examples, given, held)
    print(
        f"{sum(map(len, draws.claims.values()))} claims and {sum(map(len, draws.questions.values()))} questions to train on, "
        f"{len(dev)} development rows, {time.monotonic() - began:.0f} s",
        flush=True,
    )
    model = Reader(BertConfig.from_json_file(given.data / "config.json"))
    load_start(model, given.data)
    model.to(device).train()
    mean = {
        name: value.detach().clone().float() for name, value in model.state_dict().items() if value.is_floating_point()
    }
    decay = [value for value in model.parameters() if value.ndim > 1]
    rest = [value for value in model.parameters() if value.ndim <= 1]
    optimizer = torch.optim.AdamW(
        [{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}],
        lr=given.rate,
        fused=device == "cuda",
    )
    reserve = 25 if device == "cuda" else 0.25 * given.minutes * 60  # Seconds for the last evaluation and for writing.
    started = time.monotonic()
    ends_at = began + given.minutes * 60 - reserve
    draws.ends_at, draws.late_at = ends_at + 600, started + 0.78 * (ends_at - started)
    loader = torch.utils.data.DataLoader(
        draws,
        batch_size=None,
        num_workers=given.workers,
        prefetch_factor=8 if given.workers else None,
        collate_fn=unchanged,
    )
    step, drawn, tokens, shown, running = 0, 0, 0, started, None
    for arrays in loader:
        now = time.monotonic()
        progress = (now - started) / (ends_at - started)
        if progress >= 1:
            break
        rate = given.rate * min(1.0, (step + 1) / 300) * max(0.01, 0.5 * (1 + math.cos(math.pi * progress)))
        for group in optimizer.param_groups:
            group["lr"] = rate
        batch = place(arrays, device)
        with torch.autocast(device, dtype=torch.bfloat16):
            parts = losses(model, batch, given.smoothing)
        optimizer.zero_grad(set_to_none=True)
        parts[0].backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        drawn += len(batch["ids"])
        tokens += batch["ids"].numel()
        running = parts.detach() if running is None else 0.99 * running + 0.01 * parts.detach()
        if step % 5 == 0:
            weight = 1 - min(given.mean, step / (step + 10)) ** 5
            state = model.state_dict()
            torch._foreach_lerp_(list(mean.values()), [state[name].float() for name in mean], weight)
        if now - shown > 60:
            shown = now
            found = predict(model, [dev[i] for i in few], device)
            part = scores([dev_rows[i] for i in few], [dev[i] for i in few], found, held)
            print(
                f"{now - began:.0f} s, step {step}, {drawn} drawn, {tokens / (now - started):.0f} tokens/s, "
                f"losses {[round(value, 3) for value in running.tolist()]}, claims {part['claims']['balanced']:.4f}, "
                f"answerable {part['questions']['balanced']:.4f}, exact {part['questions']['exact']:.3f}",
                flush=True,
            )
    print(f"trained {step} steps, {drawn} examples, {time.monotonic() - began:.0f} s", flush=True)
    last = scores(
        [dev_rows[i] for i in few], [dev[i] for i in few], predict(model, [dev[i] for i in few], device), held
    )
    model.load_state_dict(mean, strict=False)
    save(model.state_dict(), given.out)
    found = predict(model, dev, device)
    summary = {
        "arguments": {key: str(value) for key, value in vars(given).items()},
        "steps": step,
        "drawn": drawn,
        "last_weights": {key: last[key] for key in ("claims", "questions")},
        **scores(dev_rows, dev, found, held),
        "seconds": round(time.monotonic() - began),
    }
    (given.out / "summary.json").write_text(json.dumps(summary, indent=1))
    print(json.dumps({key: summary[key] for key in ("last_weights", "claims", "questions", "kinds", "seconds")}))
    for key in ("claims_by_source", "questions_by_source"):
        print(
            key,
            " ".join(
                f"{name}{'*' if value['held_out'] else ''}={value['balanced']:.3f}"
                for name, value in summary[key].items()
            ),
        )


if __name__ == "__main__":
    main()
