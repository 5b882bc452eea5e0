"""A part belongs to one run of one job: nobody else writes into it, and nobody else's is touched."""

from __future__ import annotations

import errno
import os
from contextlib import ExitStack

import pytest

from haulwright.errors import Retryable
from haulwright.sources.download import DiskFull, LeaseKey, TakenOver, download, orphans, remove_orphans
from haulwright.sources.download.parts import Part, Record, take

WHAT = "https://files.example/a.bin"
RECORD = Record(WHAT, "job", validator='"v1"', total=10)


@pytest.fixture
def part_of(tmp_path):
    """The part of a run, with bytes added to what is there."""
    with ExitStack() as opened:

        def part_of(fence, job="job", data=b"", what=WHAT, worker="worker"):
            part = take(tmp_path, what, LeaseKey(job, fence, worker), RECORD)
            opened.callback(part.close)
            part.write(data)
            return part

        yield part_of


def test_a_run_that_lost_its_lease_cannot_write_into_the_part_of_the_next(part_of, tmp_path):
    zombie = part_of(1, data=b"good")
    living = part_of(2)

    zombie.write(b" from the grave")

    assert living.path.read_bytes() == b"good"
    assert [path.name for path in tmp_path.glob("parts/*.part")] == [living.path.name]
    with pytest.raises(TakenOver):
        zombie.sync()


def test_a_run_under_the_same_number_has_a_part_of_its_own(part_of):
    """A database that was put back gives a number to two: neither writes into what the other has."""
    first = part_of(1, data=b"first")
    second = part_of(1, data=b"second", worker="another")

    first.sync()

    assert (first.path.read_bytes(), second.path.read_bytes()) == (b"first", b"second")


def test_a_run_that_lost_its_lease_cannot_finish(fetch, part_of, tmp_path, url, monkeypatch):
    sync = Part.sync

    def taken_over(part):
        monkeypatch.undo()
        part_of(2, what=url)
        sync(part)

    monkeypatch.setattr(Part, "sync", taken_over)
    with pytest.raises(TakenOver):
        fetch(1)

    assert not list(tmp_path.glob("??"))


def test_the_part_of_a_later_run_is_left_alone(part_of):
    later = part_of(5, data=b"later")

    earlier = part_of(3)

    assert earlier.size == 0
    assert later.path.read_bytes() == b"later"


def test_the_part_of_another_job_is_left_alone(part_of):
    other = part_of(1, job="other", data=b"theirs")

    mine = part_of(2)

    assert mine.size == 0
    assert other.path.read_bytes() == b"theirs"


def test_a_part_that_was_not_copied_to_its_end_is_not_believed(part_of):
    whole = part_of(1, data=b"whole part")
    half = whole.path.with_name(whole.path.name.replace(".1.", ".2."))
    half.write_bytes(b"who")

    assert part_of(3).path.read_bytes() == b"whole part"
    assert not half.exists()


def test_a_record_that_cannot_be_read_makes_its_part_worthless(part_of):
    part = part_of(1, data=b"bytes")
    part.path.with_suffix(".json").write_bytes(b'{"url": ')

    assert part_of(2).size == 0


def test_the_record_shows_no_credential_of_the_address(http, sandbox, tmp_path):
    secret = f"{sandbox.url}/files/a.bin?size=5000&sig=canary-1&X-Amz-Signature=canary-2"
    sandbox.files.script(truncate_at=2_000)
    with pytest.raises(Retryable):
        download(http, secret, tmp_path, owner=LeaseKey("job", 1, "worker"))

    (record,) = tmp_path.glob("parts/*.json")
    assert "canary" not in record.read_text("utf-8")


def test_a_full_disk_keeps_what_found_room_and_the_next_run_goes_on(fetch, sha256, monkeypatch):
    write = Part._append

    def full(part, data):
        if part.size + len(data) > 400_000:
            write(part, data[:100])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(part, data)

    monkeypatch.setattr(Part, "_append", full)
    with pytest.raises(DiskFull) as no_room:
        fetch()
    monkeypatch.undo()
    done = fetch()

    assert isinstance(no_room.value, Retryable)
    assert done.sha256 == sha256
    assert done.resumed_from > 200_000


def test_a_disk_that_is_full_while_a_part_is_taken_over_leaves_it_where_it_was(part_of, tmp_path, monkeypatch):
    first = part_of(1, data=b"0123456789")

    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Part, "_append", full)
    with pytest.raises(OSError, match="space"):
        part_of(2)
    monkeypatch.undo()

    assert list(tmp_path.glob("parts/*.part")) == [first.path]
    assert part_of(3).size == 10


def test_parts_that_nobody_goes_on_with_are_listed_by_age(part_of, tmp_path):
    old, young = part_of(1, job="old", data=b"x" * 7), part_of(2, job="young")
    for path in tmp_path.glob("parts/*"):
        os.utime(path, (1_000, 1_000) if path.stem == old.path.stem else (5_000, 5_000))

    found = orphans(tmp_path, idle_seconds=3_000, now=5_100)

    assert [(each.job_id, each.fence, each.bytes, each.idle_seconds) for each in found] == [("job", 1, 7, 4_100)]
    assert found[0].url == WHAT
    assert young.path.exists()


def test_orphans_are_removed_unless_somebody_is_still_at_it(part_of, tmp_path, left):
    part_of(1, job="slow")
    part_of(2, job="gone")

    removed = remove_orphans(tmp_path, idle_seconds=0, is_active=lambda orphan: orphan.fence == 1, now=9e9)

    assert [orphan.fence for orphan in removed] == [2]
    assert left() == [".json", ".part"]


def test_a_folder_without_parts_has_no_orphans(tmp_path):
    assert orphans(tmp_path, idle_seconds=0) == []
