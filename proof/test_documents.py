"""Documents: a thousand files of good and bad servers, fetched by workers that are killed all the time."""

from __future__ import annotations

import pytest

from proof.documents.fire import Fire, expected
from proof.support.site import Site

pytestmark = pytest.mark.crash

FILES = 1_000
WORKERS = 3
KILLS = 60


@pytest.mark.proves("GU-02", "SM-10", "EF-05", "EF-07", "RC-01", "ENQ-07")
def test_every_good_file_is_there_once_with_its_hash_and_a_second_run_downloads_nothing(site: Site, report: list[str]):
    with Fire(site, FILES, seed=11) as fire:
        ending = fire.burn(workers=WORKERS, kills=KILLS)

    report.append(f"{site.database}: {FILES} files, {ending.kills} workers killed, {ending.states}")
    report.append(f"{site.database}: the reconciler found {dict(ending.found.counts)}, then nothing")
    assert ending.wrong == []
    assert ending.stored == expected(fire.listed)
    assert ending.after.agrees
    assert ending.asked_again == 0
    assert ending.kills > KILLS // 2
