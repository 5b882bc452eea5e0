from __future__ import annotations

import json

ADDRESS = "/model/v1/chat/completions"
ASKED = {"model": "sandbox-small", "messages": [{"role": "user", "content": "What do they post about?"}]}
SCHEMA = {
    "type": "object",
    "properties": {
        "themes": {"type": "array", "items": {"type": "string"}},
        "score": {"type": "integer", "minimum": 1, "maximum": 5},
        "tone": {"enum": ["warm", "cold"]},
    },
}


def said(client, **more):
    return client.post(ADDRESS, json=ASKED | more).json()["choices"][0]["message"]["content"]


def test_the_same_question_has_the_same_answer(client):
    other = [{"role": "user", "content": "And what not?"}]

    assert said(client) == said(client) != said(client, messages=other)


def test_an_answer_is_json_where_json_is_asked_for(client):

    plain = json.loads(said(client, response_format={"type": "json_object"}))
    shaped = json.loads(
        said(client, response_format={"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}})
    )

    assert set(plain) == {"summary", "themes", "tone", "confidence"}
    assert 1 <= shaped["score"] <= 5
    assert shaped["tone"] in {"warm", "cold"}
    assert all(isinstance(theme, str) for theme in shaped["themes"])


def test_every_call_is_counted(sandbox, client):
    usage = client.post(ADDRESS, json=ASKED).json()["usage"]

    (call,) = sandbox.books.model_calls()

    assert (call.model, call.messages) == (ASKED["model"], ASKED["messages"])
    assert usage["total_tokens"] == call.prompt_tokens + call.completion_tokens > 0


def test_an_answer_can_be_scripted_even_a_useless_one(sandbox, client):
    sandbox.model.script(answer="{not json", containing="post about", finish_reason="length")

    choice = client.post(ADDRESS, json=ASKED).json()["choices"][0]

    assert (choice["message"]["content"], choice["finish_reason"]) == ("{not json", "length")
    assert said(client) != "{not json"


def test_a_key_is_needed(sandbox, client):
    sandbox.model.script(revoke="mine")

    assert client.post(ADDRESS, json=ASKED).json()["error"]["code"] == "invalid_api_key"
    assert sandbox.books.model_calls() == []


def test_a_call_without_messages_is_refused(client):
    assert client.post(ADDRESS, json={"model": "sandbox-small"}).status_code == 400
