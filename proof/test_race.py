"""Race: many processes drain one queue, and each job is executed exactly once."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

from proof.support.checker import Evidence, check
from proof.support.company import Company
from proof.support.crowd import race
from proof.support.facts import Facts
from proof.support.site import Site
from proof.support.workload import Workload

JOBS = 2_000
PROCESSES = 8


@pytest.mark.proves("CLM-01", "CLM-14", "GU-03")
def test_eight_processes_execute_each_of_two_thousand_jobs_exactly_once(
    database_url: str, tmp_path: Path, report: list[str]
):
    with closing(Site.prepare(database_url, tmp_path, clock=False)) as site, closing(Workload(site)) as work:
        ids = work.enqueue(work.note, range(JOBS))

        seconds = race(site, PROCESSES)

        diary, facts = work.diary.read(), Facts.read(work.app.store)
    executed = Counter(entry.job for entry in diary if entry.event == "run.end")
    shares = Counter(entry.pid for entry in diary if entry.event == "run.end")
    verdict = check(Evidence(facts, diary))
    report.append(f"{site.database}: {JOBS} jobs, {PROCESSES} processes, {seconds:.1f} s; {verdict}")
    report.append(f"  jobs per process: {sorted(shares.values())}")
    assert verdict.wrong == []
    assert executed == dict.fromkeys(ids, 1)
    assert {(job.state, job.attempts, job.fence, job.losses) for job in facts.jobs} == {("succeeded", 1, 1, 0)}
    assert len(shares) == PROCESSES


@pytest.mark.proves("CLM-01", "CLM-14", "GU-02")
def test_eight_processes_whose_runs_commit_together_write_each_of_two_thousand_rows_once(
    durable_url: str, tmp_path: Path, report: list[str]
):
    with closing(Site.prepare(durable_url, tmp_path, clock=False)) as site, closing(Workload(site)) as work:
        work.prepare()
        ids = work.enqueue(work.harvesting, range(JOBS))

        seconds = race(site, PROCESSES, concurrency=16)

        diary, facts = work.diary.read(), Facts.read(work.app.store)
    company = Company.read(diary)
    verdict = check(Evidence(facts, diary))
    report.append(f"{site.database}: {JOBS} jobs, {PROCESSES} processes, {seconds:.1f} s; {company}; {verdict}")
    assert verdict.wrong == []
    assert Counter(job for _, job, _ in facts.sink) == dict.fromkeys(ids, 1)
    assert {(job.state, job.attempts, job.losses) for job in facts.jobs} == {("succeeded", 1, 0)}
    assert company.together > JOBS / 2, "a race in which few commits meet proves little"
