"""Brands in sets: what a run brought is written, and a job that wakes looks about, in a handful of statements."""

from __future__ import annotations

import json

import pytest

from haulwright.apps.brands.evidence.normalization import normalize
from haulwright.apps.brands.platforms.capabilities import BUILT_IN
from haulwright.apps.brands.rows import PaidRun
from haulwright.engine.ids import new_id
from haulwright.sandbox.apify.actors import ACTORS
from haulwright.sandbox.apify.timeline import newest
from tests.apps.brands.scenes import ACME, SIX, TENANT, connect, count

CAPABILITIES = {one.key: one for one in BUILT_IN}
READ_EVIDENCE = "from brands_evidence"
"""On SQLite source by source, where a statement costs no trip."""


@pytest.fixture
def brought(brands, brand):
    """A run of a source that brought so many items, of which each tenth cannot be used."""

    def bring(items, connection, capability):
        texts = [
            json.dumps(ACTORS[capability.actor].render(post)) for post in newest(7, "acme", 1_790_856_000.0, items)
        ]
        texts = ["[]" if place % 10 == 9 else text for place, text in enumerate(texts)]
        rows = [{"item_index": place, "bytes": len(text), "body": text} for place, text in enumerate(texts)]
        run = {"tenant": TENANT, "id": new_id()}
        order = {"brand_id": brand.id, "connection_id": connection.id, "job_id": new_id(), "actor": capability.actor}

        def store(writing):
            writing.run("runs.order", **run, **order, input="{}", input_hash="", marked=True, cap=items)
            writing.each("items.store", rows, tenant=TENANT, run_id=run["id"])
            return PaidRun.of(writing.run("runs.get", **run)[0])

        return brands.tables.transact(store)

    return bring


@pytest.mark.parametrize("source", [SIX[0], SIX[5]], ids=["posts", "pages"])
def test_what_a_run_brought_is_written_in_a_handful_of_statements(brands, brand, brought, statements, source):
    capability = CAPABILITIES[f"{source[0]}.{source[1]}"]
    (connection,) = connect(brands, brand, source)
    taken = []
    for items in (20, 200):
        run = brought(items, connection, capability)
        statements.texts.clear()
        counts = brands.tables.transact(lambda writing, run=run: normalize(writing, run, capability, 1000, 0.5))
        taken.append(len(statements.texts))
        assert counts.quarantined == items // 10

    assert count(brands, "brands_evidence") >= 180
    assert taken[0] == taken[1] <= 8


def test_a_compile_that_wakes_takes_a_handful_of_statements_however_many_sources_it_has(brands, bench, statements):
    taken = []
    for sources in (SIX[:2], SIX):
        brand = brands.add(ACME, f"Brand {len(sources)}")
        connect(brands, brand, *sources, settings={"cap": 5})
        compiled = brands.compile(ACME, brand.id)
        for _ in range(60):
            statements.texts.clear()
            if not bench.drain(1):
                bench.advance(10)
            elif brands.compile_run(ACME, compiled.id).is_over:
                break
        assert len(brands.snapshot(ACME, brand.id)["evidence"]) == 5 * len(sources)
        ours = [text for text in statements.of("brands_") if READ_EVIDENCE not in text]
        taken.append((len(ours), len(statements.of(READ_EVIDENCE))))

    (few, _), (many, evidence) = taken
    assert few == many <= 10
    assert evidence == (1 if brands.app.store.database.dialect == "postgres" else len(SIX))
