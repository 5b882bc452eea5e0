"""A small file is read into memory, and nothing is on disk unless it breaks off."""

from __future__ import annotations

import pytest

from haulwright.errors import Retryable
from haulwright.sources.download import LeaseKey, aread_small, has_part, hint_of, is_small
from haulwright.sources.download.look import Hint

MEBIBYTE = 1024 * 1024
OWNER = LeaseKey("job", 1, "worker")


@pytest.fixture
def read(awaited, http, url, tmp_path):
    """Ask for the file and read it, if it is small."""

    def read(most=MEBIBYTE, hint=None, **expected):
        async def ask():
            async with http.astream(url) as answer:
                said = hint or hint_of(answer)
                if not is_small(answer, said, most):
                    return said
                return await aread_small(answer, said, url, tmp_path, owner=OWNER, **expected)

        return awaited(ask())

    return read


def test_a_small_file_is_here_with_its_hash_and_nothing_is_on_disk(read, sha256, tmp_path):
    small_file = read()

    assert (small_file.sha256, len(small_file.body), small_file.hint.bytes) == (sha256, 500_000, 500_000)
    assert list(tmp_path.iterdir()) == []


def test_a_larger_one_is_not_read(read):
    assert read(most=499_999).bytes == 500_000


def test_another_one_than_was_expected_is_not_taken(read, tmp_path):
    assert read(expected_sha256="0" * 64) is None
    assert list(tmp_path.iterdir()) == []


def test_one_that_breaks_off_is_gone_on_with(read, fetch, sandbox, sha256):
    sandbox.files.script(truncate_at=300_000, times=1)
    with pytest.raises(Retryable):
        read()

    done = fetch(2)

    assert (done.sha256, done.resumed_from) == (sha256, 300_000)


def test_one_of_which_less_than_was_announced_came_is_not_taken(read, tmp_path, url):
    with pytest.raises(Retryable, match="500000 of 600000 bytes arrived"):
        read(hint=Hint(600_000, '"v1"', "", resumable=True))

    assert has_part(tmp_path, url, OWNER)
