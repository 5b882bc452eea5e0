"""Zombie: a worker that was stopped past its lease and then goes on can change nothing, whatever it tries."""

from __future__ import annotations

import pytest

from proof.support.afterlife import VERBS
from proof.support.checker import Evidence, check
from proof.support.facts import Facts
from proof.support.site import Site
from proof.support.workload import Workload
from proof.support.zombie import haunt, lay_to_rest

pytestmark = pytest.mark.crash


@pytest.mark.proves("CLM-12", "GU-04")
def test_a_stopped_worker_that_goes_on_changes_nothing(site: Site, work: Workload, report: list[str]):
    (job,) = work.enqueue(work.lingering, range(1))

    haunting = haunt(site, work)
    lay_to_rest(site, haunting)

    facts = Facts.read(work.app.store)
    verdict = check(Evidence(facts, work.diary.read(), work.outside.read()))
    report.append(f"{site.database}: {len(haunting.tried)} ways tried; {verdict}")
    assert haunting.after == haunting.before
    assert haunting.tried == {(door, verb): False for door, verbs in VERBS.items() for verb in verbs}
    assert haunting.refused > 0
    assert verdict.wrong == []
    assert verdict.stale_refused == len(haunting.tried)
    assert [(one.id, one.state, one.fence, one.losses) for one in facts.jobs] == [(job, "succeeded", 2, 1)]
