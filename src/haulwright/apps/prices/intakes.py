"""Intakes: what is to be valued, described by whatever tells it from others."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from haulwright.clock import Instant
from haulwright.engine.ids import new_id
from haulwright.engine.names import check_name
from haulwright.engine.payload import canonical
from haulwright.errors import Conflict, InvalidValue, NotFound
from haulwright.events import Event
from haulwright.sources.tools.money import DECIMALS

if TYPE_CHECKING:
    from haulwright.application import Tables, Writing
    from haulwright.stores.connection import Row

INTAKE_ADDED: Final = "intake.added"
FIELDS: Final = ("year", "mintmark", "denomination", "series", "title")
"""What the document describes an intake by."""
MOST_ATTRIBUTES: Final = 20
LONGEST_VALUE_CHARS: Final = 200
LONGEST_TITLE_CHARS: Final = 500
PAGE: Final = 500
MOST_PAGES: Final = 2_000

_ATTRIBUTE: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")


@dataclass(frozen=True, slots=True)
class NewIntake:
    """Something that somebody wants to have valued."""

    intake_id: str | None = None
    """None takes a new one."""
    year: str | None = None
    mintmark: str | None = None
    denomination: str | None = None
    series: str | None = None
    title: str | None = None
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Whatever else tells it from others, by name."""
    currency: str | None = None
    """Of the valuation; None takes the one that most prices are in."""


@dataclass(frozen=True, slots=True)
class Intake:
    """An intake as it stands."""

    tenant: str
    intake_id: str
    year: str | None
    mintmark: str | None
    denomination: str | None
    series: str | None
    title: str | None
    attributes: dict[str, str]
    currency: str | None
    created_at: Instant

    @property
    def described(self) -> dict[str, str]:
        """What it is told from others by, the title excepted."""
        fields = {name: getattr(self, name) for name in FIELDS if name != "title"}
        return {name: value for name, value in {**fields, **self.attributes}.items() if value}

    @property
    def words(self) -> str:
        """What one would type to look for it: its title, else what describes it."""
        return self.title or " ".join(self.described.values())

    @property
    def heading(self) -> str:
        """What it is called over a page: its title, with what the title does not say of it."""
        known = set((self.title or "").lower().split())
        others = [value for value in self.described.values() if not set(value.lower().split()) <= known]
        return ", ".join([self.title, *others] if self.title else others)


class Intakes:
    """The intakes of all tenants. Every read of one names its tenant."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def add(self, tenant: str, new: NewIntake, *, actor: str = "app") -> Intake:
        """Have something valued from now on. What cannot be looked for is refused before anything is written."""
        row = _checked(check_name("tenant", tenant), new)

        def work(writing: Writing) -> None:
            if not writing.run("intakes.add", **row):
                hint = f"See it with: haulwright price show {row['intake_id']} --tenant {tenant}"
                raise Conflict(f"The intake {row['intake_id']} exists already.", hint=hint)
            writing.record(Event(INTAKE_ADDED, tenant, actor=actor, data={"intake_id": row["intake_id"]}))

        self._tables.transact(work)
        return self.get(tenant, row["intake_id"])

    def get(self, tenant: str, intake_id: str) -> Intake:
        """One intake. That of another tenant looks exactly like an absent one."""
        intake = self.find(tenant, intake_id)
        if intake is None:
            raise NotFound("intake", intake_id, hint="See those that there are with: haulwright price list")
        return intake

    def find(self, tenant: str, intake_id: str) -> Intake | None:
        """One intake, or None."""
        rows = self._tables.read("intakes.get", tenant=tenant, intake_id=intake_id)
        return intake_of(rows[0]) if rows else None

    def all(self, tenant: str | None = None) -> Iterator[Intake]:
        """The intakes of a tenant, or of all, page by page."""
        after = ("", "")
        for _ in range(MOST_PAGES):
            rows = self._tables.read(
                "intakes.list", tenant=tenant, after_tenant=after[0], after_intake=after[1], limit=PAGE
            )
            yield from map(intake_of, rows)
            if len(rows) < PAGE:
                return
            after = (rows[-1][0], rows[-1][1])


def intake_of(row: Row) -> Intake:
    """An intake from its row."""
    tenant, intake_id, year, mintmark, denomination, series, title, attributes, currency, created_at = row
    others = json.loads(attributes)
    return Intake(tenant, intake_id, year, mintmark, denomination, series, title, others, currency, created_at)


def _checked(tenant: str, new: NewIntake) -> dict[str, Any]:
    """The row of a new intake; refused where nothing describes it, or something is no description."""
    fields = {name: _value(name, getattr(new, name)) for name in FIELDS}
    if len(new.attributes) > MOST_ATTRIBUTES:
        raise InvalidValue("attributes", sorted(new.attributes), f"are more than {MOST_ATTRIBUTES}")
    others = {_name(name): _value(name, value) for name, value in sorted(new.attributes.items())}
    others = {name: value for name, value in others.items() if value}
    if not any(fields.values()) and not others:
        hint = "Give it a title, or a year and a denomination."
        raise InvalidValue("intake", new.intake_id, "is described by nothing", hint=hint)
    if new.currency is not None and new.currency not in DECIMALS:
        raise InvalidValue("currency", new.currency, "is not known", hint="Write its ISO code, such as EUR.")
    return {
        "tenant": tenant,
        "intake_id": check_name("intake", new.intake_id or new_id()),
        **fields,
        "attributes": canonical(others),
        "currency": new.currency,
    }


def _name(name: str) -> str:
    """The name of an attribute that is none of the document's own."""
    if not _ATTRIBUTE.fullmatch(name) or name in FIELDS:
        hint = "Lower-case letters, digits and underscores; those of the document have an option of their own."
        raise InvalidValue("attribute", name, "is no name for one", hint=hint)
    return name


def _value(name: str, value: str | None) -> str | None:
    """A description in one line, None where there is none."""
    text = " ".join((value or "").split())
    longest = LONGEST_TITLE_CHARS if name == "title" else LONGEST_VALUE_CHARS
    if len(text) > longest or not text.isprintable():
        raise InvalidValue(name, text[:60], f"is not a text of at most {longest} printable characters")
    return text or None
