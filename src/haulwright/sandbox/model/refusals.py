"""What models of one API do not take, and refuse before anything is paid."""

from __future__ import annotations

from typing import Any, Final

FORMS: Final[dict[str, frozenset[str]]] = {
    "gpt-4": frozenset({"json_schema", "json_object"}),
    "gpt-4-turbo": frozenset({"json_schema"}),
    "gpt-3.5-turbo": frozenset({"json_schema"}),
}
"""Forms of an answer that older models refuse."""
REASONING: Final = ("gpt-5", "o1", "o3", "o4-mini")
"""Models that take the default temperature alone, and the newer name of the limit."""
MAX_TOKENS: Final = "max_tokens"


def unsupported(model: str, document: dict[str, Any]) -> tuple[str, str] | None:
    """The first parameter of a request that a model refuses, and what it says; None where it takes all."""
    form = (document.get("response_format") or {}).get("type", "text")
    if form in FORMS.get(model, ()):
        message = f"Invalid parameter: 'response_format' of type '{form}' is not supported with this model."
        return "response_format", message
    if model.startswith(REASONING) and document.get("temperature", 1) != 1:
        message = "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is."
        return "temperature", message
    if model.startswith(REASONING) and MAX_TOKENS in document:
        message = "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens'."
        return MAX_TOKENS, message
    if model.startswith("local-") and "max_completion_tokens" in document:
        return "max_completion_tokens", "Unrecognized request argument supplied: max_completion_tokens"
    return None
