"""suffice as a chat model, used by the official ``openai`` client."""

import openai
import pytest

from suffice.server.chat import build_annotations

TASK = "Who decoded the waggle dance?"


@pytest.fixture
def client(service) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{service.url}/v1", api_key="none", max_retries=0, timeout=30)


def said(text: str = TASK) -> list:
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]


def test_an_answer_with_citations_as_annotations(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="suffice", messages=said(), temperature=0.2)
    message = answer.choices[0].message
    assert "Karl von Frisch" in message.content
    assert message.annotations
    cited = message.annotations[0].url_citation
    assert message.content[cited.start_index : cited.end_index] == "[1]"
    assert "bees.txt" in cited.url
    assert answer.choices[0].finish_reason == "stop"


def test_streamed_it_is_the_same_answer(client: openai.OpenAI) -> None:
    whole = client.chat.completions.create(model="suffice", messages=said()).choices[0].message.content
    chunks = list(
        client.chat.completions.create(
            model="suffice", messages=said(), stream=True, stream_options={"include_usage": True}
        )
    )
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == whole
    thoughts = "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas)
    assert "Round 1" in thoughts
    assert "Stopped after" in thoughts
    assert deltas[-1].annotations
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None


def test_text_in_parts_and_a_strategy_in_the_name(client: openai.OpenAI) -> None:
    parts = [{"role": "user", "content": [{"type": "text", "text": TASK}]}]
    answer = client.chat.completions.create(model="suffice:saturate", messages=parts)
    assert "Karl von Frisch" in answer.choices[0].message.content


def test_no_evidence_is_said(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="suffice", messages=said("Zzyzx quux frobnicate?"))
    assert "No evidence" in answer.choices[0].message.content


def test_the_models_are_listed(client: openai.OpenAI) -> None:
    assert {"suffice", "suffice:predicates"} <= {model.id for model in client.models.list()}


@pytest.mark.parametrize(
    ("request_body", "words"),
    [
        ({"model": "gpt-5", "messages": said()}, "no 'gpt-5'"),
        ({"model": "suffice:telepathy", "messages": said()}, "no strategy"),
        ({"model": "suffice", "messages": [{"role": "system", "content": "hm"}]}, "no user message"),
        ({"model": "suffice", "messages": said(), "tools": [{"type": "function", "function": {"name": "f"}}]}, "tools"),
        ({"model": "suffice", "messages": said(), "n": 2}, "n:"),
    ],
)
def test_what_cannot_be_done_is_refused(client: openai.OpenAI, request_body: dict, words: str) -> None:
    with pytest.raises(openai.UnprocessableEntityError, match=words):
        client.chat.completions.create(**request_body)


def test_an_escaped_bracket_is_not_annotated() -> None:
    source = {"id": "[1]", "title": "Bees", "location": "bees.txt:1-2", "url": None}
    found = build_annotations("sys.argv\\[1] holds it [1].", [source])
    assert [(item["url_citation"]["start_index"], item["url_citation"]["end_index"]) for item in found] == [(22, 25)]
