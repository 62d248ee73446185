"""Ask the same questions of every contract in a folder and list the answers with their lines.

pip install . && python examples/contracts.py
"""

import asyncio
from pathlib import Path

from suffice import research

FOLDER = Path(__file__).parent / "documents" / "contracts"
QUESTIONS = ("What is the notice period?", "How many EUR a month have to be paid?")


async def main() -> None:
    for contract in sorted(FOLDER.glob("*.md")):
        print(contract.stem)
        for question in QUESTIONS:
            report = await research(question, docs=contract)
            if report.excerpts:
                first = report.excerpts[0]
                print(f"  {question}\n    {' '.join(first.text.split())} ({Path(first.location).name})")
            else:  # Nothing in this contract answers it; the closest passages are in ``report.closest``.
                print(f"  {question}\n    not found")


if __name__ == "__main__":
    asyncio.run(main())
