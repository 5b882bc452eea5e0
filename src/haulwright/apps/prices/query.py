"""Queries: what a source is asked about an intake, and under which key its answer is kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from haulwright.apps.prices.intakes import FIELDS, Intake
from haulwright.engine.keys import digest
from haulwright.engine.payload import canonical

CACHE_VERSION: Final = 1
"""Part of every key. It grows when the list below changes."""


def values(intake: Intake, query_params: Mapping[str, str]) -> dict[str, str]:
    """What stands in the places of an address: what describes the intake, with what one query says otherwise."""
    described = {**intake.described, "title": intake.title or "", "words": intake.words}
    return {**described, **query_params}


def cache_key(intake: Intake, source_id: str, query_params: Mapping[str, str], parser_version: int) -> str:
    """The key of an answer: the document's six fields, whose it is, all else that was asked, and the parser."""
    fields = [getattr(intake, name) for name in FIELDS]
    parts = [CACHE_VERSION, intake.tenant, source_id, *fields, intake.attributes, dict(query_params)]
    return digest(canonical([*parts, parser_version]))
