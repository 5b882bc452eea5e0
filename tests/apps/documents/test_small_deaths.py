"""A small document whose run is killed at some of its steps; `make proof ONLY=documents` kills it at every one."""

from __future__ import annotations

import pytest

from proof.documents.deaths import NEVER, find_harm
from tests.apps.documents.scenes import World


@pytest.mark.crash
@pytest.mark.timeout(300)
@pytest.mark.proves("GU-02", "SM-10")
@pytest.mark.parametrize("is_copy", [False, True], ids=["new", "a duplicate"])
def test_a_small_document_that_is_killed_at_a_step_is_filed_once(bench, sandbox, tmp_path, is_copy):
    world = World.open(bench, sandbox, tmp_path / "content", cron=NEVER)

    points, wrong = find_harm(world, tmp_path, is_copy=is_copy, every=11)

    assert wrong == []
    assert len(points) > 3
