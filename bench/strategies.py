"""Gold-passage recall by round of each strategy without a language model, 5 passages a round: ``python -m bench.strategies``.

The set lies in ``../shared/data`` (MuSiQue). What ``auto`` is without a language model follows from this table.
"""

import argparse
import asyncio
from pathlib import Path

from bench.recall import DATA, HEAD, measure, row

STRATEGIES = ("reflect", "saturate", "predicates", "outline")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("strategies", nargs="*", default=STRATEGIES)
    parser.add_argument("--set", default="musique", help="the folder of the set")
    parser.add_argument("--limit", type=int, help="only the first questions")
    parser.add_argument("--data", type=Path, default=DATA, help="where the sets lie")
    given = parser.parse_args()
    print(
        f"Over `{given.set}`, each strategy with its own memory; `all gold`: share of questions with every gold passage.\n"
    )
    print(HEAD.format("strategy"))
    for name in given.strategies:
        print(row(name, asyncio.run(measure(given.data / given.set, given.limit, name, 0.5))), flush=True)


if __name__ == "__main__":
    main()
