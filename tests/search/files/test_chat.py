"""Conversations in JSON (``chat``) and in plain text (``transcript``)."""

import json
from pathlib import Path

import pytest

from suffice.search.files.chunk import UnreadableFile
from suffice.search.files.read import read_document, read_text
from suffice.text.chunks import split_lines

DATA = Path(__file__).parents[3].parent / "shared" / "data"


def chat(value: object) -> list[tuple[str, str | None, str]]:
    return [(p.text, p.record, p.title) for p in read_text(json.dumps(value), "c.json") if p.kind == "chat"]


def test_turns_take_their_date_from_the_key_beside_the_list() -> None:
    sample = {
        "sample_id": "s1",
        "conversation": {
            "session_1_date_time": "8 May 2023",
            "session_1": [
                {"speaker": "Ann", "dia_id": "D1:1", "text": "Hi."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Look!", "blip_caption": "a dog"},
            ],
        },
        "qa": [{"question": "?", "answer": "!"}],
    }
    assert chat(sample) == [
        ("[8 May 2023] Ann: Hi.", "D1:1", "Ann, 8 May 2023"),
        ("[8 May 2023] Bo: Look! [image: a dog]", "D1:2", "Bo, 8 May 2023"),
    ]
    assert [record for _, record, _ in chat([sample, {**sample, "sample_id": "s2"}])] == [
        "s1/D1:1", "s1/D1:2", "s2/D1:1", "s2/D1:2",
    ]  # fmt: skip


def test_messages_with_parts_and_unix_time() -> None:
    found = chat({"messages": [
        {"role": "user", "content": [{"type": "text", "text": "One."}, {"type": "image"}], "ts": 1683554160},
        {"role": "assistant", "content": "Two.", "ts": "1683554160000"},
    ]})  # fmt: skip
    assert found == [
        ("[2023-05-08 13:56] user: One.", "1", "user, 2023-05-08 13:56"),
        ("[2023-05-08 13:56] assistant: Two.", "2", "assistant, 2023-05-08 13:56"),
    ]


def test_a_timestamp_is_given_to_the_minute() -> None:
    turns = [{"user": "ann", "text": text, "ts": "2025-05-05T09:12:44.120Z"} for text in ("One.", "Two.")]
    assert chat(turns)[0] == ("[2025-05-05 09:12] ann: One.", "1", "ann, 2025-05-05 09:12")


def test_a_name_says_more_than_a_role() -> None:
    turns = [{"role": "user", "name": "Ann", "content": "One."}, {"role": "assistant", "name": "Bo", "content": "Two."}]
    assert [text for text, _, _ in chat(turns)] == ["Ann: One.", "Bo: Two."]


def test_chatgpt_export() -> None:
    node = {
        "id": "n1",
        "message": {"author": {"role": "user"}, "content": {"parts": ["Hello"]}, "create_time": 1683554160.5},
    }
    other = {"id": "n2", "message": {"author": {"role": "assistant"}, "content": {"parts": ["Hi"]}}}
    found = chat({"title": "t", "mapping": {"n1": node, "n2": other}})
    assert [(text, record) for text, record, _ in found] == [
        ("[2023-05-08 13:56] user: Hello", "n1"),
        ("assistant: Hi", "n2"),
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}]},
        {"a": [1, 2, {"role": "x", "text": "one of many"}]},
        [{"title": "x", "text": "y"}],
        "just a string",
    ],
)
def test_json_without_a_conversation_is_quoted_as_it_stands(value: object) -> None:
    (chunk,) = read_text(json.dumps(value), "c.json")
    assert (chunk.kind, chunk.text) == ("code", json.dumps(value))
    assert chunk.lines == (1, 1)


def test_repeated_ids_are_made_unique() -> None:
    turns = [{"role": "a", "content": "x", "id": 1}, {"role": "b", "content": "y", "id": 1}]
    assert [record for _, record, _ in chat(turns)] == ["1", "1~2"]


@pytest.mark.parametrize(
    ("stamp", "date"),
    [
        ("", ""),
        ("[2023-05-08 13:56] ", "2023-05-08 13:56"),
        ("12/05/2023, 10:11 - ", "12/05/2023, 10:11"),
        ("2023-05-08T13:56:00Z ", "2023-05-08T13:56:00Z"),
        ("[10:11:12] ", "10:11:12"),
    ],
)
def test_transcript_turns_have_exact_lines(stamp: str, date: str) -> None:
    text = f"Meeting\n{stamp}Ann: Hello there, how are you?\n"
    text += f"{stamp}Bo Li: I am fine.\nstill me\n\n{stamp}Ann: Good to hear.\n"
    chunks = read_text(text, "t.txt")
    assert [p.title for p in chunks] == [
        "t.txt",
        *[f"{who}, {date}" if date else who for who in ("Ann", "Bo Li", "Ann")],
    ]
    assert [p.lines for p in chunks] == [(1, 1), (2, 2), (3, 4), (6, 6)]
    assert all(p.text == "\n".join(split_lines(text)[p.lines[0] - 1 : p.lines[1]]) for p in chunks if p.lines)
    assert {p.kind for p in chunks} == {"chat"}


@pytest.mark.parametrize(
    "text",
    [
        "name: demo\nversion: 1.0\ndescription: a thing that does it\nname: other\nversion: 2.0\n",
        "From: a@b.c\nTo: d@e.f\nSubject: hello to all of you\nDate: today\nFrom: a@b.c\n",
        "INFO: the server started\nERROR: the server stopped\nINFO: the server started again\n",
        "2023-05-08 13:56 INFO: started\n2023-05-08 13:57 ERROR: stopped\n2023-05-08 13:58 INFO: started\n",
        "Package: a\nVersion: 1\nDepends: b, c, d\n\nPackage: b\nVersion: 2\nDepends: c, d, e\n",
        "host: x\nport: 1\nuser: y\nhost: z\nport: 2\nuser: w\n",
        "Note: this is important. It is.\nAn ordinary paragraph follows here.\nAnd goes on.\n",
    ],
)
def test_fields_headers_and_logs_are_not_conversations(text: str) -> None:
    assert {p.kind for p in read_text(text, "x.txt")} == {"text"}


@pytest.mark.skipif(not DATA.exists(), reason="the shared evaluation data is not here")
def test_locomo_is_read_turn_by_turn() -> None:
    chunks = read_document(DATA / "locomo" / "locomo10.json").chunks
    assert len(chunks) == len({p.record for p in chunks}) == 5882
    assert chunks[0].record == "conv-26/D1:1"
    assert chunks[0].title == "Caroline, 1:56 pm on 8 May, 2023"


def test_messages_of_a_jsonl_export_are_read_and_other_records_skipped(tmp_path: Path) -> None:
    rows = [
        {"type": "user", "username": "ana", "password": "secret", "email": "ana@example.org"},
        {
            "type": "email",
            "id": "m1",
            "subject": "Budget",
            "from": "ana@example.org",
            "body": "It is 40.",
            "date": "2025-01-02",
        },
        {
            "type": "post",
            "post": {
                "user": "bo",
                "message": "Seen.",
                "create_at": 1620500000000,
                "replies": [{"user": "ana", "message": "Thanks.", "create_at": 1620500060000}],
            },
        },
    ]
    path = tmp_path / "export.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    found = read_document(path).chunks
    assert [(chunk.text, chunk.record) for chunk in found] == [
        ("[2025-01-02] ana@example.org: It is 40.", "m1"),
        ("[2021-05-08 18:53] bo: Seen.", "2"),
        ("[2021-05-08 18:54] ana: Thanks.", "3"),
    ]
    assert found[0].title == "Budget (ana@example.org, 2025-01-02)"


def test_jsonl_records_without_text_or_message_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"a": 1}\n{"b": 2}\n')
    with pytest.raises(UnreadableFile, match="line 1 has no text"):
        read_document(tmp_path / "a.jsonl")


def test_messages_in_jsonl_keep_their_speaker_and_date() -> None:
    lines = [
        {"date": "2025-09-03", "time": "10:30", "speaker": "Mira", "text": "The release moves to Monday."},
        {"role": "user", "content": "Why?"},
    ]
    chunks = read_text("\n".join(map(json.dumps, lines)), "c.jsonl")
    assert [(chunk.text, chunk.title, chunk.kind) for chunk in chunks] == [
        ("[2025-09-03 10:30] Mira: The release moves to Monday.", "Mira, 2025-09-03 10:30", "chat"),
        ("user: Why?", "user", "chat"),
    ]
    (document,) = read_text(json.dumps({"author": "Lind", "title": "Bees", "text": "It has an author."}), "d.jsonl")
    assert (document.text, document.kind) == ("It has an author.", "record")
