"""Dates are told apart by what happened then."""

import pytest
from suffice.text.answer_spans import find_spans
from suffice.text.date_events import DateEvent, find_asked_event, select_dates


@pytest.mark.parametrize(
    ("question", "event"),
    [
        ("When does the cleaning contract end?", "end"),
        ("Bis wann gilt das Angebot?", "end"),
        ("When was the lease signed?", "signature"),
        ("When was Ada Lovelace born?", "birth"),
        ("When did she die?", "death"),
        ("When does the course start?", "start"),
        ("When was Flask 2.0 released?", None),
    ],
)
def test_the_asked_event_is_read_from_the_question(question: str, event: DateEvent | None) -> None:
    assert find_asked_event(question) == event


@pytest.mark.parametrize(
    ("sentence", "event", "dates"),
    [
        ("It starts on 1 April 2023 and runs until 31 March 2026.", "end", ["31 March 2026"]),
        ("It starts on 1 April 2023 and runs until 31 March 2026.", "start", ["1 April 2023"]),
        ("Signed on 14 March 2023 in Leeds.", "end", []),
        ("Signed on 14 March 2023 in Leeds.", "signature", ["14 March 2023"]),
        ("Ada Lovelace (1815–1852) wrote programs.", "birth", ["1815"]),
        ("Ada Lovelace (1815–1852) wrote programs.", "death", ["1852"]),
        ("The war lasted from 1939 to 1945.", "end", ["1945"]),
        ("The meeting is on 3 May 2024.", "end", ["3 May 2024"]),
        ("Der Vertrag läuft vom 1.4.2023 bis 31.3.2026.", "end", ["31.3.2026"]),
    ],
)
def test_dates_of_another_event_are_left_out(sentence: str, event: DateEvent, dates: list[str]) -> None:
    found = select_dates(sentence, find_spans(sentence, "date"), event)

    assert [sentence[start:end] for start, end in found] == dates
