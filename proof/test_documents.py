"""Documents: a thousand files of good and bad servers, fetched by workers that are killed all the time."""

from __future__ import annotations

from collections import Counter
from contextlib import closing

import pytest

from haulwright.sandbox import Sandbox
from haulwright.testing.harness import Harness
from proof.documents.deaths import NEVER, find_harm
from proof.documents.fire import Fire, expected
from proof.support.site import Site
from tests.apps.documents.scenes import World

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


@pytest.mark.proves("GU-02", "SM-10")
@pytest.mark.parametrize("small_bytes", [1 << 20, 0], ids=["at once", "step by step"])
@pytest.mark.parametrize("is_copy", [False, True], ids=["new", "a duplicate"])
def test_a_document_whose_run_is_killed_at_any_step_is_filed_once(
    durable_url: str, tmp_path, is_copy, small_bytes, report: list[str]
):
    with closing(Harness(durable_url, tmp_path)) as bench, Sandbox(seed=7) as sandbox:
        world = World.open(bench, sandbox, tmp_path / "content", cron=NEVER, small_bytes=small_bytes)
        points, wrong = find_harm(world, tmp_path, is_copy=is_copy)

    kinds = Counter(point.rpartition(" ")[0] for point in points)
    kind = f"{'a duplicate' if is_copy else 'new'}, {'at once' if small_bytes else 'step by step'}"
    report.append(
        f"{durable_url.partition(':')[0]:10}  {kind:26} {len(points)} deaths, {len(wrong)} wrong: {dict(kinds)}"
    )
    assert wrong == []
