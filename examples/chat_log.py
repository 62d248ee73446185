"""Ask a conversation what was decided, and follow up: the second question continues the first run.

pip install . && python examples/chat_log.py
"""

import asyncio
from pathlib import Path

from suffice import research

LOG = Path(__file__).parent / "documents" / "chat" / "release-channel.jsonl"


async def main() -> None:
    first = await research("Why was release 4.2 moved?", docs=LOG, keep=True)
    print(first.excerpts[0].title, "·", first.excerpts[0].text)
    second = await research("How long does the migration take?", docs=LOG, continues=first.run)
    print(second.excerpts[0].title, "·", second.excerpts[0].text)


if __name__ == "__main__":
    asyncio.run(main())
