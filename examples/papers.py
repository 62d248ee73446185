"""Review a folder of papers: a table, groups of papers, and what they say, each sentence with its source.

pip install . && python examples/papers.py
"""

import asyncio
from pathlib import Path

from suffice import research

FOLDER = Path(__file__).parent / "documents" / "papers"


async def main() -> None:
    report = await research("/lit-review wild bees and mowing", docs=FOLDER)
    print(report.final_answer)
    for source in report.sources:
        print(f"{source.id} {source.title}")


if __name__ == "__main__":
    asyncio.run(main())
