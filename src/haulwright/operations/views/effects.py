"""The JSON of an effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from typing_extensions import TypedDict

from haulwright.operations.times import iso
from haulwright.operations.views.columns import Column
from haulwright.operations.views.json_text import json_value

if TYPE_CHECKING:
    from haulwright.operations.effects import ResolvedEffect
    from haulwright.stores.effects import EffectRow, OpenEffect
    from haulwright.stores.paging import Page


class EffectView(TypedDict):
    """An effect. The result is null where it is stored as a blob or was too large to keep."""

    key: str
    name: str
    kind: str
    state: str
    fence: int
    tries: int
    started_at: str | None
    settled_at: str | None
    stored: str
    result: Any


class EffectPageView(TypedDict):
    """A page of effects, and where the next one starts."""

    effects: list[EffectView]
    next: str | None


class UnresolvedEffectView(TypedDict):
    """An effect of which nobody knows whether it happened."""

    tenant: str
    key: str
    name: str
    job_id: str
    state: str
    tries: int
    started_at: str | None


class UnresolvedEffectPageView(TypedDict):
    """A page of such effects, and where the next one starts."""

    effects: list[UnresolvedEffectView]
    next: str | None


class ResolvedEffectView(TypedDict):
    """What a person said became of an unknown effect."""

    key: str
    tenant: str
    resolution: str


def effect_view(effect: EffectRow) -> EffectView:
    """An effect."""
    return {
        "key": effect.key,
        "name": effect.name,
        "kind": effect.kind,
        "state": effect.state,
        "fence": effect.fence,
        "tries": effect.tries,
        "started_at": iso(effect.started_at),
        "settled_at": iso(effect.settled_at),
        "stored": effect.stored,
        "result": json_value(effect.result),
    }


def effects_view(page: Page[EffectRow]) -> EffectPageView:
    """A page of effects."""
    return {"effects": [effect_view(effect) for effect in page.rows], "next": page.next}


def unresolved_view(effect: OpenEffect) -> UnresolvedEffectView:
    """An effect of which nobody knows whether it happened."""
    return {
        "tenant": effect.tenant,
        "key": effect.key,
        "name": effect.name,
        "job_id": effect.job_id,
        "state": effect.state,
        "tries": effect.tries,
        "started_at": iso(effect.started_at),
    }


def unresolved_page_view(page: Page[OpenEffect]) -> UnresolvedEffectPageView:
    """A page of such effects."""
    return {"effects": [unresolved_view(effect) for effect in page.rows], "next": page.next}


def resolved_view(effect: ResolvedEffect) -> ResolvedEffectView:
    """What a person said became of an unknown effect."""
    return {"key": effect.key, "tenant": effect.tenant, "resolution": effect.resolution}


UNRESOLVED_COLUMNS: Final[tuple[Column[OpenEffect], ...]] = (
    Column("effect", lambda effect: effect.name),
    Column("state", lambda effect: effect.state),
    Column("tenant", lambda effect: effect.tenant, optional=2),
    Column("job", lambda effect: effect.job_id),
    Column("tries", lambda effect: effect.tries, optional=1),
    Column("begun", lambda effect: effect.started_at, moment=True),
    Column("key", lambda effect: effect.key),
)
EFFECT_COLUMNS: Final[tuple[Column[EffectRow], ...]] = (
    Column("effect", lambda effect: effect.name),
    Column("kind", lambda effect: effect.kind),
    Column("state", lambda effect: effect.state),
    Column("tries", lambda effect: effect.tries),
    Column("begun", lambda effect: effect.started_at, moment=True),
    Column("settled", lambda effect: effect.settled_at, moment=True),
    Column("key", lambda effect: effect.key),
)
