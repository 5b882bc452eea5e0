"""Zombie: a worker that was stopped past its lease and then goes on can change nothing, whatever it tries."""

from __future__ import annotations

import time
from collections import Counter

import pytest

from proof.support.afterlife import VERBS
from proof.support.checker import Evidence, check
from proof.support.facts import Facts
from proof.support.stopping import resume, stop
from proof.support.worker import MODULE
from proof.support.workload import go

TABLES = ("jobs", "history", "effects", "blobs", "stages", "permits", "keys", "events where job_id is not null")
pytestmark = pytest.mark.crash


def wait_for_run(work, fence):
    """Wait until a run under this fence is in the middle of its effect."""
    while not any(row.fence == fence for job in work.diary.of("run.begin") for row in effects_of(work, job.job)):
        time.sleep(0.01)


def effects_of(work, job_id):
    return work.app.desk().effects(job_id)


def everything(store):
    """Every row that a run could change, as the database has it. That a worker stops may be told."""
    asked = [f"select * from penstock_{table}" for table in TABLES]
    return store.database.read(lambda connection: {sql: sorted(connection.execute(sql), key=repr) for sql in asked})


@pytest.mark.proves("HB-04", "CLM-12")
def test_a_stopped_worker_that_goes_on_changes_nothing(site, work, report):
    store = work.app.store
    (job,) = work.enqueue(work.lingering, range(1))
    zombie = site.spawn(MODULE, "work")
    wait_for_run(work, fence=1)
    stop(zombie, store)
    site.clock.advance(3)  # the lease is two seconds long

    successor = site.spawn(MODULE, "work")
    wait_for_run(work, fence=2)
    stop(successor, store)  # from here on whatever changes was changed by the zombie
    before = everything(store)
    site.clock.advance(1)  # a heartbeat that is accepted now would move the end of the lease
    site.raise_flag(go(1))
    resume(zombie)
    assert zombie.wait(60) == 0

    assert everything(store) == before
    tried = {(entry.more["door"], entry.more["verb"]): entry.more["accepted"] for entry in work.diary.of("write")}
    assert tried == {(door, verb): False for door, verbs in VERBS.items() for verb in verbs}
    refused = Counter(worker.refused for worker in store.workers.list(everyone=True))
    assert refused[0] == 1, "the zombie must have counted its refusals, the successor has none"

    site.raise_flag(go(2))
    resume(successor)
    assert successor.wait(60) == 0
    facts = Facts.read(store)
    verdict = check(Evidence(facts, work.diary.read(), work.outside.read()))
    report.append(f"{site.database}: {len(tried)} ways tried; {verdict}")
    assert verdict.wrong == []
    assert verdict.stale_refused == len(tried)
    assert [(one.id, one.state, one.fence, one.losses) for one in facts.jobs] == [(job, "succeeded", 2, 1)]
