"""A file that was downloaded is whole, in its place, and leaves nothing else behind."""

from __future__ import annotations

import hashlib

import pytest

from haulwright.errors import AuthFailed, InvalidValue, Permanent, Retryable
from haulwright.sources.download import Corrupt, LeaseKey, adownload, content_path, look
from haulwright.sources.http import Limits, TooLarge


def test_a_file_lands_where_its_content_says(fetch, tmp_path, sha256, left):
    done = fetch(expected_sha256=sha256)

    assert done.path == tmp_path / sha256[:2] / sha256[2:4] / sha256
    assert hashlib.sha256(done.path.read_bytes()).hexdigest() == sha256 == done.sha256
    assert (done.bytes, done.wire_bytes, done.resumed_from) == (500_000, 500_000, 0)
    assert done.validator.startswith('"')
    assert left() == []


def test_a_file_that_is_there_already_is_not_fetched_again(fetch, sandbox, sha256):
    fetch(expected_sha256=sha256)

    again = fetch(job="another", expected_sha256=sha256)

    assert (again.bytes, again.wire_bytes) == (500_000, 0)
    assert sandbox.books.count(service="files") == 1


def test_a_file_that_rotted_in_its_place_is_fetched_anew(fetch, sha256):
    path = fetch().path
    path.write_bytes(b"x" * 500_000)

    fetch(job="another", expected_sha256=sha256)

    assert hashlib.sha256(path.read_bytes()).hexdigest() == sha256


def test_an_empty_file_is_a_file_too(awaited, http, sandbox, tmp_path):
    sandbox.files.put("empty", b"")

    done = awaited(adownload(http, f"{sandbox.url}/files/empty", tmp_path, owner=LeaseKey("job", 1, "worker")))

    assert (done.bytes, done.path.read_bytes()) == (0, b"")


@pytest.mark.parametrize("expected", [{"expected_sha256": "0" * 64}, {"expected_bytes": 499_999}])
def test_another_file_than_was_expected_is_caught_and_not_kept(fetch, tmp_path, left, expected):
    with pytest.raises(Corrupt):
        fetch(**expected)

    assert left() == []
    assert list(tmp_path.glob("??")) == []


@pytest.mark.parametrize(("code", "error"), [(404, Permanent), (403, AuthFailed), (503, Retryable)])
def test_a_refusal_has_the_class_of_its_status(fetch, sandbox, code, error):
    sandbox.faults.add("status", code=code)

    with pytest.raises(error):
        fetch()


def test_a_file_beyond_the_limits_is_not_fetched(fetch):
    with pytest.raises(TooLarge):
        fetch(limits=Limits(wire_bytes=1_000))


def test_a_file_that_the_server_compresses_is_refused(fetch, sandbox):
    sandbox.faults.add("status", code=200, headers={"Content-Encoding": "gzip"}, body="xxxx")

    with pytest.raises(Corrupt, match="compresses"):
        fetch()


def test_a_hash_that_is_none_is_refused_before_anything_is_asked(fetch, sandbox, tmp_path):
    with pytest.raises(InvalidValue):
        fetch(expected_sha256="../../etc")
    with pytest.raises(InvalidValue):
        content_path(tmp_path, "A" * 64)

    assert sandbox.books.count(service="files") == 0


@pytest.mark.parametrize(
    ("head", "bytes_", "resumable"), [("honest", 500_000, True), ("refused", 500_000, True), ("lying", 250_001, False)]
)
def test_a_look_is_a_hint_by_head_or_by_the_first_byte(http, url, sandbox, head, bytes_, resumable):  # noqa: PLR0913, PLR0917 - a table
    sandbox.files.script(head=head)

    hint = look(http, url)

    assert (hint.bytes, hint.resumable) == (bytes_, resumable)


def test_a_lying_head_does_not_disturb_a_download(fetch, sandbox, sha256):
    sandbox.files.script(head="lying")

    assert fetch().sha256 == sha256
