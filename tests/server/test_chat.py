"""The chat completions endpoint, used through the official ``openai`` client."""

import openai
import pytest

QUESTION = "Who decoded the waggle dance?"


@pytest.fixture
def client(service) -> openai.OpenAI:
    return openai.OpenAI(base_url=f"{service.url}/v1", api_key="none", max_retries=0, timeout=120)


def messages(text: str = QUESTION) -> list:
    return [{"role": "system", "content": "Be brief."}, {"role": "user", "content": text}]


def test_citations_are_annotations(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="suffice", messages=messages(), temperature=0.2)
    message = answer.choices[0].message
    assert "Karl von Frisch" in message.content
    assert message.annotations
    cited = message.annotations[0].url_citation
    assert message.content[cited.start_index : cited.end_index] == "[1]"
    assert "bees.txt" in cited.url
    assert answer.choices[0].finish_reason == "stop"


def test_streamed_answer_is_the_same(client: openai.OpenAI) -> None:
    complete = client.chat.completions.create(model="suffice", messages=messages()).choices[0].message.content
    chunks = list(
        client.chat.completions.create(
            model="suffice", messages=messages(), stream=True, stream_options={"include_usage": True}
        )
    )
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert "".join(delta.content or "" for delta in deltas) == complete
    thoughts = "".join(getattr(delta, "reasoning_content", None) or "" for delta in deltas)
    assert "Round 1" in thoughts
    assert "Stopped after" in thoughts
    assert deltas[-1].annotations
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].usage is not None


def test_message_parts_and_strategy_in_the_model_name(client: openai.OpenAI) -> None:
    parts = [{"role": "user", "content": [{"type": "text", "text": QUESTION}]}]
    answer = client.chat.completions.create(model="suffice:saturate", messages=parts)
    assert "Karl von Frisch" in answer.choices[0].message.content


def test_question_without_evidence(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="suffice", messages=messages("Zzyzx quux frobnicate?"))
    assert "No evidence" in answer.choices[0].message.content


def test_models_are_listed(client: openai.OpenAI) -> None:
    assert {"suffice", "suffice:predicates"} <= {model.id for model in client.models.list()}


@pytest.mark.parametrize(
    ("request_body", "named"),
    [
        ({"model": "gpt-5", "messages": messages()}, "gpt-5"),
        ({"model": "suffice:telepathy", "messages": messages()}, "telepathy"),
        ({"model": "suffice", "messages": [{"role": "system", "content": "hm"}]}, "no user message"),
        (
            {"model": "suffice", "messages": messages(), "tools": [{"type": "function", "function": {"name": "f"}}]},
            "tools",
        ),
        ({"model": "suffice", "messages": messages(), "n": 2}, "n:"),
        ({"model": "suffice:no such", "messages": messages()}, "strategy"),
        ({"model": "suffice", "messages": messages("x" * 30_000)}, "question"),
    ],
)
def test_unsupported_requests_are_refused(client: openai.OpenAI, request_body: dict, named: str) -> None:
    with pytest.raises(openai.UnprocessableEntityError, match=named):
        client.chat.completions.create(**request_body)
