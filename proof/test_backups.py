"""A backup under load, put back beside workers that run on: what the promise page says holds, and nothing else goes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from proof.backups.drill import hold_a_drill
from proof.support.site import Site
from proof.support.workload import Workload

pytestmark = pytest.mark.crash

JOBS = 1_000
"""Before the backup, after it, and after the restore: so many each."""
WORKERS = 3


@pytest.fixture
def running_work(durable_url: str, tmp_path: Path) -> Iterator[Workload]:
    """The tasks of the proofs on each database, where time goes by as it does."""
    with closing(Site.prepare(durable_url, tmp_path, clock=False)) as site, closing(Workload(site)) as work:
        work.prepare()
        yield work


def test_a_restored_backup_keeps_what_the_promise_says(running_work: Workload, report: list[str]):
    drill = hold_a_drill(running_work, jobs=JOBS, workers=WORKERS)

    report.append(f"{running_work.site.database}: {drill}")
    assert drill.wrong == []
    assert drill.gone >= len(drill.acknowledged["backup.end"]) > 0
    assert [write["accepted"] for write in drill.writes] == [False, True]
    if running_work.site.database == "sqlite":
        assert drill.refused["database_replaced"] > 0
    else:
        assert drill.put_backs >= WORKERS
