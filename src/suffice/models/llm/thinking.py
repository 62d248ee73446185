"""Models that think aloud before they answer (S4): kept from it where that is possible, given room where it is not."""

import re
from typing import Any

_THINKING_MODELS = re.compile(r"qwen3|qwq", re.IGNORECASE)
NO_THINK_MAX_TOKENS = 8_192  # Output tokens of a thinking model that is told not to think: some think all the same.
THINK_MAX_TOKENS = 16_384


def is_thinking_model(model: str) -> bool:
    """By its name: Qwen 3 and QwQ think."""
    return bool(_THINKING_MODELS.search(model))


def output_limit(model: str, tokens: int, *, always: bool, think: bool) -> int:
    """Output tokens to allow. ``always``: the provider says that this model cannot but think."""
    if not (always or is_thinking_model(model)):
        return tokens
    return max(tokens, THINK_MAX_TOKENS if think else NO_THINK_MAX_TOKENS)


def disable_thinking_params(model: str) -> dict[str, Any]:
    """What tells a server to keep such a model from thinking: Ollama's word and that of vLLM and llama.cpp. A server that
    knows neither passes over both."""
    if not is_thinking_model(model):
        return {}
    return {"reasoning_effort": "none", "chat_template_kwargs": {"enable_thinking": False}}
