"""The fixtures of the store's conformance suite, for tests of single statements and small proofs."""

from __future__ import annotations

from tests.stores.conftest import (  # noqa: F401 - fixtures are found by their names
    a_job,
    clock,
    database_url,
    make_job,
    open_store,
    other_worker,
    store,
    worker,
)
