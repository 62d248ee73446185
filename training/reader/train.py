"""Train a reader: the large one from MPNet, or a small or middle one with large ones as teachers. Needs torch and numpy only.

    python training/reader/train.py --size large --start build/gpu/start --data build/gpu/data --out build/large --minutes 9
    python training/reader/train.py --size small --start build/gpu/start --data build/gpu/data --teacher build/large --out build/small --minutes 8

Everything follows the clock: whatever the speed, the rate comes down to its end and the weights are written inside ``--minutes``.
With ``--asked`` one large reader teaches claims (``--teacher``) and another one questions.
The head *answerable* is trained to rank too: the passage that answers before those that do not. The small reader learns claims and
answers over documentation from its teacher, other answers from the weights that it starts from.
What is saved is a running mean of the weights, as float16, in pieces of 15 MiB; of the larger ones also as int8.
"""

import argparse
import json
import math
import random
import time
from pathlib import Path

import numpy
import torch
from alter import HELD_BACK
from model import STARTS, load, store
from torch import nn
from torch.nn import functional

from examples import Draws, Example, Examples, batches, collate, place

WEIGHTS = (
    dict.fromkeys(
        "mnli snli cad_nli negation_nli semi_auto_nli te_protocols med qasc entailmentbank realsumm_scu".split(), 0.6
    )
    | dict.fromkeys("summedits check_covid citation_integrity clinifact clapnq quotesum factcg_cg2c_doc".split(), 2.0)
    | dict.fromkeys("hotpotqa musique docs_asked docs_default".split(), 8.0)
    | {"docs_entry": 6.0, "docs_heading": 3.0, "docs_stated": 3.0, "docs_docstring": 1.5, "paws": 3.0, "re_docred": 0.6}
    | {
        "made_role": 0.9,
        "made_scope": 0.7,
        "made_unit": 1.5,
        "made_order": 2.0,
        "made_cause": 2.0,
        "made_frequency": 3.0,
    }
    | {"made_number": 0.6, "made_opposite": 0.35, "made_negation": 0.3, "made_name": 0.3}
    | dict.fromkeys(HELD_BACK, 0.0)
    | {"docs_written": 30.0, "docs_absent": 12.0}
)
WRITTEN_QUESTIONS = ("docs_written", "docs_absent")
WRITTEN = 5.0  # Claims that were written for the reader (``written_…``).
KEPT = 0.3  # Of the labels beside the teacher's word.


def claim_loss(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross entropy; label 3 (not supported) is the sum of the two other classes."""
    logs = torch.log_softmax(logits.float(), dim=-1)
    logs = torch.cat([logs, torch.logsumexp(logs[:, 1:], dim=-1, keepdim=True)], dim=-1)
    return -logs.gather(1, labels.clamp(min=0)[:, None]).squeeze(1)


def span_logs(logits: torch.Tensor, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Log probabilities of first and last token over the passage and the first mark, which means no answer."""
    allowed = batch["kinds"].clone()
    allowed[:, 0] = True
    return torch.log_softmax(logits.float().masked_fill(~allowed[:, :, None], -1e4), dim=1)


def span_loss(logits: torch.Tensor, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Negative log of the probability of all right places together, the mean of first and last token."""
    logs = span_logs(logits, batch)
    wanted = torch.stack([batch["starts"], batch["ends"]], dim=-1)
    return -torch.logsumexp(logs.masked_fill(~wanted, -1e4), dim=1).mean(dim=1)


def rank_logs(scores: torch.Tensor, units: torch.Tensor) -> torch.Tensor:
    """Log probability of each passage among those of its question."""
    scores = scores.float()
    count = int(units[-1]) + 1
    top = torch.full((count,), -1e4, device=scores.device).scatter_reduce(0, units, scores.detach(), "amax")
    total = torch.zeros(count, device=scores.device).index_add(0, units, torch.exp(scores - top[units]))
    return scores - top[units] - torch.log(total)[units]


def losses(found: tuple, batch: dict[str, torch.Tensor], taught: tuple | None = None) -> torch.Tensor:
    """Return the losses of claims, answerable, spans and ranking, each as a mean over what it is asked of."""
    claims, answerable, ends = found
    is_claim, is_asked = (batch["labels"] >= 0).float(), (batch["answerable"] >= 0).float()
    best = (batch["best"] * batch["ranked"]).float()
    ranks = rank_logs(answerable, batch["unit"])
    wanted = batch["answerable"].clamp(min=0).float()
    parts = [
        (claim_loss(claims, batch["labels"]), is_claim),
        (functional.binary_cross_entropy_with_logits(answerable.float(), wanted, reduction="none"), is_asked),
        (span_loss(ends, batch), is_asked * batch["spanned"]),
        (-ranks, best),
    ]
    if taught is not None:
        claims_t, answerable_t, ends_t = taught
        logs, logs_t = torch.log_softmax(claims.float(), -1), torch.log_softmax(claims_t.float(), -1)
        spans, spans_t = span_logs(ends, batch), span_logs(ends_t, batch)
        ranks_t = rank_logs(answerable_t, batch["unit"])
        teacher = [
            (logs_t.exp() * (logs_t - logs)).sum(-1),
            functional.binary_cross_entropy_with_logits(
                answerable.float(), torch.sigmoid(answerable_t.float()), reduction="none"
            ),
            (spans_t.exp() * (spans_t - spans)).sum(1).mean(1),
            ranks_t.exp() * (ranks_t - ranks),
        ]
        ranked = batch["ranked"].float()
        weights = [is_claim, is_asked, is_asked, ranked]
        totals = [best.sum() if at == 3 else weight.sum() for at, weight in enumerate(weights)]
        learnt = [
            (loss * weight).sum() / total.clamp(min=1)
            for loss, weight, total in zip(teacher, weights, totals, strict=True)
        ]
        return torch.stack([KEPT * (loss * weight).sum() / weight.sum().clamp(min=1) + (1 - KEPT) * more for (loss, weight), more in zip(parts, learnt, strict=True)])  # fmt: skip
    return torch.stack([(loss * weight).sum() / weight.sum().clamp(min=1) for loss, weight in parts])


def read(model: nn.Module, batch: dict[str, torch.Tensor], device: str) -> tuple[torch.Tensor, ...]:
    with torch.autocast(device, dtype=torch.bfloat16):
        return model(batch["ids"].long(), batch["mask"], batch["kinds"].long())


def read_both(teacher: nn.Module, asked: nn.Module, batch: dict[str, torch.Tensor], device: str) -> tuple:
    """Return what one reader says of the claims and the other of the questions; zeros where none was asked."""
    ids, is_claim = batch["ids"], batch["labels"] >= 0
    found = [torch.zeros(len(ids), *more, device=device) for more in ((3,), (), (ids.shape[1], 2))]
    for model, rows, heads in ((teacher, is_claim, (0,)), (asked, ~is_claim, (1, 2))):
        if rows.any():
            said = read(model, {name: batch[name][rows] for name in ("ids", "mask", "kinds")}, device)
            for head in heads:
                found[head][rows] = said[head].float()
    return tuple(found)


# -- development part --------------------------------------------------------------------------------------------------


def development(examples: Examples, limit: int) -> list[list[Example]]:
    """Return claims of the development part, and questions with the passage that answers first and three others behind it."""
    claims = [
        [Example(examples.claim_ids[row], examples.passages[number], label=int(examples.claim_label[row]), source=int(examples.claim_source[row]))]
        for row, number in enumerate(examples.claim_passage.tolist())
        if examples.parts[number] == 1
    ]  # fmt: skip
    questions = []
    for row, number in enumerate(examples.question_passage.tolist()):
        if examples.parts[number] != 1:
            continue
        ids, source = examples.question_ids[row], int(examples.question_source[row])
        spans = examples.spans[row].reshape(-1, 2).astype(numpy.int64).tolist()
        unit = [
            Example(
                ids,
                examples.passages[number],
                answerable=min(1, int(examples.answerable[row])),
                spans=spans,
                source=source,
            )
        ]
        unit += [
            Example(ids, examples.passages[int(other)], answerable=0, source=source)
            for other in examples.others[row][:3]
        ]
        questions.append(unit)
    shuffle = random.Random(0)
    shuffle.shuffle(claims)
    shuffle.shuffle(questions)
    found = []
    for units, most in ((claims, limit), (questions, limit // 4)):
        is_written = [examples.sources[unit[0].source].startswith(("written_", *WRITTEN_QUESTIONS)) for unit in units]
        found += [unit for unit, written in zip(units, is_written, strict=True) if written]
        found += [unit for unit, written in zip(units, is_written, strict=True) if not written][:most]
    return found


@torch.no_grad()
def judge(model: nn.Module, units: list[list[Example]], names: list[str], device: str) -> dict:
    """Return balanced accuracy of claims and of answerable, exact spans, and mean reciprocal rank, by source."""
    model.eval()
    rows: dict[str, list[tuple]] = {"claims": [], "answerable": [], "exact": [], "rank": []}
    for chosen in batches(units, 65_536):
        batch = place(collate([units[i] for i in chosen]), device)
        claims, answerable, ends = read(model, batch, device)
        supported = (torch.softmax(claims.float(), -1)[:, 0] >= 0.5).tolist()
        firsts, lasts = span_logs(ends, batch)[:, 1:].argmax(dim=1).add(1).T.tolist()
        said, scores = (answerable > 0).tolist(), answerable.float().tolist()
        at = 0
        for i in chosen:
            for place_, example in enumerate(units[i]):
                if example.label >= 0:
                    rows["claims"].append((example.source, example.label == 0, supported[at + place_]))
                elif example.answerable >= 0:
                    rows["answerable"].append((example.source, example.answerable == 1, said[at + place_]))
                if example.spans:
                    rows["exact"].append(
                        (example.source, True, (firsts[at + place_], lasts[at + place_]) in example.spans)
                    )
            group = scores[at : at + len(units[i])]
            if len(group) > 1 and units[i][0].answerable == 1:
                rows["rank"].append((units[i][0].source, True, 1 / (1 + sum(score > group[0] for score in group[1:]))))
            at += len(units[i])
    model.train()
    result: dict = {}
    for name, found in rows.items():
        result[name] = {"all": balanced(found), "rows": len(found)}
        for source in sorted({row[0] for row in found}):
            result[name][names[source]] = balanced([row for row in found if row[0] == source])
    return result


def balanced(rows: list[tuple]) -> float:
    """Mean over the two sides of the share that is right (of one side, if there is one only)."""
    sides = []
    for side in (True, False):
        said = [float(value) if side else 1 - float(value) for _, true, value in rows if true == side]
        sides += [sum(said) / len(said)] if said else []
    return round(sum(sides) / len(sides), 4) if sides else float("nan")


# -- training ----------------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--size", choices=tuple(STARTS), required=True)
    parser.add_argument(
        "--start", type=Path, required=True, help="folder with the start weights of pack.py, in any subfolders"
    )
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with examples.* of prepare.py, in any subfolders"
    )
    parser.add_argument("--teacher", type=Path, help="folder with the weights of a large reader to learn from")
    parser.add_argument("--asked", type=Path, help="folder of another large reader that teaches questions")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=9.0, help="everything is done and written after this long")
    parser.add_argument(
        "--rate", type=float, help="highest learning rate (5e-5 for large, 8e-5 for middle, 1.5e-4 for small)"
    )
    parser.add_argument("--tokens", type=int, default=32_768, help="padded tokens in a batch")
    parser.add_argument(
        "--pool", type=int, default=3000, help="claims and questions that a worker draws and sorts by length at a time"
    )
    parser.add_argument(
        "--questions", type=float, default=0.22, help="share of the draws that are questions with their passages"
    )
    parser.add_argument(
        "--negatives", type=int, default=4, help="passages without the answer that a question is drawn with"
    )
    parser.add_argument("--hide", type=float, default=0.35, help="share of short passages hidden among others")
    parser.add_argument("--workers", type=int, default=12)
    parser.add_argument("--judged", type=int, default=6000, help="development claims at most")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    given.rate = given.rate or {"large": 5e-5, "middle": 8e-5, "small": 1.5e-4}[given.size]
    given.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    torch.manual_seed(given.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    device = "cuda" if torch.cuda.is_available() else "cpu"
    examples = Examples(given.data)
    held = development(examples, given.judged)
    few = held[:: max(1, len(held) // 1200)]
    weights = WEIGHTS | {name: WRITTEN for name in examples.sources if name.startswith("written_")}
    is_docs = torch.tensor([name.startswith("docs_") for name in examples.sources], device=device)
    draws = Draws(examples, weights, given.questions, given.negatives, given.hide, given.tokens, given.pool, given.seed)
    loader = torch.utils.data.DataLoader(draws, batch_size=None, num_workers=given.workers, prefetch_factor=16 if given.workers else None, collate_fn=unchanged)  # fmt: skip
    arriving = iter(loader)  # Workers start before the device is touched.
    print(f"{len(examples.claim_passage)} claims, {len(examples.question_passage)} questions, {len(held)} held, {time.monotonic() - began:.0f} s", flush=True)  # fmt: skip
    starts = sorted(given.start.rglob(f"{STARTS[given.size]}.[0-9]*"))
    model, start = load(given.size, starts).to(device).train(), load(given.size, starts).to(device).eval()
    teacher, asked = (load_teacher(folder, device) for folder in (given.teacher, given.asked))
    print(f"weights loaded, {time.monotonic() - began:.0f} s", flush=True)
    mean = {name: value.detach().clone() for name, value in model.state_dict().items()}
    decay = [value for value in model.parameters() if value.ndim > 1]
    rest = [value for value in model.parameters() if value.ndim <= 1]
    groups = [{"params": decay, "weight_decay": 0.01}, {"params": rest, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=given.rate, fused=device == "cuda")
    reserve = (20 if given.size == "small" else 40) if device == "cuda" else 0.3 * given.minutes * 60
    started, ends_at = time.monotonic(), began + given.minutes * 60 - reserve
    step, drawn, tokens, shown, running = 0, 0, 0, started, None
    importance = torch.tensor([1.0, 1.0, 0.5, 1.0], device=device)
    while True:
        now = time.monotonic()
        if now >= ends_at:
            break
        progress = (now - started) / (ends_at - started)
        rate = given.rate * min(1.0, (step + 1) / 200) * max(0.01, 0.5 * (1 + math.cos(math.pi * progress)))
        for group in optimizer.param_groups:
            group["lr"] = rate
        batch = place(next(arriving), device)
        taught = None
        if teacher is not None:
            with torch.no_grad():
                taught = read(teacher, batch, device) if asked is None else read_both(teacher, asked, batch, device)
                if asked is None and given.questions:
                    docs = is_docs[batch["source"]]
                    answers, before = taught[1:], read(start, batch, device)[1:]
                    chosen = (docs, docs[:, None, None])
                    taught = taught[0], *(torch.where(at, a.float(), b.float()) for at, a, b in zip(chosen, answers, before, strict=True))  # fmt: skip
        parts = losses(read(model, batch, device), batch, taught)
        optimizer.zero_grad(set_to_none=True)
        (parts * importance).sum().backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        drawn += len(batch["ids"])
        tokens += batch["ids"].numel()
        running = parts.detach() if running is None else 0.98 * running + 0.02 * parts.detach()
        if step % 5 == 0:
            weight = 1 - min(0.999, step / (step + 10)) ** 5
            torch._foreach_lerp_(list(mean.values()), list(model.state_dict().values()), weight)
        if now - shown > 60 or step in (20, 100):
            shown = now
            print(f"{now - began:.0f} s, step {step}, {drawn} drawn, {tokens / (now - started):.0f} tokens/s, losses {[round(value, 3) for value in running.tolist()]}", flush=True)  # fmt: skip
            if step > 200:
                part = judge(model, few, examples.sources, device)
                print({name: value["all"] for name, value in part.items()}, flush=True)
    del arriving
    print(f"trained {step} steps, {drawn} examples, {time.monotonic() - began:.0f} s", flush=True)
    model.load_state_dict(mean)
    state = {name: value.float().cpu().numpy() for name, value in mean.items()}
    store(state, given.out, f"{given.size}16", 16)
    summary = {"arguments": {key: str(value) for key, value in vars(given).items()}, "steps": step, "drawn": drawn}
    (given.out / "summary.json").write_text(json.dumps(summary, indent=1))
    summary["development"] = judge(model, held, examples.sources, device)
    summary["seconds"] = round(time.monotonic() - began)
    (given.out / "summary.json").write_text(json.dumps(summary, indent=1))
    print(json.dumps(summary["development"]), flush=True)
    if given.size != "small":
        store(state, given.out, f"{given.size}8", 8)
    print(f"done, {time.monotonic() - began:.0f} s", flush=True)


def load_teacher(folder: Path | None, device: str) -> nn.Module | None:
    """Return the large reader of a folder (float16 as ``train.py`` wrote it, else int8), ready to be asked."""
    if folder is None:
        return None
    pieces = sorted(folder.rglob("large16.[0-9]*")) or sorted(folder.rglob("large8.[0-9]*"))
    return load("large", pieces).to(device, torch.bfloat16 if device == "cuda" else None).eval()


def unchanged(batch: dict[str, numpy.ndarray]) -> dict[str, numpy.ndarray]:
    """Keep arrays as they are between processes, so that little shared memory is needed."""
    return batch


if __name__ == "__main__":
    main()
