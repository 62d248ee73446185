"""Run local-deep-research once with its defaults: ``python run_….py QUESTION STRATEGY``."""

import os
import sys

from local_deep_research.api import quick_summary
from local_deep_research.api.settings_utils import create_settings_snapshot

settings = create_settings_snapshot(
    overrides={
        "llm.provider": "openai_endpoint",
        "llm.model": "stub",
        "llm.openai_endpoint.url": os.environ["OPENAI_BASE_URL"],
        "llm.openai_endpoint.api_key": "stub",
        "search.tool": "searxng",
        "search.engine.web.searxng.default_params.instance_url": os.environ["STUB_SEARCH_URL"],
    }
)
result = quick_summary(
    query=sys.argv[1],
    settings_snapshot=settings,
    provider="openai_endpoint",
    model_name="stub",
    openai_endpoint_url=os.environ["OPENAI_BASE_URL"],
    search_tool="searxng",
    search_strategy=sys.argv[2],
)
print("\n=== REPORT ===\n" + str(result["summary"]))
