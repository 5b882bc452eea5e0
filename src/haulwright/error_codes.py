"""The codes of errors: what programs compare, counters count and filters find."""

from __future__ import annotations

import re

_WORD_STARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def code_of_class(kind: type) -> str:
    """The name of a class in words with underscores: HTTPStatusError is http_status_error."""
    return _WORD_STARTS.sub("_", kind.__name__).lower().lstrip("_")
