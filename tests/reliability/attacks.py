"""Count the attacks and faults that the tests try, and those that held, by category.

    python -m reliability.attacks [--write ../docs/reliability.md]

The cases are the tests with the marker ``attack(category)``, so nothing is listed here that ``make test`` does not run.
"""

import argparse
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
START, END = "<!-- attacks -->", "<!-- /attacks -->"


class AttackCounter:
    """Counts the results of marked tests."""

    def __init__(self) -> None:
        self.tried: Counter[str] = Counter()
        self.held: Counter[str] = Counter()
        self._categories: dict[str, str] = {}

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        marked = [item for item in items if item.get_closest_marker("attack")]
        self._categories = {item.nodeid: item.get_closest_marker("attack").args[0] for item in marked}
        items[:] = marked

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        category = self._categories[report.nodeid]
        if report.when == "call":
            self.tried[category] += 1
            self.held[category] += report.passed
        elif report.failed:
            self.tried[category] += 1


def format_table(counter: AttackCounter) -> str:
    rows = [f"| {name} | {count} | {counter.held[name]} |" for name, count in sorted(counter.tried.items())]
    total = f"| all | {counter.tried.total()} | {counter.held.total()} |"
    return "\n".join(["| category | tried | held |", "|---|---|---|", *rows, total])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", type=Path, help="the page whose table is replaced")
    arguments = parser.parse_args()
    counter = AttackCounter()
    status = pytest.main(["-q", "-p", "no:cacheprovider", f"--rootdir={ROOT}", str(ROOT / "tests")], [counter])
    table = format_table(counter)
    print(table)
    if arguments.write is not None:
        before, _, rest = arguments.write.read_text(encoding="utf-8").partition(START)
        after = rest.partition(END)[2]
        arguments.write.write_text(f"{before}{START}\n{table}\n{END}{after}", encoding="utf-8")
    sys.exit(int(status))


if __name__ == "__main__":
    main()
