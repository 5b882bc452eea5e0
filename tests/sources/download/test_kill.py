"""The proof of downloads at small size: real processes, killed at random bytes."""

from __future__ import annotations

import pytest

from proof.support.downloads import under_fire

SIZE = 20_000_000
KILLS = 5


@pytest.mark.crash
def test_a_download_killed_at_random_points_resumes_and_ends_whole(sandbox, tmp_path):
    sandbox.files.script(pause_seconds=0.002, chunk_bytes=65_536)
    url = f"{sandbox.url}/files/large.bin?size={SIZE}"

    ending = under_fire(url, tmp_path, size=SIZE, kills=KILLS, seed=11)

    assert ending.kills == KILLS
    assert ending.result["sha256"] == sandbox.files.sha256("large.bin", SIZE)
    assert sandbox.files.bytes_sent("large.bin") < 1.2 * SIZE
    assert list((tmp_path / "parts").iterdir()) == []
