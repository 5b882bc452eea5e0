"""Zombie: a worker that was stopped past its lease and then goes on can change nothing, whatever it tries."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from proof.support.afterlife import VERBS
from proof.support.checker import Evidence, Verdict, check
from proof.support.company import Company
from proof.support.facts import Facts
from proof.support.frozen_group import OF_EACH, freeze_in_queue, freeze_in_transaction, lose_server_at_commit
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


@pytest.mark.proves("CLM-12", "GU-02", "GU-04")
def test_a_worker_that_stood_still_with_commits_in_its_queue_writes_those_that_are_still_its_own(
    site: Site, work: Workload, report: list[str]
):
    """The others were done by its successor, and are left out of the group that it goes on with."""
    freeze_in_queue(site, work)

    company = _require_taken_over(site, work, report)
    assert (company.largest, company.left_out) == (OF_EACH, OF_EACH)


@pytest.mark.postgres
def test_a_worker_that_stood_still_inside_the_transaction_of_a_group_writes_nothing_of_it(
    durable_postgres_url: str, tmp_path: Path, report: list[str]
):
    """Its server has ended the session: what is still its own is committed one by one."""
    with closing(Site.prepare(durable_postgres_url, tmp_path)) as site, closing(Workload(site)) as work:
        work.prepare()
        freeze_in_transaction(site, work)

        assert _require_taken_over(site, work, report).ends["taken back"] == 1


@pytest.mark.postgres
def test_a_group_whose_session_is_ended_at_its_commit_is_looked_up_and_not_guessed(
    durable_postgres_url: str, tmp_path: Path, report: list[str]
):
    with closing(Site.prepare(durable_postgres_url, tmp_path)) as site, closing(Workload(site)) as work:
        work.prepare()
        lose_server_at_commit(site, work)

        company, verdict, facts = _weigh(site, work, report)
    assert verdict.wrong == []
    assert {(job.state, job.attempts, job.losses) for job in facts.jobs} == {("succeeded", 1, 0)}
    assert len(facts.sink) == 2 * OF_EACH
    assert company.ends["unknown"] == 1


def _require_taken_over(site: Site, work: Workload, report: list[str]) -> Company:
    """The jobs whose lease ran out were done by another, the rest by the one that had them; each once."""
    company, verdict, facts = _weigh(site, work, report)
    assert verdict.wrong == []
    assert Counter((job.task, job.state, job.fence, job.losses) for job in facts.jobs) == {
        ("boarding", "succeeded", 2, 1): OF_EACH,
        ("patient", "succeeded", 1, 0): OF_EACH,
    }
    assert sorted((job, fence) for _, job, fence in facts.sink) == sorted((job.id, job.fence) for job in facts.jobs)
    return company


def _weigh(site: Site, work: Workload, report: list[str]) -> tuple[Company, Verdict, Facts]:
    diary, facts = work.diary.read(), Facts.read(work.app.store)
    company, verdict = Company.read(diary), check(Evidence(facts, diary))
    report.append(f"{site.database}: {company}; {company.left_out} left out; {verdict}")
    return company, verdict, facts
