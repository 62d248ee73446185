"""Run open-deep-research once with its defaults, but for the address of Tavily: ``python run_….py QUESTION``."""

import asyncio
import os
import sys
from functools import partial

from open_deep_research import utils
from open_deep_research.deep_researcher import deep_researcher_builder

# The package has no setting for the address of its search service.
utils.AsyncTavilyClient = partial(utils.AsyncTavilyClient, api_base_url=os.environ["STUB_TAVILY_URL"])


async def main() -> None:
    graph = deep_researcher_builder.compile()
    state = await graph.ainvoke({"messages": [{"role": "user", "content": sys.argv[1]}]}, {"recursion_limit": 100})
    print("\n=== REPORT ===\n" + state["final_report"])


asyncio.run(main())
