"""Forms as browsers send them without scripts: a few words, within limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final
from urllib.parse import parse_qsl

from haulwright.api.kit.params import LONGEST_REASON_CHARS
from haulwright.errors import InvalidValue, Refused

if TYPE_CHECKING:
    from starlette.requests import Request

LARGEST_BYTES: Final = 262_144
MOST_FIELDS: Final = 300
TYPE: Final = "application/x-www-form-urlencoded"


@dataclass(frozen=True, slots=True)
class Form:
    """What somebody filled in."""

    fields: Sequence[tuple[str, str]]

    def text(self, name: str, *, most: int = LONGEST_REASON_CHARS) -> str:
        """The word of a field; empty where it was left so."""
        value = next((value for each, value in self.fields if each == name), "").strip()
        if len(value) > most:
            raise InvalidValue(name, f"{value[:40]}...", f"is longer than {most} characters")
        return value

    def texts(self, name: str) -> list[str]:
        """All words of a field that may be there several times, such as boxes that were ticked."""
        return [value for each, value in self.fields if each == name]

    def has(self, name: str) -> bool:
        """Whether a box was ticked."""
        return any(each == name for each, _ in self.fields)


async def read_form(request: Request) -> Form:
    """The form of a request."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != TYPE:
        raise Refused("A form is expected here.", hint="Use the page; programs use the API, at /api/v1.")
    body = await request.body()
    if len(body) > LARGEST_BYTES:
        raise Refused(f"The form is larger than {LARGEST_BYTES:,} bytes.")
    try:
        fields = parse_qsl(
            body.decode("ascii"), keep_blank_values=True, strict_parsing=bool(body), errors="strict",
            max_num_fields=MOST_FIELDS,
        )  # fmt: skip
    except ValueError as error:
        raise Refused("The form cannot be read.") from error
    if any("\0" in word for pair in fields for word in pair):
        raise Refused("The form has a NUL character in it, which no row can hold.")
    return Form(fields)
