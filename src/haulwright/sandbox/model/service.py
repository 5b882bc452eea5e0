"""The model behind its address."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from haulwright.sandbox.books import Books, ModelCall
from haulwright.sandbox.chance import identifier
from haulwright.sandbox.clock import SandboxClock
from haulwright.sandbox.exchange import BadRequest, SandboxReply, SandboxRequest, json_reply
from haulwright.sandbox.model.answers import answer
from haulwright.sandbox.model.refusals import unsupported
from haulwright.sandbox.routes import NoRoute, Routes
from haulwright.sandbox.scripts import Scripts

MODELS = ("sandbox-small", "sandbox-large")
LETTERS_PER_TOKEN = 4


@dataclass(frozen=True, slots=True)
class ModelScript:
    """What the model says next, instead of what it would say."""

    answer: str
    containing: str = ""
    """Only to messages with these words."""
    times: int | None = 1
    finish_reason: str = "stop"


class Model:
    """A model that never surprises, and counts."""

    def __init__(self, clock: SandboxClock, books: Books) -> None:
        self._clock = clock
        self._books = books
        self.reset()
        self._routes = Routes(
            ("POST", "/v1/chat/completions", self._complete),
            ("GET", "/v1/models", lambda _: json_reply({"object": "list", "data": [_listed(name) for name in MODELS]})),
        )

    def reset(self) -> None:
        """No scripts, every key welcome."""
        self._scripts: Scripts[ModelScript] = Scripts()
        self._revoked: set[str] = set()

    def script(self, *, revoke: str = "", **words: Any) -> None:
        """Decide what the model says next (the words of `ModelScript`), or take a key away."""
        if revoke:
            self._revoked.add(revoke)
        if words:
            self._scripts.add(ModelScript(**words))

    def answer(self, request: SandboxRequest) -> SandboxReply:
        """Carry a request out."""
        key = request.headers.get("authorization", "").removeprefix("Bearer ").strip()
        if not key or key in self._revoked:
            return _refusal(401, "invalid_api_key", "Incorrect API key provided.")
        try:
            return self._routes.answer(request)
        except NoRoute as error:
            return _refusal(405 if error.allowed else 404, "unknown_url", f"Invalid URL ({request.method}): {error}.")
        except BadRequest as error:
            return _refusal(400, "invalid_value", str(error))

    def _complete(self, request: SandboxRequest) -> SandboxReply:
        document = request.json_object()
        messages, model = document.get("messages"), str(document.get("model", ""))
        if not isinstance(messages, list) or not messages or not model:
            raise BadRequest("model and messages are needed")
        if document.get("stream"):
            raise BadRequest("the sandbox does not stream")
        refused = unsupported(model, document)
        if refused is not None:
            return _refusal(400, "unsupported_parameter", refused[1], refused[0])
        words = json.dumps(messages, ensure_ascii=False)
        script = self._scripts.take(lambda waiting: waiting.containing in words)
        text = script.answer if script else answer(messages, document.get("response_format") or {})
        call = ModelCall(self._clock.now(), model, messages, _tokens(words), _tokens(text))
        self._books.call(call)
        return json_reply(_completion(call, text, script.finish_reason if script else "stop"))


def _completion(call: ModelCall, text: str, finish_reason: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{identifier(0, call.model, call.messages, length=24)}",
        "object": "chat.completion",
        "created": int(call.at),
        "model": call.model,
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason},
        ],
        "usage": {
            "prompt_tokens": call.prompt_tokens,
            "completion_tokens": call.completion_tokens,
            "total_tokens": call.prompt_tokens + call.completion_tokens,
        },
    }


def _tokens(text: str) -> int:
    return max(1, len(text) // LETTERS_PER_TOKEN)


def _listed(name: str) -> dict[str, Any]:
    return {"id": name, "object": "model", "created": 0, "owned_by": "sandbox"}


def _refusal(status: int, code: str, message: str, param: str | None = None) -> SandboxReply:
    kind = "invalid_request_error"
    return json_reply({"error": {"message": message, "type": kind, "param": param, "code": code}}, status)
