"""Events are numbered the same whenever a run is gone through, however its draft comes about."""

from suffice.events import Drafting, Searching, Writing
from suffice.jobs.event_stream import EVENT_STRIDE, EventNumbering, count_lasting_events

PIECES = [Drafting("one"), Drafting("two")]


def numbered(events, last=0):
    numbers = EventNumbering(last)
    return [pair for event in events for pair in numbers.assign(event)]


def test_pieces_of_a_draft_do_not_shift_what_lasts():
    live = numbered([Searching(1, ()), Writing(3), *PIECES, Writing(4)])
    again = numbered([Searching(1, ()), Writing(3), Writing(4)], last=live[-1][0])
    assert [pair for pair in live if not isinstance(pair[1], Drafting)] == again
    assert [number for number, _ in live] == sorted({number for number, _ in live})
    assert count_lasting_events(live[-1][0]) == 3


def test_a_draft_that_begins_anew_says_so_behind_what_is_there():
    cut = numbered([Searching(1, ()), Writing(3), *PIECES])
    again = numbered([Searching(1, ()), Writing(3), *PIECES], last=cut[-1][0])
    assert again[:2] == cut[:2]
    assert again[2] == (cut[-1][0] + 1, Drafting(""))
    assert [event for _, event in again[3:]] == PIECES
    assert not {number for number, _ in again[2:]} & {number for number, _ in cut}


def test_a_draft_without_end_does_not_run_into_the_next_event():
    numbers = [number for number, _ in numbered([Writing(1), *[Drafting("x")] * 2 * EVENT_STRIDE, Writing(2)])]
    assert numbers == sorted(set(numbers))
    assert numbers[-1] == 2 * EVENT_STRIDE
