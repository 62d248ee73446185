"""Compare suffice with other tools in one stub world, and run it on DRBench. README.md in this folder says how and why.

python -m bench.peers stub --envs FOLDER [--tools NAME,…] [--worlds rich,saturated] [--tempers eager,content]
python -m bench.peers drbench --data FOLDER [--model extractive] [--out ROWS.jsonl]
python -m bench.peers table ROWS.jsonl …
python -m bench.peers results
"""

import argparse
import json
import tempfile
from pathlib import Path

from bench.peers import drbench

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description="Compare suffice with other tools.")
    commands = parser.add_subparsers(dest="command", required=True)

    stub = commands.add_parser("stub", help="run all tools in the stub world and write RESULTS.md")
    stub.add_argument("--envs", type=Path, required=True, help="where each tool is installed (about 9 GB)")
    stub.add_argument("--tools", default="", help="names, with semicolons between them (default: all)")
    stub.add_argument("--worlds", default="saturated,rich")
    stub.add_argument("--tempers", default="eager,content")
    stub.add_argument("--rows", type=Path, default=HERE / "stub.jsonl", help="rows; the newest of a kind counts")
    stub.add_argument("--logs", type=Path, help="a folder for what the tools printed")

    run = commands.add_parser("drbench", help="run DRBench tasks and print the table")
    run.add_argument("--data", type=Path, required=True, help="the folder with tasks.tar.gz")
    run.add_argument("--model", default="extractive")
    run.add_argument("--label", default="", help="the rows' column in the table (default: the model)")
    run.add_argument("--tasks", default="", help="ids of tasks, with commas between them (default: all)")
    run.add_argument("--processes", type=int, default=1)
    run.add_argument("--seconds", type=float, default=3600, help="stop after this time; a second run continues")
    run.add_argument(
        "--out", type=Path, default=HERE / "drbench.jsonl", help="rows, one a task, without text of the data"
    )
    run.add_argument("--reports", type=Path, help="a folder for the reports as Markdown")
    run.add_argument("--work", type=Path, help="where the tasks are unpacked (default: a temporary folder)")

    table = commands.add_parser("table", help="print the table of DRBench rows")
    table.add_argument("rows", type=Path, nargs="+")
    commands.add_parser("results", help="write RESULTS.md from the rows in this folder")

    options = parser.parse_args()
    if options.command == "table":
        print(drbench.make_table([row for path in options.rows for row in drbench.read_rows(path)]))
    elif options.command == "results":
        write_results()
    elif options.command == "stub":
        run_stub(parser, options)
    else:
        with tempfile.TemporaryDirectory(prefix="drbench-") as temporary:
            run_drbench(parser, options, options.work or Path(temporary))


def run_stub(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    from bench.peers import stub

    names = [name.strip() for name in options.tools.split(";") if name.strip()]
    tools = stub.find_tools(names)
    if not tools:
        parser.error(f"There is no such tool; there are {'; '.join(tool.name for tool in stub.TOOLS)}.")
    for tool in tools:
        python = stub.prepare_environment(tool, options.envs.resolve())
        installation = {"package": tool.package, **stub.measure_installation(python, tool.package)}
        for world in options.worlds.split(","):
            for temper in options.tempers.split(","):
                row = {**stub.run_tool(tool, python, world, temper, log=options.logs), "installation": installation}
                with options.rows.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                print(
                    f"{tool.name}, {world}, {temper}: {row['ended']}, {row['calls']} calls, {row['searches']} searches",
                    flush=True,
                )
    write_results(options.rows)


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


def write_results(stub_rows: Path = HERE / "stub.jsonl") -> None:
    """Write RESULTS.md from the rows of both comparisons."""
    from bench.peers import stub

    rows = {(row["tool"], row["world"], row["temper"]): row for row in drbench.read_rows(stub_rows)}
    installations = {row["installation"]["package"]: row["installation"] for row in rows.values()}
    dates = sorted({row["date"] for row in rows.values()})
    settings = "\n".join(f"- {tool.name}: {tool.settings}." for tool in stub.TOOLS)
    sections = [
        "# Results",
        "Written by `python -m bench.peers results` from `stub.jsonl` and `drbench.jsonl`; [README.md](README.md) says how they"
        " are made and what can be compared.",
    ]
    if rows:
        sections += [
            f"## The same stub world ({dates[0]}{'' if dates[0] == dates[-1] else f' to {dates[-1]}'})",
            "`python -m bench.peers stub --envs FOLDER`\n\nTwo figures are the eager and the content model; one figure: it"
            " makes no difference. Seconds are from one run on a busy machine with two cores; calls, searches and tokens do"
            " not depend on it.",
            stub.make_table(list(rows.values())),
            stub.make_installation_table(installations),
            f"Settings, the tools' defaults but for addresses:\n\n{settings}",
        ]
    if scored := drbench.read_rows(HERE / "drbench.jsonl"):
        sections += [
            "## DRBench, 12 tasks",
            "`python -m bench.peers drbench --data FOLDER --model extractive` and `--model openai`\n\nShares are over all"
            " facts, files or citations of the tasks; the other figures are means of a task.",
            drbench.make_table(scored),
            "The best agent of the [paper](https://arxiv.org/abs/2510.00172) reaches about 37 % insight recall, with GPT-5,"
            " judged by a language model and with facts from the web among the insights. It cannot be compared with these"
            " figures directly; [README.md](README.md) says why.",
        ]
    (HERE / "RESULTS.md").write_text("\n\n".join(sections) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
