"""``suffice replay`` and ``suffice lab``: compare gates over recorded runs, and fit the default gate."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from suffice import settings
from suffice.cli.options import JSON, CommandGroup, argument, flag
from suffice.cli.output import print_note, write_file
from suffice.errors import InputError
from suffice.types import Embed

if TYPE_CHECKING:
    from suffice.replay.compare import GateComparison
    from suffice.replay.episodes import Episode

lab_app = CommandGroup("lab", help="Compare agents that search, and fit the default stop rule.", no_args_is_help=True)

_FIGURES = {"mean_rounds": ".2f", "mean_tokens": ",.0f", "recall": ".3f", "all_gold": ".3f", "answer_f1": ".3f"}
_FIGURES |= {"fire_rate": ".0%", "abstained": "d"}
_RECORDINGS = argument(..., "Recorded runs: files of --trace, or episodes (JSON Lines, also .gz).", "FILE...")
_CORPUS = flag(None, "Passage texts by id, for recordings that hold only ids.", metavar="CORPUS.jsonl")


def replay(
    files: list[Path] = _RECORDINGS,
    stop: list[str] | None = flag(None, "A stop rule to try, as for 'suffice ask'. Repeatable.", metavar="EXPR"),
    corpus: Path | None = _CORPUS,
    sweep: bool = flag(False, "Also try sixteen published settings of the exhaustion rule.", flags="--sweep"),
    as_json: bool = JSON,
) -> None:
    """Compare stop rules over recorded runs, without a model.

    For each rule, shows where it would have stopped, and what that would have saved and missed.
    """
    from suffice.gates.parse import parse_gate
    from suffice.lab.experiment import EXHAUSTION_SWEEP
    from suffice.meters import EMBEDDING_READINGS
    from suffice.replay.compare import compare_gates

    gates = [parse_gate(text) for text in (*(stop or ()), *(EXHAUSTION_SWEEP if sweep else ()))]
    if not gates:
        raise InputError("There is no stop rule to try; name one with --stop, or add --sweep")
    episodes = _load_episodes(files, corpus)
    needs = frozenset[str]().union(*(gate.needs for gate in gates))
    rows = compare_gates(episodes, gates, embed=None if needs.isdisjoint(EMBEDDING_READINGS) else _open_embed())
    print(json.dumps({"gates": [asdict(row) for row in rows]}, ensure_ascii=False) if as_json else format_table(rows))


@lab_app.command()
def fit(
    files: list[Path] = _RECORDINGS,
    out: Path = flag(..., "File for the fitted weights.", metavar="FILE.json"),
    corpus: Path | None = _CORPUS,
    price: float = flag(
        0.1,
        "Default price of a round: stop when the chance of new evidence falls below it.",
        metavar="P",
        min=0.001,
        max=0.999,
    ),
) -> None:
    """Fit the 'worth' stop rule on runs with known answers.

    The recordings must name the passages that answer each question (gold passages).
    """
    from suffice.lab.fit import fit_worth

    episodes = _load_episodes(files, corpus)
    weights = {**fit_worth(episodes, price), "episodes": len(episodes), "files": [path.name for path in files]}
    write_file(out, json.dumps(weights, indent=1) + "\n")
    print(f"Fitted on {len(episodes):,} episodes. Use it with: --stop \"worth(file='{out}')\"")


@lab_app.command()
def calibrate(
    files: list[Path] = _RECORDINGS,
    rounds: float = flag(..., "Average number of rounds that a run may take.", metavar="N"),
    corpus: Path | None = _CORPUS,
    file: Path | None = flag(
        None, "Weights written by 'suffice lab fit'. Default: the built-in ones.", metavar="FILE.json"
    ),
) -> None:
    """Find the price at which 'worth' uses N rounds on average.

    The recordings need no known answers.
    """
    from suffice.lab.fit import calibrate_price

    try:
        price = calibrate_price(_load_episodes(files, corpus), rounds, None if file is None else str(file))
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"The weights {file} cannot be read: {error}; write them with: suffice lab fit") from error
    weights = "" if file is None else f", file='{file}'"
    print(f'For {rounds:g} rounds on average, use: --stop "worth(price={price:.4g}{weights})"')


def format_table(rows: "Sequence[GateComparison]") -> str:
    """Format the comparison as a Markdown table; lift is in percentage points of recall."""
    head = "| gate | rounds | tokens | recall | all gold | answer F1 | fired | abstained | lift | 95 % | gap closed |"
    lines = [head, "|---|" + "--:|" * 10]
    for row in rows:
        gate = f"`{row.gate}`".replace("|", "\\|")
        figures = [_format_number(getattr(row, name), spec) for name, spec in _FIGURES.items()]
        lift = _format_number(None if row.lift is None else 100 * row.lift, "+.1f")
        interval = "–" if row.lift_ci is None else f"[{100 * row.lift_ci[0]:+.1f}, {100 * row.lift_ci[1]:+.1f}]"
        cells = [gate, *figures, lift, interval, _format_number(row.gap_closed, ".0%")]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _format_number(value: float | None, spec: str) -> str:
    return "–" if value is None else format(value, spec)


def _load_episodes(paths: Sequence[Path], corpus: Path | None) -> "list[Episode]":
    from suffice.replay.episodes import read_corpus, read_episodes

    texts = read_corpus(corpus) if corpus is not None else None
    return [episode for path in paths for episode in read_episodes(path, texts)]


def _open_embed() -> Embed:
    from suffice.models.embeddings.choose import choose_embedder
    from suffice.search.corpus.vectors import EmbeddingCache

    config = settings.load()
    return EmbeddingCache(choose_embedder(config, print_note), config.cache_dir, print_note).embed
