"""The second wall: on PostgreSQL the server itself keeps a request of one tenant from the rows of others.

Whoever could have a request send `set_config('haulwright.tenant', ...)` of its own is past any wall of this kind; no
statement of ours is made of what somebody sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from haulwright import Haulwright
from haulwright.application.application import install_all
from haulwright.errors import NotFound
from haulwright.operations.access import Noun
from haulwright.stores.listing import JobFilter
from tests.api.walled import (
    ACME,
    ADMIN,
    GLOBEX,
    dump,
    execute,
    fill,
    refusal,
    request_of,
    row_of,
    tables_of,
)

pytestmark = pytest.mark.postgres

NOBODYS = {"haulwright_api_tokens", "haulwright_cache", "haulwright_meta", "haulwright_migrations"} | {
    "haulwright_permits",
    "haulwright_source_permits",
    "prices_claim_turns",
}
VIEWS = "select viewname from pg_views where schemaname = current_schema()"


@pytest.fixture
def app(postgres_url: str) -> Iterator[Haulwright]:
    """An app with a task, behind the wall."""
    with closing(Haulwright(postgres_url)) as app:

        @app.task(unique="a")
        def add(a: int, more: str = "") -> int:
            return a + len(more)

        @app.task()
        def double(a: int, more: str = "") -> int:
            return 2 * a + len(more)

        app.operations().schema.migrate()
        yield app


@pytest.fixture
def everything(postgres_url: str) -> Iterator[Haulwright]:
    """An app with the five applications."""
    with closing(Haulwright(postgres_url)) as app:
        install_all(app)
        app.operations().schema.migrate()
        yield app


def test_no_table_and_no_view_shows_a_row_of_another_tenant(everything, postgres_url):
    fill(postgres_url)
    foreign = str(row_of("", [("id", "uuid")], "globex")["id"])
    views = [name for (name,) in execute(everything, ADMIN, VIEWS)]
    seen = {}

    for name in [*tables_of(postgres_url), "haulwright_migrations", *views]:
        sql = f"select * from {name}"  # noqa: S608 - read
        refused = refusal(lambda name=name, sql=sql: seen.update({name: execute(everything, ACME, sql)}))
        assert (refused is not None) == (name in NOBODYS), name
        assert "globex" not in str(seen.get(name)), name
        assert foreign not in str(seen.get(name)), name

    assert [name for name in tables_of(postgres_url) if name not in NOBODYS and not seen[name]] == []


def test_no_statement_changes_or_makes_a_row_of_another_tenant(everything, postgres_url):
    fill(postgres_url)
    before = dump(postgres_url)

    def attempt(sql: str, params: Any = None) -> str | None:
        return refusal(lambda: execute(everything, ACME, sql, params))

    for table, columns in tables_of(postgres_url).items():
        foreign = row_of(table, columns, "globex")
        sql = f"insert into {table} ({', '.join(foreign)}) values ({', '.join(['%s'] * len(foreign))})"  # noqa: S608
        assert attempt(sql, list(foreign.values())) is not None, table
        if "tenant" in foreign:
            assert attempt(f"update {table} set tenant = 'globex'") is not None, table  # noqa: S608
            attempt(f"update {table} set tenant = 'acme'")  # noqa: S608
        attempt(f"delete from {table}")  # noqa: S608

    assert dump(postgres_url) == before


def test_a_partition_is_reached_through_its_table_alone(everything, postgres_url):
    fill(postgres_url)

    for name in ("haulwright_history_open", "haulwright_events_open"):
        for sql in ("select * from {}", "delete from {}", "truncate {}"):
            assert refusal(lambda name=name, sql=sql: execute(everything, ACME, sql.format(name))) is not None


def test_with_the_predicates_taken_away_a_tenant_still_sees_and_changes_nothing_of_others(app, monkeypatch):
    ids = {who: app.operations(who).jobs.enqueue("add", {"a": 1}, delay="1 h").id for who in (ACME, GLOBEX)}
    monkeypatch.setattr(Noun, "_tenant", None)
    monkeypatch.setattr("haulwright.operations.jobs.scoped", lambda which, *_: which or JobFilter())

    with request_of(app, ACME) as operations:
        assert [job.id for job in operations.jobs.page().jobs] == [ids[ACME]]
        assert [queue.parked for queue in operations.queues.page().rows] == [1]
        assert {event.tenant for event in operations.events.page().rows} == {"acme"}
        assert {event.tenant for event in operations.events.follow(after="0").rows} == {"acme"}
        for act in (operations.jobs.get, operations.jobs.why, operations.jobs.timeline, operations.effects.of_job):
            with pytest.raises(NotFound):
                act(ids[GLOBEX])
        for act in (operations.jobs.cancel, operations.jobs.retry):
            with pytest.raises(NotFound):
                act(ids[GLOBEX])

    assert app.store.listing.get(ids[GLOBEX]).state == "queued"
    with request_of(app, ADMIN) as operations:
        assert len(operations.jobs.page().jobs) == 2


def test_everything_that_a_tenant_may_do_works_behind_the_wall(app):
    with request_of(app, ACME) as operations:
        jobs = operations.jobs
        first = jobs.enqueue("add", {"a": 1}, delay="1 h")
        again = jobs.enqueue("add", {"a": 1}, delay="1 h")
        forever = [jobs.enqueue("add", {"a": 2}, job_key="k") for _ in range(2)]
        large = jobs.enqueue("add", {"a": 3, "more": "x" * 50_000})
        assert (first.created, again.created, again.id) == (True, False, first.id)
        assert forever[0].id == forever[1].id
        assert len(jobs.get(large.id).args) > 50_000
        assert jobs.why(first.id).sentence
        assert jobs.retry(first.id).changed
        assert jobs.cancel(first.id) == "cancelled"
        assert len(jobs.page().jobs) == 3
        assert [event.name for event in jobs.timeline(first.id).rows][-1] == "job.cancelled"
        assert operations.effects.of_job(first.id).rows == []
        assert operations.events.page().rows
        assert operations.queues.get("default").due == 2
        assert operations.schedules.page().rows == []
        assert operations.overview.frame().queues
        assert operations.dead_letters.counts().rows == []
    app.run_worker(until_empty=True)
    assert app.store.listing.get(large.id).result == "50003"


@pytest.mark.parametrize("task", ["add", "double"])
def test_many_jobs_at_once_go_through_the_wall_which_takes_no_copy(app, task):
    with request_of(app, ACME):
        one = app.find(task).using(tenant="acme")
        handles = app.enqueue_many([one.call(a=number, more="x" * (number % 2) * 9000) for number in range(30)])

    app.run_worker(until_empty=True)
    assert sum(handle.result() for handle in handles) == 15 * 9000 + 435 * (2 if task == "double" else 1)
