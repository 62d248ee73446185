"""Models that think aloud before they answer (S4): kept from it where that is possible, given room where it is not."""

import re
from typing import Any

_THINKING = re.compile(r"qwen3|qwq", re.IGNORECASE)
QUIET_TOKENS = 8_192  # Output tokens of a thinking model that is told not to think: some think all the same.
THINK_TOKENS = 16_384


def thinks(model: str) -> bool:
    """By its name: Qwen 3 and QwQ think."""
    return bool(_THINKING.search(model))


def room(model: str, tokens: int, *, always: bool, think: bool) -> int:
    """Output tokens to allow. ``always``: the provider says that this model cannot but think."""
    if not (always or thinks(model)):
        return tokens
    return max(tokens, THINK_TOKENS if think else QUIET_TOKENS)


def quiet(model: str) -> dict[str, Any]:
    """What tells a server to keep such a model from thinking: Ollama's word and that of vLLM and llama.cpp. A server that
    knows neither passes over both."""
    if not thinks(model):
        return {}
    return {"reasoning_effort": "none", "chat_template_kwargs": {"enable_thinking": False}}
