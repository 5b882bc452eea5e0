"""Nouns that look at a database as it stands: they make none and migrate none, whoever asks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from haulwright.client.store_view import viewed_store
from haulwright.errors import NotFound
from haulwright.operations.access import VERBS, Noun, require
from haulwright.stores import migrations
from haulwright.stores.connect import require_current

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.stores.store import Store


class Onlooker(Noun):
    """What one principal may see of a database that may be missing, or behind."""

    def _require(self, verb: str) -> None:
        """Refuse a verb by role; the refusal is written down where there is a database that can hold it."""
        if self._principal.kind in VERBS[verb]:
            return
        view = viewed_store(self._app)
        if view is not None:
            require(view, self._principal, verb)
            return
        with self._app.existing_store() as store:
            can_hold = store is not None and migrations.status(store.database).current
            require(store if can_hold else None, self._principal, verb)


@contextmanager
def current_store(app: Haulwright, tables: Sequence[str] = ()) -> Iterator[Store]:
    """The store of a database that is there with the schema of this code; refused where it is missing or behind.

    So are the `tables` of applications, named by their packages. In a request it is the request's own view of it.
    """
    view = viewed_store(app)
    if view is not None:
        yield view
        return
    with app.existing_store() as store:
        state = None if store is None else migrations.status(store.database)
        if store is None or state is None or not state.applied:
            hint = "Name it with --database, or make it: haulwright db migrate"
            raise NotFound("Haulwright database at", app.database_url, hint=hint)
        require_current(store.database, (migrations.ENGINE, *tables))
        yield store
