"""Run gpt-researcher once with its defaults: ``python run_….py QUESTION MODE``, the mode ``research_report`` or ``deep``."""

import asyncio
import os
import sys
from importlib.util import find_spec
from pathlib import Path

# It counts tokens with a vocabulary that it would download; litellm, which it installs, brings the same file.
litellm = find_spec("litellm")
os.environ["TIKTOKEN_CACHE_DIR"] = str(Path(litellm.origin).parent / "litellm_core_utils" / "tokenizers")

from gpt_researcher import GPTResearcher  # noqa: E402


async def main() -> None:
    researcher = GPTResearcher(query=sys.argv[1], report_type=sys.argv[2])
    await researcher.conduct_research()
    print("\n=== REPORT ===\n" + await researcher.write_report())


asyncio.run(main())
