"""Through which view of the memory a request goes: behind the second wall where it is for one tenant.

SQLite has one wall, the predicates of operations; a file has no users who could be kept from a row.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

from haulwright.operations.principal import Role
from haulwright.stores import migrations
from haulwright.stores.store import Store

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.operations.principal import Principal
    from haulwright.stores.postgres.wall import Wall

STATEMENT_SECONDS: Final = 10.0
"""How long one statement of a request may take on PostgreSQL."""
LOOK_SECONDS: Final = 60.0
"""How long it is taken for true how the wall stood at the last look."""
STORES_KEPT: Final = 500
WALLED: Final = frozenset[Role]({"tenant", "support"})
"""Who is kept to one tenant. An admin names one to see less, and may still write what belongs to all of them."""


class RequestStores:
    """The views of one store, one for each tenant whose requests came lately."""

    def __init__(self, store: Store) -> None:
        self._database = store.database
        self._views: OrderedDict[str | None, Store] = OrderedDict()
        self._lock = threading.Lock()
        self._wall: Wall | None = None
        self._packages: tuple[str, ...] = ()
        self._looked_at = float("-inf")

    def view_for(self, principal: Principal, packages: tuple[str, ...]) -> Store:
        """The view for a principal; the wall must stand around the tables of all these packages."""
        with self._lock:
            wall = self._present_wall(packages)
            tenant = principal.tenant if principal.kind in WALLED and wall is not None else None
            view = self._views.get(tenant)
            if view is None:
                view = self._views[tenant] = self._new_view(wall, tenant)
                if len(self._views) > STORES_KEPT:
                    self._views.popitem(last=False)
            self._views.move_to_end(tenant)
            return view

    def _present_wall(self, packages: tuple[str, ...]) -> Wall | None:
        if packages != self._packages or time.monotonic() - self._looked_at > LOOK_SECONDS:
            from haulwright.stores.postgres.wall import look_at_wall  # noqa: PLC0415 - the driver is optional

            wall = look_at_wall(self._database, packages)
            present = wall if wall.is_up else None
            if present != self._wall:
                self._views.clear()
            self._wall, self._packages, self._looked_at = present, packages, time.monotonic()
        return self._wall

    def _new_view(self, wall: Wall | None, tenant: str | None) -> Store:
        from haulwright.stores.postgres.connection import PostgresDatabase  # noqa: PLC0415 - the driver is optional
        from haulwright.stores.postgres.request_scope import ScopedDatabase  # noqa: PLC0415 - as above

        assert isinstance(self._database, PostgresDatabase)  # noqa: S101 - `store_for` asks for the dialect
        return Store(ScopedDatabase(self._database, seconds=STATEMENT_SECONDS, wall=wall, tenant=tenant))


_of_store: WeakKeyDictionary[Store, RequestStores] = WeakKeyDictionary()


def store_for(app: Haulwright, principal: Principal) -> Store:
    """The view of the memory through which a principal's request goes."""
    store = app.own_store
    if store.database.dialect != "postgres":
        return store
    views = _of_store.get(store)
    if views is None:
        views = _of_store.setdefault(store, RequestStores(store))
    return views.view_for(principal, (migrations.ENGINE, *app.tables))
