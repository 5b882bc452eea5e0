"""The parameters that routes share, each with its limits and its words for the API's own document."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Path, Query
from pydantic import BaseModel, ConfigDict, Field, field_validator

from haulwright.operations.filters import LONGEST_FILTER_CHARS
from haulwright.stores.paging import PAGE_LIMIT

LONGEST_CURSOR_CHARS = 2000
LONGEST_NAME_CHARS = 255
LONGEST_REASON_CHARS = 500
NUL = "has a NUL character, which no row can hold"

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


class RequestBody(BaseModel):
    """The body of a request. A word that is not known is refused: it was meant as something."""

    model_config = ConfigDict(extra="forbid")

    @field_validator("*")
    @classmethod
    def _without_nul(cls, value: Any) -> Any:
        """Refuse text that PostgreSQL cannot hold. Arguments and results are looked at where they are stored."""
        texts = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else [value]
        if any(isinstance(text, str) and "\0" in text for text in texts):
            raise ValueError(NUL)
        return value


class ReasonOnlyBody(RequestBody):
    """Why something is done; it is recorded. Where it is empty, the header Haulwright-Reason says it."""

    reason: Annotated[str, Field(max_length=LONGEST_REASON_CHARS, description="It is recorded and shown.")] = ""
