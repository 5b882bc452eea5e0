"""Effects: done once, and remembered. What was done before is returned without being done again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from typing import Any, Final

from haulwright.apps.documents.compat.session import PACKAGE, entry, require_lease, rows, tenants, transaction
from haulwright.engine.job import Lease
from haulwright.engine.payload import EFFECT_LIMIT_BYTES, check
from haulwright.errors import EffectUnknown
from haulwright.stores.books import book
from haulwright.stores.store import Store

_NOT_NOW: Final = frozenset({408, 425, 429, *range(500, 600)})
"""Statuses that another try may change: they are no outcome, and nobody remembers them."""


def run_effect(conn: sqlite3.Connection, job_id: str, kind: str, opkey: str, effect_fn: Callable[[], Any]) -> Any:
    """Do something once. Its intent is on disk before it begins; the function runs outside of any transaction.

    A function that raises, or answers that it cannot now, is called again the next time: a mapping whose `status` is
    408, 425, 429 or 500 to 599 is returned and not recorded. So is one that a crash interrupted, under the same key.
    """
    lease = require_lease(conn, job_id, "effect")
    with transaction(conn) as store:
        effect = store.effects.begin(lease, opkey, kind)
    if effect.state == "unknown":
        raise EffectUnknown(f"The effect {kind} was interrupted.", hint=f"haulwright effect resolve {opkey}")
    if effect.state == "done":
        return None if effect.result is None else json.loads(effect.result)
    result = effect_fn()
    text = check(result, root="result", limit_bytes=EFFECT_LIMIT_BYTES)
    if not _is_passing(result):
        with transaction(conn) as store:
            store.effects.settle(lease, opkey, text)
    return json.loads(text)


def get_effect_result(conn: sqlite3.Connection, opkey: str) -> Any:
    """What came of an effect of a job that this connection leased or planned; None where it was not done.

    It is remembered for as long as the document is.
    """
    with transaction(conn) as store:
        effects = [store.effects.find(tenant, opkey) for tenant in tenants(conn)]
        kept = [row for tenant in tenants(conn) for row in rows(conn, entry("operation"), _operation(tenant, opkey))]
    results = [*(effect.result for effect in effects if effect is not None), *(result for (result,) in kept)]
    result = next((result for result in results if result is not None), None)
    return None if result is None else json.loads(result)


def keep_operations(conn: sqlite3.Connection, store: Store, lease: Lease) -> None:
    """Keep what a document's operations came to beside the ledger, which forgets them with their job."""
    ledger_key = {"tenant": lease.tenant, "job_key": lease.job_key}
    (statement,) = book(PACKAGE, "sqlite", "operations")["keep"]
    conn.execute(statement, ledger_key)
    for (key,) in rows(conn, entry("large"), ledger_key):
        effect = store.effects.find(lease.tenant, key)
        if effect is not None:
            conn.execute(entry("keep_large"), {**_operation(lease.tenant, key), "result": effect.result})


def _operation(tenant: str, opkey: str) -> dict[str, str]:
    return {"tenant": tenant, "key": opkey}


def _is_passing(result: object) -> bool:
    """Whether an answer only says that there is none now."""
    return isinstance(result, Mapping) and result.get("status") in _NOT_NOW
