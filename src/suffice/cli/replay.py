"""``suffice replay`` and ``suffice lab``: gates over recorded runs, and the fitting of the default one."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from suffice.errors import InputError
from suffice.gates.parse import parse_gate
from suffice.meters import EMBEDDING_READINGS
from suffice.replay.compare import GateComparison, compare_gates
from suffice.replay.episodes import Episode, read_corpus, read_episodes
from suffice.types import Embed

# S3's sweep: seven discrete and nine smooth configurations of the exhaustion gate.
EXHAUSTION_SWEEP = (
    *(f"exhaustion(j={j}, u={u}, p={p})" for j, u, p in ((0.5, 0.3, 2), (0.6, 0.2, 2), (0.6, 0.3, 1), (0.6, 0.3, 2))),
    *(f"exhaustion(j={j}, u={u}, p={p})" for j, u, p in ((0.6, 0.3, 3), (0.7, 0.3, 2), (0.8, 0.5, 2))),
    *(f"exhaustion(j={j}, u={u}, p=1, smooth=0.5)" for j in (0.5, 0.6, 0.7) for u in (0.1, 0.12, 0.15)),
)


def replay(
    paths: Sequence[Path], stops: Sequence[str], *, corpus: Path | None, sweep: bool, as_json: bool, out: Sequence[Path]
) -> int:
    for path in out:
        if path.suffix.lower() not in (".md", ".json", ".svg", ".png"):
            raise InputError(f"--out {path}: the ending says the format; use one of .md, .json, .svg, .png")
    gates = [parse_gate(text) for text in (*stops, *(EXHAUSTION_SWEEP if sweep else ()))]
    if not gates:
        raise InputError("Name at least one gate with --stop, or --sweep for the sixteen of the literature")
    episodes = load_episodes(paths, corpus)
    needs = frozenset[str]().union(*(gate.needs for gate in gates))
    rows = compare_gates(episodes, gates, embed=None if needs.isdisjoint(EMBEDDING_READINGS) else _open_embed())
    for path in out:
        _write_comparison(rows, path)
    print(to_json(rows) if as_json else format_table(rows))
    return 0


def fit(paths: Sequence[Path], *, corpus: Path | None, price: float, out: Path) -> int:
    """Fit the default gate; ``out`` is what ``worth(file='…')`` reads."""
    from suffice.lab.fit import fit_worth as fitted

    episodes = load_episodes(paths, corpus)
    weights = {**fitted(episodes, price), "episodes": len(episodes), "files": [path.name for path in paths]}
    try:
        out.write_text(json.dumps(weights, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out} cannot be written: {error.strerror}") from error
    print(f"Fitted on {len(episodes):,} episodes. Use it with: --stop \"worth(file='{out}')\"")
    return 0


def calibrate(paths: Sequence[Path], *, corpus: Path | None, rounds: float, file: Path | None) -> int:
    """The price that makes the default gate spend this many rounds on average on these runs."""
    from suffice.lab.fit import calibrate_price as calibrated

    try:
        price = calibrated(load_episodes(paths, corpus), rounds, None if file is None else str(file))
    except (OSError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"The weights {file} cannot be read: {error}; make them with: suffice lab fit") from error
    shown = f"{price:.4g}"
    where = "" if file is None else f", file='{file}'"
    print(f'{rounds:g} rounds on average: --stop "worth(price={shown}{where})"')
    return 0


def load_episodes(paths: Sequence[Path], corpus: Path | None) -> list[Episode]:
    texts = read_corpus(corpus) if corpus is not None else None
    return [episode for path in paths for episode in read_episodes(path, texts)]


def to_json(rows: Sequence[GateComparison]) -> str:
    return json.dumps({"gates": [asdict(row) for row in rows]}, ensure_ascii=False)


def format_table(rows: Sequence[GateComparison]) -> str:
    """The rows as a Markdown table, lift in points of recall."""
    head = "| gate | rounds | tokens | recall | all gold | answer F1 | fired | abstained | lift | 95 % | gap closed |"
    lines = [head, "|---|" + "--:|" * 10]
    for row in rows:
        interval = "–" if row.lift_ci is None else f"[{100 * row.lift_ci[0]:+.1f}, {100 * row.lift_ci[1]:+.1f}]"
        cells = [
            f"`{row.gate}`".replace("|", "\\|"),
            f"{row.mean_rounds:.2f}",
            _format_number(row.mean_tokens, ",.0f"),
            _format_number(row.recall, ".3f"),
            _format_number(row.all_gold, ".3f"),
            _format_number(row.answer_f1, ".3f"),
            _format_number(row.fire_rate, ".0%"),
            str(row.abstained),
            _format_number(None if row.lift is None else 100 * row.lift, "+.1f"),
            interval,
            _format_number(row.gap_closed, ".0%"),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _write_comparison(rows: Sequence[GateComparison], path: Path) -> None:
    if path.suffix.lower() in (".svg", ".png"):
        from suffice.lab.pareto import draw_pareto_chart

        draw_pareto_chart(rows, path)
        return
    text = to_json(rows) if path.suffix.lower() == ".json" else format_table(rows)
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise InputError(f"--out {path} cannot be written: {error.strerror}") from error


def _format_number(value: float | None, how: str) -> str:
    return "–" if value is None else format(value, how)


def _open_embed() -> Embed:
    from suffice import settings
    from suffice.models.embeddings.choose import choose_embedder
    from suffice.search.corpus.vectors import EmbeddingCache

    config = settings.load()
    return EmbeddingCache(choose_embedder(config, _print_notice), config.cache_dir, _print_notice).embed


def _print_notice(message: str) -> None:
    print(f"suffice: {message}", file=sys.stderr)
