"""Events get the same numbers when a run is resumed, whether its draft is streamed or comes from the journal."""

import asyncio

from suffice.events import Drafting, Searching, Writing
from suffice.jobs.database import open_engine, sqlite_url
from suffice.jobs.event_stream import EVENT_STRIDE, EventNumbering, EventStream, count_lasting_events
from suffice.jobs.store import Priority, RunStore

DRAFT = [Drafting("one"), Drafting("two")]


def assign_numbers(events, last=0):
    numbering = EventNumbering(last)
    return [pair for event in events for pair in numbering.assign(event)]


def test_draft_pieces_do_not_shift_lasting_events():
    live = assign_numbers([Searching(1, ()), Writing(3), *DRAFT, Writing(4)])
    again = assign_numbers([Searching(1, ()), Writing(3), Writing(4)], last=live[-1][0])
    assert [pair for pair in live if not isinstance(pair[1], Drafting)] == again
    assert [number for number, _ in live] == sorted({number for number, _ in live})
    assert count_lasting_events(live[-1][0]) == 3


def test_restarted_draft_follows_the_stored_pieces():
    interrupted = assign_numbers([Searching(1, ()), Writing(3), *DRAFT])
    again = assign_numbers([Searching(1, ()), Writing(3), *DRAFT], last=interrupted[-1][0])
    assert again[:2] == interrupted[:2]
    assert again[2] == (interrupted[-1][0] + 1, Drafting(""))
    assert [event for _, event in again[3:]] == DRAFT
    assert not {number for number, _ in again[2:]} & {number for number, _ in interrupted}


def test_long_draft_does_not_reach_the_next_event():
    numbers = [number for number, _ in assign_numbers([Writing(1), *[Drafting("x")] * 2 * EVENT_STRIDE, Writing(2)])]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == 2 * EVENT_STRIDE


def test_follower_hears_that_a_quiet_run_goes_on(tmp_path):
    store = RunStore(open_engine(sqlite_url(tmp_path / "runs.sqlite")))
    store.add("one", "local", "{}", Priority.NORMAL, None)

    async def follow():
        heard, stream = [], EventStream(store)
        async for event in stream.follow("one", keepalive=0.05):
            heard.append(event)
            if len(heard) == 2:
                store.mark_ended("one", "done")
                stream.notify("one")
        stream.close()
        return heard

    assert asyncio.run(asyncio.wait_for(follow(), 20))[:2] == [None, None]
