"""Measure gold-passage recall by round of each strategy: ``python -m bench.strategies``.

The model is the extractive one, with 5 passages per round. The set (MuSiQue) is in ``../shared/data``. The choice of
``auto`` without a language model follows from this table.
"""

import argparse
import asyncio
from pathlib import Path

from bench.recall import DATA, HEAD, format_row, measure

STRATEGIES = ("reflect", "saturate", "predicates", "outline")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("strategies", nargs="*", default=STRATEGIES)
    parser.add_argument("--set", default="musique", help="the folder of the set")
    parser.add_argument("--limit", type=int, help="only the first questions")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the sets")
    given = parser.parse_args()
    print(
        f"Over `{given.set}`, each strategy with its own memory; `all gold`: share of questions with every gold passage.\n"
    )
    print(HEAD.format("strategy"))
    for name in given.strategies:
        print(format_row(name, asyncio.run(measure(given.data / given.set, given.limit, name, 0.5))), flush=True)


if __name__ == "__main__":
    main()
