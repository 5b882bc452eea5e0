"""Stuck jobs: those whose lease ran out and that nobody took back yet."""

from __future__ import annotations

import pytest

from haulwright import Haulwright, Principal
from haulwright.engine.ids import new_id
from haulwright.errors import InvalidValue
from haulwright.stores.listing import JobFilter
from tests.stores.scenes import claim_one, ids, new_job

app = Haulwright()
ADMIN = Principal.admin("root")


@pytest.fixture
def stuck(bench) -> list[str]:
    """Three jobs whose leases ran out a second after one another, and one that runs."""
    bench.use(app)
    jobs = [new_job(tenant=tenant, task=task) for tenant, task in (("acme", "a"), ("globex", "a"), ("acme", "b"))]
    for job in [*jobs, new_job()]:
        bench.store.jobs.enqueue([job])
        claim_one(bench.store, new_id())
        bench.advance(1)
    bench.advance(118.5)
    return [job.id for job in jobs]


def test_the_first_that_ran_out_comes_first_and_a_held_lease_not_at_all(stuck):
    assert ids(app.operations(ADMIN).jobs.stuck().jobs) == stuck


def test_they_come_a_page_at_a_time(stuck):
    jobs = app.operations(ADMIN).jobs

    first = jobs.stuck(limit=2)
    rest = jobs.stuck(after=first.next, limit=2)

    assert (ids(first.jobs), ids(rest.jobs), rest.next) == (stuck[:2], stuck[2:], None)


def test_a_tenant_sees_its_own_and_a_filter_narrows_them(stuck):
    jobs = app.operations(Principal.of_tenant("acme")).jobs

    assert ids(jobs.stuck(JobFilter(tenant="globex")).jobs) == [stuck[0], stuck[2]]
    assert ids(jobs.stuck(JobFilter(task="b")).jobs) == [stuck[2]]


@pytest.mark.parametrize("cursor", ["nonsense", "12", "x:018f2f6e-7c1a-7abc-8def-0123456789ab", "12:no-id"])
def test_a_cursor_that_no_page_gave_is_refused(bench, cursor):
    bench.use(app)

    with pytest.raises(InvalidValue, match="is not where a page ended"):
        app.operations(ADMIN).jobs.stuck(after=cursor)


def test_they_are_found_by_the_index_of_leases(bench, monkeypatch):
    """However many jobs run, those whose lease holds are not read."""
    bench.use(app)
    database = app.store.database
    statements: list[tuple[str, list[object]]] = []

    class Watched:
        dialect = database.dialect

        def execute(self, sql, values):
            statements.append((sql, values))
            return []

    monkeypatch.setattr(database, "read", lambda work: work(Watched()))
    app.store.listing.stuck(JobFilter(tenant="acme"), before=1, limit=10)
    monkeypatch.undo()

    ((sql, values),) = statements
    explain = "explain query plan" if database.dialect == "sqlite" else "explain"
    plan = database.read(lambda connection: connection.execute(f"{explain} {sql}", values))
    assert "haulwright_jobs_leased" in str(plan)
