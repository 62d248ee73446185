"""Ask a code base how it works: here the json package of the standard library.

pip install . && python examples/code_base.py
"""

import asyncio
import json
from pathlib import Path

from suffice import research

PACKAGE = Path(json.__file__).parent


async def main() -> None:
    report = await research("How are NaN and Infinity written by the encoder?", docs=PACKAGE)
    print(report.final_answer)
    print(report.stop.explanation)


if __name__ == "__main__":
    asyncio.run(main())
