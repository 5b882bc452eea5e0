"""Queries: what a source is asked about an intake, and under which key its answer is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from haulwright.apps.prices.intakes import FIELDS, LONGEST_TITLE_CHARS, MOST_ATTRIBUTES, Intake
from haulwright.engine.keys import digest
from haulwright.engine.payload import canonical
from haulwright.errors import InvalidValue

CACHE_VERSION: Final = 1
"""Part of every key. It grows when the list below changes."""
MOST_PARAMS: Final = len(FIELDS) + MOST_ATTRIBUTES
LONGEST_NAME_CHARS: Final = 40


def checked_query(query_params: Mapping[str, str]) -> dict[str, str]:
    """What one query says otherwise; refused where it is more than could stand in an address."""
    if len(query_params) > MOST_PARAMS:
        raise InvalidValue("query", sorted(query_params)[:5], f"has more than {MOST_PARAMS} values")
    for name, value in query_params.items():
        if not name.isidentifier() or len(name) > LONGEST_NAME_CHARS:
            raise InvalidValue("query", name[:60], "is no name of a value", hint="Name a place of the address: title.")
        if len(value) > LONGEST_TITLE_CHARS or not value.isprintable():
            why = f"is not a text of at most {LONGEST_TITLE_CHARS} printable characters"
            raise InvalidValue(f"query {name}", value[:60], why)
    return dict(query_params)


def values(intake: Intake, query_params: Mapping[str, str]) -> dict[str, str]:
    """What stands in the places of an address: what describes the intake, with what one query says otherwise."""
    described = {**intake.described, "title": intake.title or "", "words": intake.words}
    return {**described, **query_params}


def cache_key(intake: Intake, source_id: str, query_params: Mapping[str, str], parser_version: int) -> str:
    """The key of an answer: the document's six fields, whose it is, all else that was asked, and the parser."""
    fields = [getattr(intake, name) for name in FIELDS]
    parts = [CACHE_VERSION, intake.tenant, source_id, *fields, intake.attributes, dict(query_params)]
    return digest(canonical([*parts, parser_version]))
