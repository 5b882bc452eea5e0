"""Another view of an app's memory for a while: one request's transaction, or what one tenant may see of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.stores.store import Store

_view: ContextVar[tuple[Haulwright, Store] | None] = ContextVar("view", default=None)


@contextmanager
def seen_through(app: Haulwright, store: Store) -> Iterator[None]:
    """Have all that this thread does on an app, its applications included, go through this store."""
    token = _view.set((app, store))
    try:
        yield
    finally:
        _view.reset(token)


def viewed_store(app: Haulwright) -> Store | None:
    """The store through which this thread sees an app just now; None where it is the app's own."""
    view = _view.get()
    return view[1] if view is not None and view[0] is app else None
