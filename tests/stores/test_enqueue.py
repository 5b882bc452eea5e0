"""An acknowledged enqueue is on disk, whole, as it was asked for."""

from __future__ import annotations

import json

import pytest

from haulwright.clock import SECOND
from haulwright.engine.job import Unique
from haulwright.engine.transitions import State
from haulwright.errors import DuplicateMismatch
from haulwright.stores import batches
from haulwright.stores.listing import JobFilter
from tests.stores.scenes import DAY, HOUR, START, claim, count, ids, new_job

MARKS = {
    "concurrency_key": "shop",
    "concurrency_limit": 2,
    "source": "shop.example",
    "correlation_id": "request-7",
    "tags": '["a","b"]',
    "event_fields": '{"sku":"A1"}',
    "headers": '{"traceparent":"00-7"}',
}


def has_marks(job):
    kept = (job.concurrency_key, job.source, job.correlation_id, json.loads(job.tags), job.event_fields, job.headers)
    return kept == ("shop", "shop.example", "request-7", ["a", "b"], '{"sku":"A1"}', '{"traceparent":"00-7"}')


@pytest.mark.proves("ENQ-01", "JOB-02", "JOB-13")
def test_an_enqueued_job_is_queued_and_due_now(store):
    job = new_job(args='{"sku":"A1"}')

    (enqueued,) = store.jobs.enqueue([job])

    found = store.listing.get(enqueued.id)
    assert (enqueued.id, enqueued.created) == (job.id, True)
    assert (found.state, found.attempts, found.fence, found.args) == (State.QUEUED, 0, 0, '{"sku":"A1"}')
    assert (found.run_at, found.created_at, found.updated_at) == (START, START, START)
    assert (found.started_at, found.finished_at) == (None, None)


@pytest.mark.proves("JOB-01")
@pytest.mark.usefixtures("store")
def test_an_acknowledged_job_is_there_for_another_process(open_store, a_job):
    assert open_store().listing.get(a_job.id).state is State.QUEUED


@pytest.mark.parametrize("unique", [Unique("sku-1"), Unique("sku-1", "forever")])
def test_a_job_keeps_everything_that_it_was_given(store, unique):
    job = new_job(
        tenant="acme",
        queue="prices",
        priority=7,
        max_attempts=9,
        lease_us=30 * SECOND,
        timeout_us=10 * SECOND,
        job_key="planned",
        unique=unique,
        **MARKS,
    )
    store.jobs.enqueue([job])

    found = store.listing.get(job.id)

    assert (found.tenant, found.queue, found.priority, found.max_attempts) == ("acme", "prices", 7, 9)
    assert (found.job_key, found.unique_key, found.unique_scope) == ("planned", unique.key, unique.scope)
    assert has_marks(found)


@pytest.mark.parametrize("key", [{"job_key": "planned"}, {"unique": Unique("sku-1", "forever")}])
def test_a_job_with_one_lasting_key_keeps_everything_too(store, key):
    job = new_job(
        tenant="acme",
        queue="prices",
        priority=7,
        delay_us=HOUR,
        deadline_us=DAY,
        **MARKS,
        **key,
    )
    assert [made.created for made in store.jobs.enqueue([job])] == [True]

    found = store.listing.get(job.id)

    assert (found.tenant, found.queue, found.priority, found.run_at) == ("acme", "prices", 7, START + HOUR)
    assert (found.deadline_at, found.created_at) == (START + HOUR + DAY, START)
    assert found.job_key == key.get("job_key", job.id)
    assert (found.unique_key, found.unique_scope) == (("sku-1", "forever") if "unique" in key else (None, None))
    assert has_marks(found)


@pytest.mark.parametrize("key", [{"job_key": "planned"}, {"unique": Unique("k")}, {}])
def test_what_is_told_of_a_job_is_written_with_it_and_only_where_it_was_made(store, key):
    first, second = new_job(tenant="acme", **key), new_job(tenant="acme", **key)

    def ask(job):
        return store.database.transact(
            lambda connection: store.jobs.enqueue_with_event(connection, job, "asked", {"n": 1})
        )

    made = [ask(first), ask(second)]

    told = [(event.name, event.tenant, event.job_id, event.at, event.data) for event in store.events.latest()]
    of_first, of_second = [("asked", "acme", job.id, START, {"n": 1}) for job in (first, second)]
    assert [one.created for one in made] == [True, not key]
    assert told == ([of_first] if key else [of_first, of_second])


def test_a_job_without_a_key_is_its_own_key(store, a_job):
    assert store.listing.get(a_job.id).job_key == a_job.id


def test_many_jobs_are_answered_in_the_order_of_the_request(store):
    jobs = [new_job(tenant=f"t{n % 3}") for n in range(50)]

    made = store.jobs.enqueue(jobs)

    assert [one.id for one in made] == ids(jobs)
    assert all(one.created for one in made)
    assert count(store, "haulwright_jobs") == 50


def test_each_of_many_jobs_keeps_what_only_its_neighbours_do_not_have(store):
    """What several rows have in common is written once; the next that differs has its own."""
    kinds: list[dict[str, object]] = [
        {}, {}, {"task": "other"}, {"task": "other", "priority": 3}, {"tenant": "acme"}, {}, MARKS, {"max_attempts": 2},
    ]  # fmt: skip
    jobs = [new_job(args=f'{{"number":{n}}}', **kind) for n, kind in enumerate(kinds)]

    store.jobs.enqueue(jobs)

    found = [store.listing.get(job.id) for job in jobs]
    asked = [(job.task, job.tenant, job.priority, job.max_attempts, job.source, job.args) for job in jobs]
    assert [(job.task, job.tenant, job.priority, job.max_attempts, job.source, job.args) for job in found] == asked
    assert [job.job_key for job in found] == ids(jobs)


def test_an_enqueue_of_nothing_writes_nothing(store):
    assert store.jobs.enqueue([]) == []
    assert store.database.transact(lambda connection: store.jobs.enqueue_on(connection, [])) == []


@pytest.mark.parametrize("more", [-1, 0, 1])
def test_a_long_enqueue_is_written_in_chunks_and_answered_whole(store, monkeypatch, more):
    monkeypatch.setattr(type(store.database), "load_batch_size", 10)
    jobs = [new_job() for _ in range(20 + more)]

    assert [one.id for one in store.jobs.enqueue(jobs)] == ids(jobs)
    assert count(store, "haulwright_jobs") == 20 + more


def test_a_chunk_with_one_refused_job_is_not_written_at_all(store):
    first = new_job(args="1", unique=Unique("k"))
    store.jobs.enqueue([first])

    with pytest.raises(DuplicateMismatch):
        store.jobs.enqueue([new_job(), new_job(args="2", unique=Unique("k")), new_job()])

    assert count(store, "haulwright_jobs") == 1


def test_a_mixed_batch_writes_plain_and_unique_jobs_alike(store):
    plain, unique = new_job(), new_job(unique=Unique("k"))

    made = store.jobs.enqueue([plain, unique, new_job(unique=Unique("k")), new_job(job_key="planned")])

    assert [one.created for one in made] == [True, True, False, True]
    assert made[2].id == unique.id


@pytest.mark.proves("JOB-11", "CLM-03")
def test_a_delayed_job_waits_for_its_time(store, clock, worker, make_job):
    job = make_job(delay_us=90 * SECOND)

    clock.advance(89.999999)
    assert claim(store, worker) == []
    clock.advance(0.000001)
    assert ids(claim(store, worker)) == [job.id]


def test_a_job_for_a_moment_has_that_moment(store, clock, worker, make_job):
    job = make_job(run_at=START + HOUR, delay_us=5)

    assert store.listing.get(job.id).run_at == START + HOUR
    assert claim(store, worker) == []
    clock.advance(3600)
    assert ids(claim(store, worker)) == [job.id]


def test_a_moment_in_the_past_is_due_at_once_and_before_younger_ones(store, worker, make_job):
    later, earlier = make_job(), make_job(run_at=START - HOUR)

    assert ids(claim(store, worker, 2)) == [earlier.id, later.id]


def test_the_deadline_counts_from_the_first_time_a_job_may_run(store, make_job):
    plain = make_job(deadline_us=DAY)
    delayed = make_job(delay_us=HOUR, deadline_us=DAY)
    planned = make_job(run_at=START + 2 * HOUR, deadline_us=DAY)

    deadlines = [store.listing.get(job.id).deadline_at - START for job in (plain, delayed, planned)]
    assert deadlines == [DAY, DAY + HOUR, DAY + 2 * HOUR]


def test_a_job_for_a_moment_long_ago_is_not_overdue_at_birth(store, make_job):
    """The slot of a schedule that was caught up after two weeks still has its time to wait."""
    job = make_job(run_at=START - 14 * DAY, deadline_us=DAY)

    assert store.listing.get(job.id).deadline_at == START + DAY
    assert store.recovery.expire() == []


def test_a_job_may_have_no_deadline(store, clock, make_job):
    job = make_job(deadline_us=None)

    clock.advance(1000 * 86400)
    assert store.recovery.expire() == []
    assert store.listing.get(job.id).deadline_at is None


def test_many_jobs_have_their_own_times_too(store):
    """A batch travels another way than a single job."""
    delayed, planned = new_job(delay_us=HOUR, deadline_us=None), new_job(run_at=START - DAY, deadline_us=HOUR)

    store.jobs.enqueue([delayed, planned])

    one, two = store.listing.get(delayed.id), store.listing.get(planned.id)
    assert (one.run_at, one.deadline_at) == (START + HOUR, None)
    assert (two.run_at, two.deadline_at) == (START - DAY, START + HOUR)


@pytest.mark.parametrize("words", [{"concurrency_key": "k"}, {"concurrency_limit": 2}], ids=["key", "limit"])
def test_a_concurrency_key_has_a_limit(store, words):
    """The two databases would understand a missing one differently."""
    with pytest.raises(Exception, match=r"(?i)check constraint"):
        store.jobs.enqueue([new_job(**words)])


@pytest.mark.parametrize("text", ["o'brien; drop table x", "100% %s %(now)s", "ключ 🔑", ":now :tenant", '"q"', "a\\b"])
def test_any_text_is_a_name(store, worker, text):
    """Quotes, percent signs, parameters and other alphabets mean nothing to the database."""
    words = {"tenant": text, "queue": text, "task": text, "concurrency_key": text, "concurrency_limit": 1}
    job = new_job(**words, args=json.dumps({"v": text}), job_key=text, unique=Unique(text), correlation_id=text)
    store.jobs.enqueue([job, new_job()])

    (lease,) = claim(store, worker, 5, queue=text)

    assert (lease.tenant, lease.task, lease.job_key, json.loads(lease.args)) == (text, text, text, {"v": text})
    assert ids(store.listing.page(JobFilter(tenant=text, queue=text, task=text, job_key=text)).jobs) == [job.id]


AWKWARD = ["tab\there", "line\nend", "back\\slash", "\\N", "\r", 'quote"s', "ümläut ✓", "{a,b}", "null"]


@pytest.mark.parametrize("unique", [False, True], ids=["loaded", "told"])
def test_a_bulk_enqueue_keeps_every_character(store, unique):
    jobs = [
        new_job(args=json.dumps(text), correlation_id=text, unique=Unique(f"k{n}") if unique else None)
        for n, text in enumerate(AWKWARD)
    ]

    store.jobs.enqueue(jobs)

    found = [store.listing.get(job.id) for job in jobs]
    assert [(job.args, job.correlation_id) for job in found] == [(job.args, job.correlation_id) for job in jobs]


def test_a_bulk_enqueue_says_which_jobs_others_stood_for(store):
    (standing,) = store.jobs.enqueue([new_job(unique=Unique("a"))])

    made = store.jobs.enqueue([new_job(unique=Unique(key)) for key in ("a", "b", "b", "c")])

    assert [one.created for one in made] == [False, True, False, True]
    assert (made[0].id, made[2].id) == (standing.id, made[1].id)


@pytest.mark.parametrize("unique", [None, "own"], ids=["plain", "unique"])
def test_many_large_jobs_are_sent_in_pieces_of_bounded_bytes(store, monkeypatch, unique):
    """However many are enqueued at once, in a transaction of ours or of the caller."""
    monkeypatch.setattr(batches, "BATCH_BYTES", 64 << 10)
    sizes, chunk = [], store.jobs._enqueue_chunk
    monkeypatch.setattr(store.jobs, "_enqueue_chunk", lambda jobs: (sizes.append(len(jobs)), chunk(jobs))[1])
    large = json.dumps({"text": "x" * (10 << 10)})
    jobs = [new_job(args=large, unique=unique and Unique(str(n))) for n in range(30)]

    assert store.jobs.enqueue(jobs) == [(job.id, True) for job in jobs]
    assert sizes == [6] * 5

    more = [new_job(args=large, unique=Unique(str(n))) for n in (*range(30, 60), 30)]
    written = store.database.transact(lambda connection: store.jobs.enqueue_on(connection, more))
    assert [entry.created for entry in written] == [True] * 30 + [False]
    assert count(store, "haulwright_jobs") == 60
