"""Jobs are read wherever they are, by id or by a filter, a page at a time."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from haulwright.engine.outcome import Done, Snooze
from haulwright.engine.transitions import State
from haulwright.errors import InvalidValue, NotFound
from haulwright.stores.job_rows import Requeue
from haulwright.stores.listing import Condition, JobFilter
from tests.stores.scenes import HOUR, START, bury, claim, claim_one, ids, new_job, race, rows, settle


def found(store, **words):
    return ids(store.listing.page(JobFilter(**words)).jobs)


@pytest.mark.proves("ENQ-04")
def test_a_tenants_jobs_are_listed_newest_first(store, worker):
    jobs = [new_job(tenant="acme") for _ in range(4)]
    store.jobs.enqueue([*jobs, new_job(tenant="other")])
    settle(store, next(lease for lease in claim(store, worker, 2) if lease.tenant == "acme"))

    assert found(store, tenant="acme") == ids(jobs[::-1])
    assert len(found(store, tenant="acme", state=State.QUEUED)) == 3
    assert found(store, tenant="nobody") == []


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_pages_show_every_job_once_across_waiting_and_finished_ones(store, worker, limit):
    jobs = [new_job() for _ in range(7)]
    store.jobs.enqueue(jobs)
    for lease in claim(store, worker, 7)[::2]:
        settle(store, lease)

    seen, after, pages = [], None, 0
    while pages == 0 or after is not None:
        page = store.listing.page(JobFilter(), after=after, limit=limit)
        seen, after, pages = seen + ids(page.jobs), page.next, pages + 1

    assert seen == ids(jobs[::-1])
    assert pages == -(-7 // limit)


@pytest.mark.parametrize("limit", [0, -1, 1001])
def test_a_page_has_a_size_that_makes_sense(store, limit):
    with pytest.raises(InvalidValue):
        store.listing.page(JobFilter(), limit=limit)


def test_every_field_of_a_filter_counts(store):
    words = {
        "tenant": "acme", "queue": "q", "task": "t", "correlation_id": "c", "job_key": "k", "source": "s",
    }  # fmt: skip
    job = new_job(**words, tags='["red","blue"]')
    store.jobs.enqueue([job, new_job()])

    for name, value in [*words.items(), ("tag", "red"), ("state", State.QUEUED)]:
        assert found(store, **{name: value}) == [job.id] or name == "state"
        assert found(store, **{name: "elsewhere" if name != "state" else State.DEAD}) == []
    assert found(store, **words, tag="blue", state=State.QUEUED) == [job.id]
    assert found(store, **words | {"queue": "other"}) == []


def test_finished_jobs_are_found_by_error_link_and_time(store, clock, worker):
    dead = bury(store, worker)
    successor = store.jobs.requeue(dead, Requeue("me"), tenant=None).id
    clock.advance(60)
    later = bury(store, worker)

    assert found(store, error_code="boom") == [later, dead]
    assert found(store, error_class="ValueError", not_requeued=True) == [later]
    assert found(store, requeued_from=dead) == [successor]
    assert found(store, finished_before=START + 1) == [dead]
    assert found(store, created_after=START) == [later]


@pytest.mark.usefixtures("a_job")
def test_jobs_that_wait_for_a_gate_are_found_by_it(store, worker, make_job):
    make_job()
    lease = claim_one(store, worker)
    settle(store, lease, Snooze(60, "source:shop"))

    assert found(store, waiting_on="source:shop") == [lease.id]


@pytest.mark.parametrize("tag", ["a", 'say "hi"', "100%", "a_b", "back\\slash", "ünï", "a,b", "'"])
def test_a_tag_is_found_exactly_and_nothing_like_it(store, tag):
    near = ["A", "aa", "axb", "100", "x", 'a"', "a", "b"]
    tagged = new_job(tags=json.dumps([tag], ensure_ascii=False, separators=(",", ":")))
    others = new_job(tags=json.dumps([one for one in near if one != tag], separators=(",", ":")))
    store.jobs.enqueue([tagged, others])

    assert found(store, tag=tag) == [tagged.id]


def test_two_tags_are_not_one_tag_with_a_comma(store):
    store.jobs.enqueue([new_job(tags='["a","b"]')])

    assert found(store, tag='a","b') == []


@pytest.mark.proves("TN-03")
def test_a_foreign_job_looks_exactly_like_an_absent_one(store, worker, make_job):
    finished, waiting = bury(store, worker, tenant="acme"), make_job(tenant="acme").id
    absent = "018f2f6e-7c1a-7abc-8def-0123456789ab"

    for act in (lambda i: store.listing.get(i, "other"), lambda i: _cancel(store, i), lambda i: _requeue(store, i)):
        refusals = set()
        for job_id in (waiting, finished, absent):
            with pytest.raises(NotFound) as refusal:
                act(job_id)
            refusals.add((str(refusal.value).replace(job_id, "X"), refusal.value.hint))
        assert len(refusals) == 1

    assert store.listing.find(waiting, "other") is None
    assert store.listing.get(waiting, "acme").state is State.QUEUED


def _cancel(store, job_id):
    store.jobs.cancel(job_id, tenant="other", reason="", actor="eve")


def _requeue(store, job_id):
    store.jobs.requeue(job_id, Requeue("eve"), tenant="other")


@pytest.mark.parametrize(
    "text", ["", "no-id", "018F2F6E-7C1A-7ABC-8DEF-0123456789AB", "x' or '1'='1", "%", "\U0001f980"]
)
@pytest.mark.usefixtures("a_job")
def test_what_cannot_be_an_id_is_not_found_on_any_database(store, text):
    assert store.listing.find(text) is None
    assert found(store, requeued_from=text) == []
    with pytest.raises(NotFound):
        store.listing.get(text)
    with pytest.raises(InvalidValue):
        store.listing.page(JobFilter(), after=text)


def test_a_job_that_ends_while_it_is_looked_for_is_found_once(store, open_store, worker):
    """It moves from one table to the other between two reads."""
    other = open_store()
    for _ in range(12):
        jobs = [new_job() for _ in range(3)]
        store.jobs.enqueue(jobs)
        leases = claim(store, worker, 3)

        _, page, one = race(
            lambda: [settle(store, lease) for lease in leases],  # noqa: B023
            lambda: other.listing.page(JobFilter()),
            lambda: open_store().listing.find(jobs[0].id),  # noqa: B023
        )

        assert len(ids(page.jobs)) == len(set(ids(page.jobs)))
        assert set(ids(jobs)) <= set(ids(page.jobs))
        assert one is not None


def test_a_job_seen_in_both_tables_is_shown_as_finished(store, worker, a_job):
    """What the race above meets only now and then: hot when first read, finished when next read."""
    lease = claim_one(store, worker)
    where = store.listing._where(JobFilter(), None, hot=True)

    def read(connection):
        settled = []

        class Late:
            dialect = connection.dialect

            def execute(self, sql, params=None):
                answer = connection.execute(sql, params)
                if not settled:
                    settled.append(settle(store, lease, Done("1")))
                return answer

        return store.listing._both(Late(), {"haulwright_jobs j": where, "haulwright_history j": where}, 10)

    seen = store.database.read(read)

    assert [(row[0], row[4]) for row in seen] == [(a_job.id, "succeeded")]


@pytest.mark.proves("ME-03")
def test_the_latest_jobs_can_be_read_with_plain_sql(store, worker, make_job):
    done, running = make_job(), make_job()
    lease, _ = claim(store, worker, 2)
    settle(store, lease)

    wanted = "id, state, lease_owner, heartbeat_at, created_at, started_at, finished_at, error_message"
    newest, oldest = rows(store, f"select {wanted} from haulwright_recent limit 10")  # noqa: S608

    assert (newest[:3], oldest[:3]) == ((running.id, "running", worker), (done.id, "succeeded", worker))
    assert {_as_time(value) for value in (*newest[3:6], *oldest[3:7])} == {datetime(2024, 1, 1, tzinfo=UTC)}


@pytest.mark.proves("ME-05")
def test_stuck_jobs_can_be_read_with_plain_sql(store, clock, worker, make_job):
    """By the database's own clock: a lease of the year 2024 ran out long ago, one of 2100 did not."""
    stuck = make_job()
    claim_one(store, worker)
    clock.set(START + 76 * 365 * 24 * HOUR)
    make_job()
    claim_one(store, worker)

    (row,) = rows(store, "select id, lease_owner, seconds_since_heartbeat, seconds_past_lease from haulwright_stuck")

    assert row[:2] == (stuck.id, worker)
    assert row[2] - row[3] == 120


def _as_time(value):
    return value if isinstance(value, datetime) else datetime.fromisoformat(value).replace(tzinfo=UTC)


def test_a_condition_on_what_is_no_column_is_refused_before_any_statement(store):
    strange = Condition("id is not null or j.tenant", "in", ("x",))

    with pytest.raises(InvalidValue, match="no column to compare"):
        store.listing.page(JobFilter(conditions=(strange,)))
