"""Effects as one principal sees them: what runs did, what is in doubt, and what a person found out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from haulwright.engine.job import DEFAULT_TENANT
from haulwright.engine.payload import EFFECT_INLINE_LIMIT_BYTES, check
from haulwright.errors import NotFound, Refused
from haulwright.operations.access import Noun, allowed
from haulwright.operations.jobs import require_id
from haulwright.stores.paging import Page, check_page, cursor_of, page_of, read_cursor

if TYPE_CHECKING:
    from haulwright.stores.effects import EffectRow, OpenEffect

IN_DOUBT_SECONDS = 240.0
"""An intent of this age whose job is gone is in doubt."""


@dataclass(frozen=True, slots=True)
class ResolvedEffect:
    """What a person said became of an unknown effect."""

    key: str
    tenant: str
    resolution: Literal["done", "intent"]
    """`done` where it happened; `intent` where it did not, and may run again."""


class EffectOperations(Noun):
    """Look at the ledger, and say what became of an unknown effect."""

    @allowed("effect.read")
    def of_job(self, job_id: str, *, after: str | None = None, limit: int = 500) -> Page[EffectRow]:
        """The effects of a job in the order of their beginning, with those that it inherited from a dead letter."""
        job = self._store.listing.get(require_id(job_id), self._tenant)
        rows = self._store.effects.of_job(job.tenant, job.job_key, check_page(limit) + 1, after=after)
        return page_of(rows, limit, lambda effect: effect.key)

    @allowed("effect.read")
    def unresolved(
        self, tenant: str | None = None, *, age: float = IN_DOUBT_SECONDS, after: str | None = None, limit: int = 50
    ) -> Page[OpenEffect]:
        """Unknown effects, and intents older than an age in seconds that no job will finish."""
        tenant = self._tenant or tenant
        place = read_cursor(after, str, str) if after is not None else None
        rows = self._store.effects.open(tenant, age, after=place, limit=check_page(limit) + 1)
        return page_of(rows, limit, lambda effect: cursor_of(effect.tenant, effect.key))

    @allowed("effect.resolve")
    def resolve(self, key: str, *, happened: bool, result: Any = None, tenant: str = DEFAULT_TENANT) -> ResolvedEffect:
        """Say what became of an unknown effect: it happened, with this result, or it did not and may run again."""
        if result is not None and not happened:
            raise Refused("What did not happen has no result.", hint="Leave the result out, or say that it happened.")
        tenant = self._tenant or tenant
        text = None if result is None else check(result, root="result", limit_bytes=EFFECT_INLINE_LIMIT_BYTES)
        who = self._principal
        try:
            self._store.effects.resolve(tenant, key, happened=happened, result=text, actor=who.actor, reason=who.reason)
        except NotFound as error:
            error.hint = f"See those of the tenant {tenant} with: haulwright effect unresolved --tenant {tenant}"
            raise
        return ResolvedEffect(key, tenant, "done" if happened else "intent")
