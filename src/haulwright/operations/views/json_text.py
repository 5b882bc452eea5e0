"""JSON that stands in rows as text, as views show it."""

from __future__ import annotations

import json
from typing import Any


def json_value(text: str | None) -> Any:
    """The value of a text; what is no JSON, in a row that somebody else wrote, is shown as the text that it is."""
    if text is None:
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
