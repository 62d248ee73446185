"""Compare suffice with other tools, and run it on DRBench.

python -m bench.peers drbench --data FOLDER [--model extractive] [--out ROWS.jsonl]
python -m bench.peers table ROWS.jsonl …
"""

import argparse
import tempfile
from pathlib import Path

from bench.peers import drbench


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description="Compare suffice with other tools.")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("drbench", help="run DRBench tasks and print the table")
    run.add_argument("--data", type=Path, required=True, help="the folder with tasks.tar.gz")
    run.add_argument("--model", default="extractive")
    run.add_argument("--label", default="", help="the rows' column in the table (default: the model)")
    run.add_argument("--tasks", default="", help="ids of tasks, with commas between them (default: all)")
    run.add_argument("--processes", type=int, default=1)
    run.add_argument("--seconds", type=float, default=3600, help="stop after this time; a second run continues")
    run.add_argument(
        "--out", type=Path, default=Path("drbench.jsonl"), help="rows, one a task; holds no text of the data"
    )
    run.add_argument("--reports", type=Path, help="a folder for the reports as Markdown")
    run.add_argument("--work", type=Path, help="where the tasks are unpacked (default: a temporary folder)")
    table = commands.add_parser("table", help="print the table of DRBench rows")
    table.add_argument("rows", type=Path, nargs="+")
    options = parser.parse_args()
    if options.command == "table":
        print(drbench.make_table([row for path in options.rows for row in drbench.read_rows(path)]))
    else:
        with tempfile.TemporaryDirectory(prefix="drbench-") as temporary:
            run_drbench(parser, options, options.work or Path(temporary))


def run_drbench(parser: argparse.ArgumentParser, options: argparse.Namespace, work: Path) -> None:
    if not (options.data / "tasks.tar.gz").is_file():
        parser.error(f"{options.data} has no tasks.tar.gz; give the folder of the DRBench tasks.")
    tasks = drbench.prepare_tasks(options.data, work)
    chosen = {name for name in options.tasks.split(",") if name}
    if unknown := chosen - {task.id for task in tasks}:
        parser.error(
            f"There is no task {', '.join(sorted(unknown))}; there are {', '.join(task.id for task in tasks)}."
        )
    drbench.run_tasks(
        tasks,
        options.model,
        options.out,
        processes=options.processes,
        seconds=options.seconds,
        reports=options.reports,
        chosen=chosen,
        label=options.label,
    )
    print(drbench.make_table([row for row in drbench.read_rows(options.out) if not chosen or row["task"] in chosen]))


if __name__ == "__main__":
    main()
