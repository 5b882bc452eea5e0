"""What the tables of brands hold, read for one tenant: what belongs to another one does not exist."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from haulwright.apps.brands.rows import (
    Brand,
    BrandConnection,
    CompileRun,
    CompileSource,
    PaidRun,
    evidence_of,
    parse_id,
)
from haulwright.errors import NotFound
from haulwright.stores.paging import Page, check_page, page_of

if TYPE_CHECKING:
    from haulwright.application import Tables
    from haulwright.apps.brands.evidence.item import EvidenceItem

MOST_BRANDS: Final = 10_000
"""That a list shows."""
MOST_CONNECTIONS: Final = 100
"""Of one brand."""
BEFORE_ALL: Final = "00000000-0000-0000-0000-000000000000"
"""An id that is before all others."""


class BrandRepository:
    """Reads rows, each as a value. It knows nothing of jobs: a compile has the status of its row."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def brand(self, tenant: str, brand_id: str) -> Brand:
        """One brand."""
        rows = self._tables.read("brands.get", tenant=tenant, id=parse_id("brand", brand_id))
        if not rows:
            raise NotFound("brand", brand_id)
        return Brand.of(rows[0])

    def brands(self, tenant: str) -> list[Brand]:
        """The brands of a tenant, the oldest first."""
        rows = self._tables.read("brands.list", tenant=tenant, after=BEFORE_ALL, limit=MOST_BRANDS)
        return [Brand.of(row) for row in rows]

    def page(self, tenant: str, *, after: str | None, limit: int) -> Page[Brand]:
        """Some brands of a tenant, the oldest first."""
        place = BEFORE_ALL if after is None else parse_id("brand", after)
        rows = self._tables.read("brands.list", tenant=tenant, after=place, limit=check_page(limit) + 1)
        return page_of([Brand.of(row) for row in rows], limit, lambda brand: brand.id)

    def connection(self, tenant: str, connection_id: str) -> BrandConnection:
        """One source."""
        rows = self._tables.read("connections.get", tenant=tenant, id=parse_id("connection", connection_id))
        if not rows:
            raise NotFound("connection", connection_id)
        return BrandConnection.of(rows[0])

    def connections(self, tenant: str, brand_id: str) -> list[BrandConnection]:
        """The sources of a brand."""
        brand = self.brand(tenant, brand_id)
        rows = self._tables.read("connections.of_brand", tenant=tenant, brand_id=brand.id, limit=MOST_CONNECTIONS)
        return [BrandConnection.of(row) for row in rows]

    def compile_run(self, tenant: str, compile_run_id: str) -> CompileRun | None:
        """One compile, or None."""
        rows = self._tables.read("compiles.get", tenant=tenant, id=parse_id("compile", compile_run_id))
        return CompileRun.of(rows[0]) if rows else None

    def newest_compile_run(self, tenant: str, brand_id: str) -> CompileRun:
        """The newest compile of a brand."""
        rows = self._tables.read("compiles.newest", tenant=tenant, brand_id=self.brand(tenant, brand_id).id)
        if not rows:
            raise NotFound("compile", f"of brand {brand_id} yet")
        return CompileRun.of(rows[0])

    def compile_sources(self, run: CompileRun) -> list[CompileSource]:
        """The sources of a compile."""
        rows = self._tables.read("sources.of_compile", tenant=run.tenant, compile_run_id=run.id)
        return [CompileSource.of(row) for row in rows]

    def paid_run(self, tenant: str, run_id: str) -> PaidRun:
        """One paid run."""
        rows = self._tables.read("runs.get", tenant=tenant, id=parse_id("run", run_id))
        if not rows:
            raise NotFound("run", run_id)
        return PaidRun.of(rows[0])

    def newest_paid_run(self, connection: BrandConnection) -> PaidRun | None:
        """The newest run of a source, whatever became of it."""
        key = {"tenant": connection.tenant, "connection_id": connection.id}
        rows = self._tables.read("runs.of_connection", **key, limit=1)
        return PaidRun.of(rows[0]) if rows else None

    def evidence(self, tenant: str, brand_id: str, connections: Iterable[str], limit: int) -> list[EvidenceItem]:
        """The newest items of these sources of a brand, at most so many of each."""
        key = {"tenant": tenant, "brand_id": parse_id("brand", brand_id), "limit": limit}
        sources = [{"connection_id": connection_id} for connection_id in connections]
        return [evidence_of(row) for row in self._tables.read_each("evidence.of_connections", sources, **key)]

    def snapshot(self, tenant: str, brand_id: str, number: int | None = None) -> dict[str, Any]:
        """A snapshot of a brand by its number, or the newest; it says its number itself."""
        key = {"tenant": tenant, "brand_id": self.brand(tenant, brand_id).id}
        rows = (
            self._tables.read("snapshots.newest", **key)
            if number is None
            else self._tables.read("snapshots.get", **key, number=number)
        )
        if not rows:
            raise NotFound("snapshot", f"{'yet' if number is None else number} of brand {brand_id}")
        ((number, document),) = rows
        return {"number": number, **json.loads(document)}
