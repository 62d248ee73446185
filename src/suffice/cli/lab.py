"""``suffice lab run``, ``tables``, ``gaps`` and ``data``: experiments with agents that search."""

import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from suffice import settings
from suffice.cli.options import argument, flag
from suffice.cli.output import print_note, write_file
from suffice.errors import EXIT_INTERRUPTED, InputError

if TYPE_CHECKING:
    from suffice.lab.grid import Grid, Progress

_LIST = "Comma-separated."
_PROGRESS_SECONDS = 10  # Between two lines of progress.


def run(
    experiment: Path | None = argument(None, "An experiment as a TOML file; options override it.", "[FILE.toml]"),
    data: list[Path] | None = flag(None, "A data set's folder. Repeatable.", metavar="FOLDER"),
    preset: str | None = flag(None, "Start from a preset: belief, gates or ablations.", metavar="NAME"),
    harness: str | None = flag(None, f"ircot, react, memgpt, iterretgen. {_LIST}"),
    memory: str | None = flag(None, f"baseline, lobotomized, structured, freeform. {_LIST}"),
    gate: str | None = flag(None, f"'none' and stop rules as for 'suffice ask'. {_LIST}", metavar="EXPR,..."),
    model: str | None = flag(None, "The model, as for 'suffice ask'.", metavar="PROVIDER:NAME"),
    judge: str | None = flag(None, "A model that grades the answers from 0 to 100.", metavar="PROVIDER:NAME"),
    questions: int | None = flag(None, "Questions of each data set. Default: all.", min=1),
    seed: int | None = flag(None, "Seed of the sample of questions.", min=0),
    rounds: str | None = flag(None, "Rounds at most: a number, or by harness as ircot=6,memgpt=8.", metavar="N"),
    k: str | None = flag(None, f"Passages for each query. {_LIST}", flags="-k", metavar="N,..."),
    alpha: str | None = flag(None, f"Weight of words in search. {_LIST}", metavar="0..1,..."),
    limits: str | None = flag(
        None, f"Facts from which a belief is curated, and to how many. {_LIST}", metavar="10/6,..."
    ),
    unanswerable: str | None = flag(
        None, "Questions without an answer: own (those of the set), swap (LoCoMo entity swaps) or none."
    ),
    answers_each_round: bool | None = flag(
        None,
        "Also answer after every round without a gate, to compare with fixed rounds.",
        flags="--answers-each-round",
    ),
    no_text: bool = flag(
        False, "Leave answers and queries out of the rows: they may quote the data.", flags="--no-text"
    ),
    out: Path = flag(Path("runs/grid"), "Folder of the rows. Started again, it continues.", metavar="DIR"),
    part: str | None = flag(None, "Only this part of the questions, as 3/8, for several processes with a --out each."),
    concurrency: int = flag(4, "Questions at the same time.", min=1),
    max_cost: float | None = flag(None, "US dollars at most.", metavar="USD"),
    max_seconds: float | None = flag(None, "End after so many seconds; the rows so far stay.", metavar="S"),
    yes: bool = flag(False, "Do not ask before spending money.", flags="--yes"),
) -> int | None:
    """Run agents over questions: harness x memory x gate, one row a question.

    Rows are appended to DIR/rows.jsonl. A grid that was interrupted continues when it is started again, and pays for no
    call twice.
    """
    import asyncio

    from suffice.gates.parse import split_list
    from suffice.lab.experiment import load_experiment, parse_rounds
    from suffice.lab.grid import Grid
    from suffice.models.choose import choose_model

    options: dict[str, Any] = {
        "data": [str(path) for path in data] if data else None,
        "harness": _split(harness),
        "memory": _split(memory),
        "gate": None if gate is None else split_list(gate),
        "model": model,
        "judge": judge,
        "questions": questions,
        "seed": seed,
        "rounds": None if rounds is None else parse_rounds(rounds),
        "k": _split_numbers(k, int),
        "alpha": _split_numbers(alpha, float),
        "limits": _split(limits),
        "unanswerable": unanswerable,
        "answers_each_round": answers_each_round,
        "keep_text": False if no_text else None,
    }
    chosen = load_experiment(experiment, preset, options)
    config = settings.load()
    model_object = choose_model(chosen.model, config, print_note)(None)
    judge_object = None if chosen.judge is None else choose_model(chosen.judge, config, print_note)(None)
    grid = Grid(chosen, out, (model_object, judge_object), config, print_note, part=_parse_part(part))
    done = grid.load_done() if out.exists() else set()
    jobs = [job for job in grid.list_jobs() if job.key not in done]
    estimate = grid.estimate(jobs)
    price = "price unknown" if estimate.usd is None else f"{estimate.usd:,.2f} US dollars"
    print_note(
        f"{len(chosen.list_cells())} cells, {estimate.runs:,} runs to do{f' ({len(done):,} done)' if done else ''}: at most "
        f"about {estimate.calls:,} calls, {estimate.input_tokens:,} + {estimate.output_tokens:,} tokens, {price}."
    )
    if jobs and not yes and not model_object.local and estimate.usd != 0:
        if not sys.stdin.isatty():
            raise InputError("This spends money; add --yes to start without a question, and --max-cost to limit it")
        if not typer.confirm("Start?", err=True):
            raise typer.Abort
    try:
        progress = asyncio.run(_run_with_progress(grid, concurrency, max_cost, max_seconds))
    except (KeyboardInterrupt, asyncio.CancelledError):
        print_note(f"Interrupted; the rows so far are in {out}. Start again to continue.")
        return EXIT_INTERRUPTED
    left = progress.total - progress.done
    end = f"{left:,} are left; start again to continue" if left else f"see: suffice lab tables {out}"
    print_note(f"{progress.done:,} of {progress.total:,} rows are in {out}, {progress.errors} with an error; {end}")
    return None


def tables(
    folder: Path = argument(..., "The folder of a grid, or a file of rows.", "DIR"),
    csv: Path | None = flag(None, "Also write every table as CSV into this folder.", metavar="DIR"),
    latex: Path | None = flag(None, "Also write all tables as LaTeX.", metavar="FILE.tex"),
    figures: Path | None = flag(None, "Also draw the figures into this folder.", metavar="DIR"),
) -> None:
    """Print all tables of a grid as Markdown, from its rows alone."""
    from suffice.lab.grid import read_rows
    from suffice.lab.result_table import to_csv, to_latex, to_markdown
    from suffice.lab.tables import build_tables

    found = build_tables(read_rows(folder))
    if csv is not None:
        csv.mkdir(parents=True, exist_ok=True)
        for table in found:
            write_file(csv / f"{table.slug}.csv", to_csv(table))
    if latex is not None:
        write_file(latex, "\n\n".join(map(to_latex, found)) + "\n")
    if figures is not None:
        from suffice.lab.figures import draw_figures

        figures.mkdir(parents=True, exist_ok=True)
        draw_figures(read_rows(folder), figures)
    print("\n\n".join(map(to_markdown, found)))


def gaps(
    paths: list[Path] = argument(..., "The folder of a grid, or files of --trace or episodes.", "DIR|TRACE..."),
) -> None:
    """Count failures of searches: G1-G7."""
    from suffice.lab.result_table import to_markdown
    from suffice.lab.tables import build_gap_table

    print(to_markdown(build_gap_table(_read_gaps(paths))))


def data(folder: Path | None = argument(None, "A folder to check.", "[FOLDER]")) -> None:
    """List the data sets that 'suffice lab run' reads, or check a folder."""
    from suffice.lab.data import FORMATS, load_dataset

    if folder is None:
        for format in FORMATS:
            print(
                f"{format.name}: {format.what}\n  from {format.source}, {format.licence}\n  a folder with {format.layout}"
            )
        return
    dataset = load_dataset(folder, settings.load().cache_dir)
    groups = Counter(question.group for question in dataset.questions)
    unanswerable = sum(not question.answerable for question in dataset.questions)
    with_gold = sum(bool(question.gold) for question in dataset.questions)
    print(
        f"{folder}: {dataset.format}, {len(dataset.questions):,} questions, {unanswerable:,} of them cannot be answered"
    )
    print(f"{with_gold:,} questions name their gold passages")
    print("groups: " + ", ".join(f"{name} {count:,}" for name, count in sorted(groups.items())))
    print(f"collections: {len({question.corpus for question in dataset.questions})}")


def _read_gaps(paths: Sequence[Path]) -> list[dict[str, Any]]:
    """Return rows of a grid, or a row for each recorded search."""
    from suffice.lab.gaps import SearchRecord, SearchRound, detect_gaps
    from suffice.lab.grid import read_rows
    from suffice.replay.episodes import read_episodes

    rows: list[dict[str, Any]] = []
    for path in paths:
        if path.is_dir() or path.name.startswith("rows"):
            rows += read_rows(path)
            continue
        for episode in read_episodes(path):
            rounds = tuple(
                SearchRound(round.queries, {hit.id: hit.text for hit in round.raw}) for round in episode.rounds
            )
            stop = (episode.stop or {}).get("reason")
            answer = (episode.report or {}).get("short_answer") or episode.rounds[-1].answer
            record = SearchRecord(episode.question, rounds, answer, stop, episode.answers or None, episode.gold or None)
            rows.append(
                {"data": path.name, "harness": episode.agent or "–", "memory": "–", "gaps": detect_gaps(record)}
            )
    return rows


async def _run_with_progress(
    grid: "Grid", concurrency: int, max_cost: float | None, max_seconds: float | None
) -> "Progress":
    printed_at = time.monotonic()

    def report(progress: "Progress") -> None:
        nonlocal printed_at
        if time.monotonic() - printed_at >= _PROGRESS_SECONDS:
            printed_at = time.monotonic()
            print_note(_describe_progress(progress))

    return await grid.run(concurrency=concurrency, max_usd=max_cost, max_seconds=max_seconds, on_progress=report)


def _describe_progress(progress: "Progress") -> str:
    left = progress.seconds_left
    time_left = "" if left is None else f" · {left / 60:,.0f} min left" if left >= 90 else f" · {left:.0f} s left"
    return (
        f"{progress.done:,} of {progress.total:,} rows · {progress.per_second:.1f}/s · {progress.tokens:,} tokens · "
        f"${progress.usd:.2f} · {progress.errors} errors{time_left}"
    )


def _parse_part(text: str | None) -> tuple[int, int]:
    number, _, count = (text or "1/1").partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise InputError(f"--part is written NUMBER/COUNT, such as 3/8, not {text!r}")
    return int(number), int(count)


def _split(text: str | None) -> list[str] | None:
    return None if text is None else [part.strip() for part in text.split(",") if part.strip()]


def _split_numbers(text: str | None, kind: type[int] | type[float]) -> list[Any] | None:
    try:
        return None if text is None else [kind(part) for part in _split(text) or ()]
    except ValueError as error:
        raise InputError(f"{text!r} is not a list of numbers; write them with commas between") from error
