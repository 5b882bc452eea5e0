"""The proof of brands at small size: real workers, killed with -9 in the middle of a compile."""

from __future__ import annotations

from contextlib import closing

import pytest

from proof.brands.compiles import Stage
from proof.support.site import Site


@pytest.mark.crash
@pytest.mark.proves("HB-13", "GU-02")
def test_killed_workers_cost_no_run_and_change_no_item(database_url, tmp_path):
    with closing(Site.prepare(database_url, tmp_path)) as site, Stage(site, sources=2) as stage:
        (calm,) = stage.compile()
        (killed,) = stage.compile(kills=2, seed=1)

    for ending in (calm, killed):
        assert (ending.run.status, ending.run.error) == ("succeeded", None)
        assert ending.paid == dict.fromkeys(calm.paid, 1)
    assert (killed.items, killed.snapshot) == (calm.items, calm.snapshot)
    assert stage.kills > 0
