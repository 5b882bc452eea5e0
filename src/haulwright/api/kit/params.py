"""The parameters that routes share, each with its limits and its words for the API's own document."""

from __future__ import annotations

import re
from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field, model_validator

from haulwright.operations.filters import LONGEST_FILTER_CHARS
from haulwright.stores.paging import PAGE_LIMIT

LONGEST_CURSOR_CHARS = 2000
LONGEST_NAME_CHARS = 255
LONGEST_REASON_CHARS = 500
NUL = "has a NUL character, which no row can hold"
VISIBLE = r"^[^\x00-\x1f\x7f]*$"
"""Texts without control characters, for path and query: no name has one, and PostgreSQL takes no zero at all."""
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

Limit = Annotated[int, Query(ge=1, le=PAGE_LIMIT, description="At most so many rows.")]
Cursor = Annotated[
    str | None, Query(max_length=LONGEST_CURSOR_CHARS, description="The `next` of the page before this one.")
]
Filter = Annotated[
    str,
    Query(
        max_length=LONGEST_FILTER_CHARS,
        description="The filter language, as in `--where`: state:dead task:price age:>2h",
        examples=["state:dead"],
    ),
]
JobId = Annotated[str, Path(max_length=LONGEST_NAME_CHARS, description="The id of a job.")]
TokenPrefix = Annotated[str, Path(max_length=LONGEST_NAME_CHARS, description="The beginning of a token.")]
Name = Annotated[str, Path(max_length=LONGEST_NAME_CHARS, description="Its name.")]
Key = Annotated[
    str,
    Path(
        min_length=1,
        max_length=LONGEST_NAME_CHARS,
        pattern=VISIBLE,
        description="Its name or its id, as a list has it.",
    ),
]


class RequestBody(BaseModel):
    """The body of a request. A word that is not known is refused: it was meant as something."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _require_storable(cls, body: Any) -> Any:
        """Refuse text that no database takes, wherever in the body it is."""
        require_storable(body)
        return body


class ReasonOnlyBody(RequestBody):
    """Why something is done; it is recorded. Where it is empty, the header Haulwright-Reason says it."""

    reason: Annotated[str, Field(max_length=LONGEST_REASON_CHARS, description="It is recorded and shown.")] = ""


def require_storable(value: Any) -> None:
    """Refuse zero characters and halves of characters, which JSON can spell and nobody can store."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, str):
            if not part.isprintable() and _UNSTORABLE.search(part):
                raise ValueError("there is a text with a NUL character, or with half of a character")
        elif isinstance(part, dict):
            waiting += part.keys()
            waiting += part.values()
        elif isinstance(part, list):
            waiting += part
