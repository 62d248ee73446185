"""A report as JSON, and back: the wire format of ``--json``, ``--out report.json`` and the HTTP service.

The shape is that of the dataclasses. Two things differ: a verdict is written without ``parts`` and ``promise``, and
what JSON cannot say (a lone surrogate, an infinite number, a foreign object in ``raw``) is written as the nearest thing
it can. It knows nothing of files, doors or rendering.
"""

import json
import math
from typing import Any, cast

from suffice import events
from suffice.errors import InputError
from suffice.text.plain import replace_surrogates
from suffice.types import Report


def to_dict(report: Report) -> dict[str, Any]:
    """The report as plain dicts, lists, strings and numbers."""
    import msgspec

    wire = cast(dict[str, Any], to_json_safe(msgspec.to_builtins(report, str_keys=True, enc_hook=str)))
    for record in wire["stop"]["rounds"]:
        record["verdicts"] = [events.serialize_verdict(verdict) for verdict in record["verdicts"]]
    return wire


def dumps(report: Report) -> str:
    """The report as one JSON object; any script stays readable."""
    return json.dumps(to_dict(report), ensure_ascii=False, indent=2, allow_nan=False)


def loads(text: str) -> Report:
    """The report that ``dumps`` wrote; keys this version does not know are passed over."""
    import msgspec

    try:
        return msgspec.convert(_restore_thresholds(json.loads(text)), Report)
    except (ValueError, msgspec.ValidationError) as error:
        raise InputError(f"This is not a suffice report in JSON: {error}.") from error


def to_json_safe(value: Any) -> Any:
    """The value as JSON can say it."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {replace_surrogates(key): to_json_safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_safe(item) for item in value]
    return value


def _restore_thresholds(wire: Any) -> Any:
    """An infinite threshold was written as null; a threshold is never unknown, so it is read as infinite again."""
    try:
        for record in wire["stop"]["rounds"]:
            for verdict in record["verdicts"]:
                for name, (value, threshold) in verdict["signals"].items():
                    verdict["signals"][name] = [value, math.inf if threshold is None else threshold]
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"its stop record is malformed ({type(error).__name__}: {error})") from error
    return wire
