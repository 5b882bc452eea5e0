"""A compiler that asks a model over the chat completions API that many speak. It pays once, and within its caps."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from haulwright import AuthFailed, Permanent, Retryable
from haulwright.apps.brands.json_schema import check, listed
from haulwright.apps.brands.model.chat_dialect import ChatDialect, without_fence
from haulwright.apps.brands.model.prompts import (
    STATEMENT_BYTES,
    SUBJECT_BYTES,
    Question,
    answer_schema,
    question,
    questions_of,
)
from haulwright.apps.brands.snapshot.draft import CompileOrder, SnapshotDraft, Statement, Usage
from haulwright.engine.payload import clip
from haulwright.errors import InvalidPayload, InvalidValue
from haulwright.sources.http import Http, Limits, Reply, Secret

BASE_URL: Final = "https://api.openai.com/v1"
ANSWER_SECONDS: Final = 180.0
"""How long a model may take."""
MILLION: Final = 1_000_000

_COUNT: Final = {"type": "integer", "minimum": 0}
_REPLY: Final[dict[str, Any]] = {
    "type": "object",
    "required": ["choices"],
    "properties": {
        "model": {"type": "string"},
        "usage": {"type": ["object", "null"], "properties": {"prompt_tokens": _COUNT, "completion_tokens": _COUNT}},
        "choices": listed(
            {
                "type": "object",
                "required": ["message"],
                "properties": {"message": {"type": "object"}, "finish_reason": {"type": ["string", "null"]}},
            }
        )
        | {"minItems": 1},
    },
}


@dataclass(frozen=True, slots=True)
class ModelCaps:
    """What one draft may cost."""

    prompt_tokens: int = 24_000
    completion_tokens: int = 4_000
    usd: float = 1.0
    """Held against the price at its worst, before anything is sent; without a price only the tokens are capped."""


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """What a model costs, for a million tokens."""

    prompt_usd: float
    completion_usd: float

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """The price of one answer."""
        return (prompt_tokens * self.prompt_usd + completion_tokens * self.completion_usd) / MILLION


class OpenAICompiler:
    """Drafts by a model. It pays for one answer: only a form that the model refuses is followed by a simpler one."""

    name = "openai"
    longest_seconds = ANSWER_SECONDS

    def __init__(  # noqa: PLR0913 - an account, and what may be spent on it, each with a name
        self,
        http: Http,
        key: str | Secret,
        base_url: str = BASE_URL,
        *,
        caps: ModelCaps | None = None,
        price: ModelPrice | None = None,
        credential: str = "openai",
        shared: bool = False,
    ) -> None:
        self._http = http
        self._key = key if isinstance(key, Secret) else Secret(key)
        self._base_url = base_url.rstrip("/")
        self._caps = caps or ModelCaps()
        self._price = price
        self._credential = credential
        self._shared = shared
        self._dialects: dict[str, ChatDialect] = {}
        """How each model is spoken to, once that is known."""

    async def acompile(self, order: CompileOrder) -> SnapshotDraft:
        """A draft by the model of the order; refused before anything is paid where it could pass a cap."""
        if order.model is None:
            raise InvalidValue("model", order.model, "names no model to ask")
        prompt = question(order, most_tokens=self._caps.prompt_tokens)
        self._require_affordable(prompt)
        return self._draft(order, prompt, await self._ask(order, prompt))

    def _require_affordable(self, prompt: Question) -> None:
        worst = self._price.of(prompt.tokens, self._caps.completion_tokens) if self._price else 0.0
        if worst > self._caps.usd:
            message = f"The draft could cost {worst:.4f} USD, and {self._caps.usd:.4f} is the most that it may."
            raise Permanent(message, hint="Raise the cap, or lower the tokens that a draft may take.")

    async def _ask(self, order: CompileOrder, prompt: Question) -> dict[str, Any]:
        """The model's reply, checked as far as its envelope goes."""
        schema = answer_schema(prompt.labels, questions_of(order))
        dialect = self._dialects.get(order.model or "", ChatDialect())
        while True:
            body = dialect.body(order.model or "", prompt.messages, schema, self._caps.completion_tokens)
            reply = await self._send(body)
            simpler = dialect.after(reply)
            if simpler is None:
                break
            dialect = simpler  # what was refused cost nothing
        self._require_success(reply)
        self._dialects[order.model or ""] = dialect
        envelope = reply.json()
        _require_fit(envelope, _REPLY, "reply")
        return dict(envelope)

    async def _send(self, body: dict[str, Any]) -> Reply:
        url, headers = f"{self._base_url}/chat/completions", {"Authorization": f"Bearer {self._key.reveal()}"}
        limits = Limits(read=self.longest_seconds, total=self.longest_seconds)
        return await self._http.apost(url, json=body, headers=headers, limits=limits)

    def _require_success(self, reply: Reply) -> None:
        if not reply.ok and "insufficient_quota" in reply.text:
            raise Permanent("The account of the model has no credit left.", hint="Pay, then requeue the compile.")
        try:
            reply.raise_for_status()
        except AuthFailed as error:
            error.credential, error.shared = self._credential, self._shared
            raise

    def _draft(self, order: CompileOrder, prompt: Question, envelope: dict[str, Any]) -> SnapshotDraft:
        drafts = [_statement(each, order, prompt) for each in _statements(envelope)]
        founded = tuple(each for each in drafts if each.text.strip() and (each.evidence or each.answers))
        if not founded:
            raise Retryable("The model made no statement that rests on anything.")
        usage = envelope.get("usage") or {}
        tokens = (usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0))
        return SnapshotDraft(
            compiler=self.name,
            statements=founded,
            model=envelope.get("model") or order.model,
            prompt_version=order.prompt_version,
            usage=Usage(*tokens, round(self._price.of(*tokens), 6) if self._price else None),
            left_out=prompt.left_out,
            unfounded=len(drafts) - len(founded),
        )


def _statements(envelope: dict[str, Any]) -> list[dict[str, Any]]:
    """What the model stated, in the form that was asked for."""
    choice = envelope["choices"][0]
    ended, content = choice.get("finish_reason"), choice["message"].get("content")
    if ended == "length":
        raise Permanent("The model's answer was cut off.", hint="Allow it more completion tokens.")
    if ended == "content_filter" or choice["message"].get("refusal"):
        raise Permanent("The model refused to answer.", hint="Ask another model, or none.")
    try:
        answer = json.loads(without_fence(content))
    except (TypeError, ValueError, RecursionError, AttributeError):
        raise Retryable("The model's answer is no JSON.") from None
    _require_fit(answer, answer_schema(), "answer")
    return list(answer["statements"])


def _statement(answer: dict[str, Any], order: CompileOrder, prompt: Question) -> Statement:
    """One statement with those of its citations that exist, each once."""
    return Statement(
        section=answer["section"],
        subject=clip(answer["subject"], SUBJECT_BYTES),
        text=clip(answer["text"], STATEMENT_BYTES),
        evidence=tuple(dict.fromkeys(prompt.labels[label] for label in answer["evidence"] if label in prompt.labels)),
        answers=tuple(dict.fromkeys(name for name in answer["answers"] if name in order.answers)),
    )


def _require_fit(value: Any, schema: dict[str, Any], what: str) -> None:
    try:
        check(value, schema, root=what)
    except InvalidPayload as error:
        raise Retryable(f"The model's {what} is not in the form that was asked for: {error.message}") from None
