"""A report as JSON and back: the format of ``--json``, ``--out report.json`` and the HTTP service.

The fields are those of the dataclasses, with two differences: a verdict has no ``parts`` and no ``promise``, and values
that JSON does not have (a lone surrogate, an infinite number, an unknown object in ``raw``) are replaced by the nearest
value it has.
"""

import json
import math
from typing import Any, cast

import msgspec

from suffice import events
from suffice.errors import InputError
from suffice.text.plain import replace_surrogates
from suffice.types import Report


def to_dict(report: Report) -> dict[str, Any]:
    """Return the report as plain dicts, lists, strings and numbers."""
    encoded = cast(dict[str, Any], to_json_safe(msgspec.to_builtins(report, str_keys=True, enc_hook=str)))
    for record in encoded["stop"]["rounds"]:
        record["verdicts"] = [events.serialize_verdict(verdict) for verdict in record["verdicts"]]
    return encoded


def dumps(report: Report) -> str:
    """Return the report as one JSON object, with non-ASCII characters unescaped."""
    return json.dumps(to_dict(report), ensure_ascii=False, indent=2, allow_nan=False)


def loads(text: str) -> Report:
    """Parse a report that ``dumps`` wrote; unknown keys are ignored."""
    try:
        return msgspec.convert(_restore_thresholds(json.loads(text)), Report)
    except (ValueError, msgspec.ValidationError) as error:
        raise InputError(f"This is not a suffice report in JSON: {error}.") from error


def to_json_safe(value: Any) -> Any:
    """Return the value with everything that JSON cannot encode replaced."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {replace_surrogates(key): to_json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_safe(item) for item in value]
    return value


def _restore_thresholds(encoded: Any) -> Any:
    """Turn a threshold of null back into infinity; a threshold is never unknown."""
    try:
        for record in encoded["stop"]["rounds"]:
            for verdict in record["verdicts"]:
                for name, (value, threshold) in verdict["signals"].items():
                    verdict["signals"][name] = [value, math.inf if threshold is None else threshold]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"its stop record is malformed ({type(error).__name__}: {error})") from error
    return encoded
