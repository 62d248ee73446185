"""The events of a run as server-sent events. Each has its number, so a client that reconnects continues after the last one."""

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from fastapi.sse import KEEPALIVE_COMMENT, EventSourceResponse, format_sse_event

from suffice.jobs.event_stream import EventStream

KEEPALIVE_SECONDS = 15.0  # Seconds without an event after which a comment keeps the connection open.
RETRY_MS = 1000  # Milliseconds after which a browser reconnects.


def stream_response(
    event_stream: EventStream, run: str, after: int, headers: Mapping[str, str] | None = None
) -> EventSourceResponse:
    """Stream the events with a number greater than ``after`` until the run has ended."""
    return EventSourceResponse(
        _format_events(event_stream, run, after),
        headers={"cache-control": "no-cache, no-store", "x-accel-buffering": "no", **(headers or {})},
    )


async def _format_events(event_stream: EventStream, run: str, after: int) -> AsyncGenerator[bytes, None]:
    yield format_sse_event(comment="suffice", retry=RETRY_MS)
    async with aclosing(event_stream.follow(run, after, KEEPALIVE_SECONDS)) as events:
        async for event in events:
            if event is None:
                yield KEEPALIVE_COMMENT
            else:
                yield format_sse_event(data_str=event.data, event=event.type, id=str(event.seq))
    yield format_sse_event(data_str="{}", event="end")
