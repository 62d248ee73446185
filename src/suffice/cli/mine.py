"""``suffice mine``: research a list of topics deeply and keep a reference page for each."""

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.cli.options import OUTPUT, QUIET, argument, build_options, flag, takes_options
from suffice.cli.output import print_error, render_report, write_file
from suffice.errors import EXIT_INTERRUPTED, InputError
from suffice.options import LIMITS, SOURCES, RunOptions
from suffice.types import Report

if TYPE_CHECKING:
    from suffice.cli.terminal import Terminal

INDEX_NAME = "index.json"


@takes_options(
    *("docs", "web", "providers", "include", "exclude", "model", "max_cost_usd"),
    max_cost_usd="Spend at most this many US dollars on each topic.",
)
def mine(
    topics: list[str] | None = argument(None, "The topics or questions.", "TOPIC…", show_default=False),
    topics_file: Path | None = flag(None, "Read the topics from this file, one a line.", SOURCES, "--topics", "FILE"),
    out: Path = flag(Path("reference"), "The folder of the pages.", OUTPUT, metavar="DIR"),
    max_age: float = flag(
        30, "Research a topic again when its page is older than this.", LIMITS, metavar="DAYS", min=0
    ),
    quiet: bool = QUIET,
    **given: Any,
) -> int:
    """Research topics deeply and keep a reference page with sources for each.

    Pages younger than --max-age stay as they are. A topic without evidence keeps its old page. The exit status is 3 if a topic
    has no page.
    """
    from suffice.cli.terminal import Terminal, run_interruptible

    named = [*(topics or ()), *_read_topics(topics_file)]
    wanted = list(dict.fromkeys(topic.strip() for topic in named if topic.strip()))
    if not wanted:
        raise InputError("There are no topics; name them, or a file with one on each line with --topics")
    options = build_options(**given, keep=True)
    out.mkdir(parents=True, exist_ok=True)
    index = _load_index(out)
    due = select_due(wanted, index, timedelta(days=max_age), datetime.now(UTC), out)
    with Terminal(quiet=quiet).live_display() as terminal:
        for number, topic in enumerate(due, 1):
            terminal.show_progress("topics", number, len(due))
            report = run_interruptible(_research_topic(topic, options, terminal))
            if report.stop.reason == "cancelled":
                return EXIT_INTERRUPTED
            if not report.final_answer:
                print_error(f"No page for {topic!r}: {report.status.replace('_', ' ')}")
                continue
            name = index.get(topic, {}).get("page") or choose_name(topic, {row["page"] for row in index.values()})
            write_file(out / name, render_report(report, ".md"))
            index[topic] = {"page": name, "at": datetime.now(UTC).isoformat(timespec="seconds"), "run": report.run}
            write_file(out / INDEX_NAME, json.dumps(index, ensure_ascii=False, indent=2))
    for topic in wanted:
        state = "researched" if topic in due else "up to date"
        print(f"{out / index[topic]['page']}  {state}" if topic in index else f"(no page)  {topic}")
    return 0 if all(topic in index for topic in wanted) else 3


def select_due(
    topics: Sequence[str], index: dict[str, Any], max_age: timedelta, now: datetime, folder: Path
) -> list[str]:
    """Return the topics that have no page or an old one."""
    return [
        topic
        for topic in topics
        if topic not in index
        or not (folder / index[topic]["page"]).is_file()
        or now - datetime.fromisoformat(index[topic]["at"]) > max_age
    ]


def choose_name(topic: str, taken: set[str]) -> str:
    """Return a file name for a topic that no other topic has.

    >>> choose_name("How do bees dance?", {"how-do-bees-dance.md"})
    'how-do-bees-dance-2.md'
    """
    base = re.sub(r"[^\w]+", "-", topic.lower()).strip("-")[:60].rstrip("-") or "topic"
    names = (f"{base}.md" if number == 1 else f"{base}-{number}.md" for number in range(1, len(taken) + 2))
    return next(name for name in names if name not in taken)


async def _research_topic(topic: str, options: RunOptions, terminal: "Terminal") -> Report:
    from suffice.api import make_recorder, prepare_run
    from suffice.engine.pipeline import run_to_report
    from suffice.skills.activate import parse_command

    question = topic if parse_command(topic)[0] else f"/deep {topic}"
    config = await prepare_run(question, options, terminal.notify)
    return await run_to_report(config, make_recorder(options, terminal.notify).record_event)


def _read_topics(path: Path | None) -> list[str]:
    from suffice.text.plain import read_text

    lines = read_text(path).splitlines() if path is not None else ()
    return [line for line in lines if not line.lstrip().startswith("#")]


def _load_index(folder: Path) -> dict[str, Any]:
    path = folder / INDEX_NAME
    if not path.exists():
        return {}
    try:
        index = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        index = None
    if not isinstance(index, dict) or not all(
        isinstance(row, dict) and {"page", "at"} <= row.keys() for row in index.values()
    ):
        raise InputError(f"{path} is not an index of suffice mine; move it away or name another folder with --out")
    return index
