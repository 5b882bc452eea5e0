"""A sound database answers every question about itself with nothing."""

from __future__ import annotations

from haulwright.stores.integrity import COUNTED
from tests.stores.scenes import bury, claim_one, new_job


def test_a_database_that_was_only_written_through_us_is_sound(store, worker):
    bury(store, worker)
    store.jobs.enqueue([new_job(concurrency_key="k", concurrency_limit=1)])
    claim_one(store, worker)

    assert store.integrity.unsound() == dict.fromkeys(COUNTED, 0)
    assert store.integrity.damaged_pages() == []


def test_a_database_says_what_it_is(store):
    assert store.integrity.kind().startswith({"sqlite": "SQLite 3", "postgres": "PostgreSQL"}[store.database.dialect])


def test_a_permit_of_a_job_that_does_not_run_is_counted(store, a_job):
    values = f"('k', 1, '{a_job.id}', 1, '{a_job.id}', 0)"
    write = f"insert into haulwright_permits (key, number, job_id, fence, worker_id, taken_at) values {values}"  # noqa: S608 - our own
    store.database.transact(lambda connection: connection.execute(write))

    assert store.integrity.unsound()["permits"] == 1
