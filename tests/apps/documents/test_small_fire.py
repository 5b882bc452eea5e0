"""The proof of documents at small size: real workers, killed with -9 while they fetch."""

from __future__ import annotations

from contextlib import closing

import pytest

from proof.documents.fire import Fire, expected
from proof.support.site import Site


@pytest.mark.crash
@pytest.mark.timeout(300)
@pytest.mark.proves("GU-02", "SM-10", "RC-01", "TS-06")
def test_killed_workers_lose_no_file_and_fetch_none_twice(database_url, tmp_path):
    with closing(Site.prepare(database_url, tmp_path)) as site, Fire(site, count=30, seed=5) as fire:
        ending = fire.burn(workers=1, kills=1, concurrency=3)

    assert ending.wrong == []
    assert ending.stored == expected(fire.listed)
    assert (ending.after.agrees, ending.asked_again) == (True, 0)
