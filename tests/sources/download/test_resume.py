"""A download goes on where it stopped, but only with bytes that belong to what is there."""

from __future__ import annotations

import asyncio
import time

import pytest

from haulwright.errors import Retryable
from haulwright.sources.download import Corrupt, LeaseKey, adownload, parts
from haulwright.sources.download import fetch as fetching

CUT = 300_000


class Died(BaseException):
    """The process ended here."""


def _die(*_):
    raise Died


@pytest.fixture
def cut(fetch, sandbox):
    """Fetch the beginning of the file: the connection breaks in the middle."""

    def cut(fence=1, **ways):
        sandbox.files.script(truncate_at=CUT, times=1, **ways)
        with pytest.raises(Retryable):
            fetch(fence)

    return cut


def asked(sandbox):
    return [entry.headers.get("range") for entry in sandbox.books.requests(service="files")]


@pytest.mark.parametrize("fence", [1, 2], ids=["the same run", "a later run"])
def test_the_rest_is_asked_for_with_a_little_of_what_is_there(fetch, cut, sandbox, sha256, fence):
    cut()

    done = fetch(fence)

    assert (done.sha256, done.resumed_from) == (sha256, CUT)
    assert done.wire_bytes == 200_000 + fetching.OVERLAP_BYTES
    assert asked(sandbox) == [None, f"bytes={CUT - fetching.OVERLAP_BYTES}-"]


def test_requests_ask_for_the_bytes_as_they_are(fetch, cut, sandbox):
    cut()
    fetch()

    first, second = (entry.headers for entry in sandbox.books.requests(service="files"))
    assert first["accept-encoding"] == second["accept-encoding"] == "identity"
    assert second["if-range"].startswith('"')
    assert "if-range" not in first


def test_a_date_serves_where_there_is_no_tag(fetch, cut, sandbox, sha256):
    cut(tag="none")
    sandbox.files.script(tag="none")

    done = fetch()

    assert (done.sha256, done.resumed_from) == (sha256, CUT)
    assert sandbox.books.requests(service="files")[-1].headers["if-range"].endswith("GMT")


@pytest.mark.parametrize("ways", [{"tag": "weak"}, {"tag": "none", "dated": False}], ids=["a weak tag", "nothing"])
def test_without_something_strong_to_go_by_everything_is_fetched_anew(fetch, cut, sandbox, sha256, ways):
    cut(**ways)
    sandbox.files.script(**ways)

    done = fetch()

    assert (done.sha256, done.resumed_from, done.wire_bytes) == (sha256, 0, 500_000)
    assert asked(sandbox) == [None, None]


def test_a_file_that_changed_meanwhile_is_fetched_anew(fetch, cut, sandbox, sha256):
    cut()
    sandbox.files.change("a.bin")

    done = fetch(2)

    assert done.sha256 == sandbox.files.sha256("a.bin", 500_000) != sha256
    assert (done.resumed_from, done.wire_bytes) == (0, 500_000)


def test_a_change_is_seen_although_the_new_version_was_cut_off_too(fetch, cut, sandbox):
    cut()
    sandbox.files.change("a.bin")
    cut(2)

    done = fetch(3)

    assert (done.sha256, done.resumed_from) == (sandbox.files.sha256("a.bin", 500_000), CUT)


@pytest.mark.parametrize("lie", ["none", "shifted", "lying"])
def test_a_server_that_lies_about_ranges_is_caught_without_a_hash_to_compare(fetch, cut, sandbox, sha256, lie):
    cut()
    sandbox.files.script(ranges=lie, times=1)

    done = fetch()

    assert (done.sha256, done.resumed_from) == (sha256, 0)


def test_a_range_that_begins_elsewhere_is_not_even_read(fetch, cut, sandbox):
    cut()
    sandbox.files.script(ranges="shifted", times=1)

    assert fetch().wire_bytes == 500_000


@pytest.mark.parametrize(
    "answer",
    [
        {"code": 416, "headers": {"Content-Range": "bytes */10"}},
        {"code": 206, "body": "x"},
        {"code": 206, "body": "x", "headers": {"Content-Range": "bytes 298976-298976/7"}},
        {"code": 206, "body": "x", "headers": {"Content-Range": "bytes 298976-499999/500000"}},
        {"code": 206, "body": "x", "headers": {"Content-Range": "bytes 298976-298976/500000", "ETag": '"other"'}},
        {"code": 412},
    ],
)
def test_an_answer_that_cannot_be_the_rest_leads_to_a_fresh_start(fetch, cut, sandbox, sha256, answer):
    cut()
    sandbox.faults.add("status", **answer)

    done = fetch()

    assert (done.sha256, done.resumed_from) == (sha256, 0)
    assert asked(sandbox)[-1] is None


def test_a_part_that_was_not_asked_for_is_caught(fetch, sandbox):
    sandbox.faults.add("status", code=206, body="x", headers={"Content-Range": "bytes 5-5/10"})

    with pytest.raises(Corrupt):
        fetch()


def test_a_server_that_sends_less_than_it_announced_is_caught_and_resumed(fetch, sandbox, sha256):
    sandbox.files.script(length_error=10, times=1)

    with pytest.raises(Retryable):
        fetch(expected_sha256=sha256)

    assert fetch(2, expected_sha256=sha256).sha256 == sha256


def test_a_server_that_announces_too_little_is_caught_by_the_hash(fetch, sandbox, sha256, left):
    sandbox.files.script(length_error=-10, times=1)

    with pytest.raises(Corrupt):
        fetch(expected_sha256=sha256)

    assert left() == []
    assert fetch(2, expected_sha256=sha256).sha256 == sha256


def test_wrong_bytes_from_before_are_thrown_away_once_the_hash_shows_it(fetch, tmp_path, sandbox, sha256):
    sandbox.files.script(truncate_at=CUT, times=1)
    with pytest.raises(Retryable):
        fetch(expected_sha256=sha256)
    (part,) = tmp_path.glob("parts/*.part")
    with part.open("r+b") as file:
        file.write(b"rot")

    done = fetch(2, expected_sha256=sha256)

    assert (done.sha256, done.resumed_from) == (sha256, 0)


def test_after_a_loss_of_power_only_what_was_synced_is_believed(fetch, cut, sha256, monkeypatch):
    monkeypatch.setattr(parts, "DURABLE_EVERY_BYTES", 100_000)
    cut()
    monkeypatch.setattr(parts, "boot_id", lambda: "after the power came back")

    done = fetch(2)

    assert done.sha256 == sha256
    assert 0 < done.resumed_from < CUT


def test_a_run_that_died_between_moving_and_saying_so_is_finished_without_a_request(
    fetch, sandbox, sha256, left, monkeypatch
):
    monkeypatch.setattr(parts.Part, "remove", _die)
    with pytest.raises(Died):
        fetch()
    monkeypatch.undo()

    done = fetch(2)

    assert (done.sha256, done.wire_bytes) == (sha256, 0)
    assert sandbox.books.count(service="files") == 1
    assert left() == []


def test_a_run_that_died_with_all_bytes_there_finishes_without_a_request(fetch, sha256, left, monkeypatch):
    monkeypatch.setattr(fetching, "move_into_place", _die)
    with pytest.raises(Died):
        fetch()
    monkeypatch.undo()

    done = fetch(2)

    assert (done.sha256, done.resumed_from, done.wire_bytes) == (sha256, 500_000, 0)
    assert left() == []


def test_a_cancelled_download_keeps_what_arrived(awaited, http, url, tmp_path, sandbox):
    sandbox.files.script(pause_seconds=0.02, times=1)

    async def give_up():
        task = asyncio.ensure_future(adownload(http, url, tmp_path, owner=LeaseKey("job", 1, "worker")))
        arrived = await asyncio.to_thread(_size_above, tmp_path, 0)
        task.cancel()
        await asyncio.wait([task])
        done = await adownload(http, url, tmp_path, owner=LeaseKey("job", 2, "worker"))
        assert arrived <= done.resumed_from < done.bytes

    awaited(give_up())


def _size_above(folder, least):
    """Wait until a part holds more than so many bytes."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        sizes = [path.stat().st_size for path in folder.glob("parts/*.part")]
        if max(sizes, default=0) > least:
            return max(sizes)
        time.sleep(0.002)
    raise AssertionError("nothing arrived")
