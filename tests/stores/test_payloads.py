"""Large arguments stand beside their job: no step of it writes them, and no claim takes more than it can hold."""

from __future__ import annotations

import json
from collections import Counter

import pytest

from haulwright.engine.job import Unique
from haulwright.engine.payload import ARGS_INLINE_LIMIT_CHARS
from haulwright.engine.transitions import State
from haulwright.errors import DuplicateMismatch
from haulwright.stores import listing
from haulwright.stores.claim_cursor import ClaimCursor
from haulwright.stores.job_rows import Requeue
from haulwright.stores.listing import Condition, JobFilter
from haulwright.stores.payloads import STUB, inline
from tests.stores.scenes import bury, claim, claim_one, count, ids, new_job, rows, settle

KILO = 1000


def large(word: str = "x", size: int = 100 * KILO) -> str:
    """Arguments of so many bytes."""
    return json.dumps({"word": word, "text": "é" * ((size - 31 - len(word)) // 2)}, ensure_ascii=False)


LARGE = large()


def in_rows(store) -> list[tuple[str]]:
    return rows(store, "select args from haulwright_jobs union all select args from haulwright_history")


@pytest.mark.parametrize(
    "jobs",
    [
        pytest.param([new_job(args=LARGE)], id="one"),
        pytest.param([new_job(args=LARGE, job_key="k")], id="one-with-a-key"),
        pytest.param([new_job(args=LARGE, job_key="k", unique=Unique("u", "forever"))], id="one-with-two-keys"),
        pytest.param([new_job(args=LARGE), new_job(), new_job(args=LARGE)], id="many"),
        pytest.param([new_job(args=LARGE, unique=Unique("u")), new_job(unique=Unique("v"))], id="many-that-are-unique"),
        pytest.param([new_job(args=LARGE, job_key="k"), new_job()], id="many-with-keys"),
    ],
)
def test_large_arguments_stand_beside_their_job_however_it_was_enqueued(store, worker, jobs):
    store.jobs.enqueue(jobs)

    assert Counter(in_rows(store)) == Counter([(inline(job.args),) for job in jobs])
    assert count(store, "haulwright_payloads") == sum(job.args is LARGE for job in jobs)
    assert {lease.id: lease.args for lease in claim(store, worker, 9)} == {job.id: job.args for job in jobs}
    assert all(store.listing.get(job.id).args == job.args for job in jobs)


def test_arguments_of_a_usual_size_stand_in_the_row(store, worker, make_job):
    job = make_job(args=json.dumps({"text": "x" * (ARGS_INLINE_LIMIT_CHARS - 20)}))

    assert in_rows(store) == [(job.args,)]
    assert count(store, "haulwright_payloads") == 0
    assert claim_one(store, worker).payload_bytes is None


def test_a_job_that_ended_shows_its_arguments_and_its_row_does_not_hold_them(store, worker, make_job):
    job = make_job(args=LARGE)
    assert settle(store, claim_one(store, worker))

    assert in_rows(store) == [(STUB,)]
    found = store.listing.get(job.id)
    assert (found.state, found.args) == (State.SUCCEEDED, LARGE)


def test_a_requeued_job_has_the_same_arguments(store, worker):
    letter = bury(store, worker, args=LARGE)

    successor = store.jobs.requeue(letter, Requeue("alice"), tenant=None)

    lease = claim_one(store, worker)
    assert (lease.id, lease.args, lease.payload_bytes) == (successor.id, LARGE, len(LARGE.encode()))
    assert store.listing.get(letter).args == LARGE


def test_a_duplicate_is_known_by_arguments_that_stand_beside_its_twin(store):
    first = new_job(args=LARGE, unique=Unique("u"))
    store.jobs.enqueue([first])

    (again,) = store.jobs.enqueue([new_job(args=LARGE, unique=Unique("u"))])

    assert (again.id, again.created) == (first.id, False)
    with pytest.raises(DuplicateMismatch):
        store.jobs.enqueue([new_job(args=large("other"), unique=Unique("u"))])
    assert count(store, "haulwright_payloads") == 1


def test_arguments_go_with_the_history_of_their_job(store, clock, worker, make_job):
    make_job(args=LARGE)
    settle(store, claim_one(store, worker))
    kept = make_job(args=LARGE)
    clock.advance(3600)

    assert store.jobs.prune(State.SUCCEEDED, 60) == 1

    assert count(store, "haulwright_payloads") == 1
    assert store.listing.get(kept.id).args == LARGE


def test_large_arguments_are_searched_like_others(store, worker, make_job):
    job = make_job(args=large("needle"))
    make_job(args=large("hay"))
    by_path = JobFilter(conditions=(Condition("args", "in", ("needle",), path=("word",)),))
    by_text = JobFilter(conditions=(Condition("text", "in", ("needle",)),))

    for which in (by_path, by_text):
        assert ids(store.listing.page(which).jobs) == [job.id]
    settle(store, claim_one(store, worker))
    for which in (by_path, by_text):
        assert ids(store.listing.page(which).jobs) == [job.id]


def test_a_page_holds_so_many_bytes_and_says_where_the_next_begins(store, monkeypatch, make_job):
    monkeypatch.setattr(listing, "PAGE_BYTES", 250 * KILO)
    jobs = [make_job(args=large(size=200 * KILO)) for _ in range(5)]
    found, after = [], None

    while True:
        page = store.listing.page(JobFilter(), after=after, limit=4)
        assert len(page.jobs) in {1, 2}
        found += ids(page.jobs)
        after = page.next
        if after is None:
            break

    assert found == ids(jobs)[::-1]


def test_a_job_whose_arguments_are_lost_is_not_run_without_them(store, worker, make_job):
    make_job(args=LARGE)
    store.database.transact(lambda connection: connection.execute("delete from haulwright_payloads"))

    assert claim_one(store, worker).args == ""
    assert store.integrity.unsound()["payloads"] == 1


def test_a_claim_takes_as_many_bytes_as_it_has_room_for(store, worker):
    jobs = [new_job(args=LARGE if number % 2 else "{}") for number in range(10)]
    store.jobs.enqueue(jobs)
    cursor = ClaimCursor()

    claims = [store.leases.claim(worker, ["default"], 9, cursor, most_bytes=150 * KILO) for _ in range(3)]

    assert [ids(leases) for leases in claims] == [ids(jobs[:4]), ids(jobs[4:8]), ids(jobs[8:])]
    assert not cursor.is_cut


def test_a_claim_takes_one_job_however_large_it_is(store, worker, make_job):
    first, _ = make_job(args=LARGE), make_job(args=LARGE)
    cursor = ClaimCursor()

    leases = store.leases.claim(worker, ["default", "other"], 9, cursor, most_bytes=1)

    assert (ids(leases), cursor.is_cut) == ([first.id], True)


def test_tenants_take_turns_also_where_bytes_end_a_claim(store, worker):
    store.jobs.enqueue([new_job(args=LARGE, tenant=tenant) for tenant in "aabbcc"])
    cursor = ClaimCursor()

    claims = [store.leases.claim(worker, ["default"], 9, cursor, most_bytes=1) for _ in range(6)]

    assert "".join(lease.tenant for leases in claims for lease in leases) == "abcabc"


def test_bytes_count_where_a_gate_stands_before_the_jobs(store, worker):
    jobs = [new_job(args=LARGE, concurrency_key="k", concurrency_limit=9) for _ in range(4)]
    store.jobs.enqueue(jobs)

    leases = store.leases.claim(worker, ["default"], 9, most_bytes=150 * KILO)

    assert ids(leases) == ids(jobs[:2])


def test_what_stands_in_the_row_is_unreadable_for_a_version_that_does_not_look_beside_it():
    with pytest.raises(json.JSONDecodeError):
        json.loads(STUB)
