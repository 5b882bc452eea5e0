"""Downloads: a large file survives the death of every process that fetches it."""

from __future__ import annotations

from pathlib import Path

import pytest

from haulwright.sandbox import Sandbox
from proof.support.downloads import under_fire

pytestmark = pytest.mark.crash

SIZE = 200_000_000
KILLS = 20


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_download_killed_at_random_points_resumes_and_ends_whole(tmp_path: Path, report: list[str], seed):
    with Sandbox(seed=seed) as sandbox:
        sandbox.files.script(pause_seconds=0.002, chunk_bytes=65_536)
        url = f"{sandbox.url}/files/large.bin?size={SIZE}"
        ending = under_fire(url, tmp_path, size=SIZE, kills=KILLS, seed=seed)
        ratio = sandbox.files.bytes_sent("large.bin") / SIZE
        expected = sandbox.files.sha256("large.bin", SIZE)

    report.append(f"seed {seed}: {ending.kills} killed, {ratio:.3f} times the size on the wire")
    assert ending.kills == KILLS
    assert ending.result["sha256"] == expected
    assert ratio < 1.2
    assert list((tmp_path / "parts").iterdir()) == []
