"""The restore drill at small size: the same acts on the same processes, and fewer jobs."""

from __future__ import annotations

from contextlib import closing

import pytest

from proof.backups.drill import acknowledged_by_mark, hold_a_drill
from proof.support.diary import Diary
from proof.support.site import Site
from proof.support.workload import Workload

pytestmark = [
    pytest.mark.crash,
    pytest.mark.timeout(400),
]  # a worker that is stopped inside a transaction holds up a restore for 60 s


@pytest.fixture
def work(database_url, tmp_path):
    """The tasks of the proofs on each database, where time goes by as it does."""
    with closing(Site.prepare(database_url, tmp_path, clock=False)) as site, closing(Workload(site)) as work:
        work.prepare()
        yield work


def test_a_restored_backup_keeps_what_the_promise_says(work):
    """What was acknowledged before it is there and ends; what came after it is gone; a stale write is refused."""
    drill = hold_a_drill(work, jobs=60, workers=1)

    assert drill.wrong == []
    assert drill.gone >= len(drill.acknowledged["backup.end"]) > 0
    assert [write["accepted"] for write in drill.writes] == [False, True]


def test_the_judge_counts_no_acknowledgement_that_was_under_way_while_the_file_came_back(tmp_path):
    diary = Diary(tmp_path / "diary")
    diary.write("enqueue.intent", "before")
    diary.write("enqueue.ok", "before")
    diary.write("backup.begin")
    diary.write("backup.end")
    diary.write("enqueue.intent", "under way")
    diary.write("restore.begin")
    diary.write("restore.end")
    diary.write("enqueue.ok", "under way")
    diary.write("enqueue.intent", "after")
    diary.write("enqueue.ok", "after")

    acknowledged = acknowledged_by_mark(diary.read())

    assert {mark: jobs for mark, jobs in acknowledged.items() if jobs} == {
        "start": {"before"},
        "between": {"under way"},
        "restore.end": {"after"},
    }
