"""How a model is spoken to: models of one API differ in what they take, and refuse with 400 what they do not. Pure.

Nothing is sent that current models refuse: no temperature. The form of the answer is asked for as a schema; where that
is not taken as JSON, and where that is not either in words alone. The answer is held against the schema in any case.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, Self

from haulwright.sources.http import Reply

ResponseForm = Literal["json_schema", "json_object", "text"]
SIMPLER: Final[Mapping[ResponseForm, ResponseForm]] = {"json_schema": "json_object", "json_object": "text"}
IN_WORDS: Final = "Answer with one JSON object and nothing else. It must fit this JSON Schema: "
_REFUSALS: Final = frozenset({400, 422})
_FENCE: Final = "```"


@dataclass(frozen=True, slots=True)
class ChatDialect:
    """What a model takes, as far as is known."""

    form: ResponseForm = "json_schema"
    limit_name: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"

    def body(
        self, model: str, messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any], most_tokens: int
    ) -> dict[str, Any]:
        """A request for an answer in the form of a schema."""
        body = {"model": model, "messages": list(messages), self.limit_name: most_tokens}
        if self.form == "json_schema":
            wanted = {"name": "brand", "strict": True, "schema": schema}
            return body | {"response_format": {"type": "json_schema", "json_schema": wanted}}
        body["messages"] = [*messages, {"role": "system", "content": IN_WORDS + json.dumps(schema)}]
        return body if self.form == "text" else body | {"response_format": {"type": "json_object"}}

    def after(self, reply: Reply) -> Self | None:
        """What to try where a reply refuses something of this; None where it does not, or there is nothing simpler."""
        if reply.status not in _REFUSALS:
            return None
        text = reply.text
        if self.limit_name in text and self.limit_name != "max_tokens":
            return replace(self, limit_name="max_tokens")
        if ("response_format" in text or "json_schema" in text or "json_object" in text) and self.form in SIMPLER:
            return replace(self, form=SIMPLER[self.form])
        return None


def without_fence(text: str) -> str:
    """An answer without the fence that some models put around JSON."""
    lines = text.strip().splitlines()
    if len(lines) > 1 and lines[0].startswith(_FENCE) and lines[-1].startswith(_FENCE):
        return "\n".join(lines[1:-1])
    return text
