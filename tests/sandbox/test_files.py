from __future__ import annotations

import hashlib

import httpx2
import pytest

WHOLE = {"Accept-Encoding": "identity"}


def ranged(client, name, start, **headers):
    return client.get(f"/files/{name}", headers={**WHOLE, "Range": f"bytes={start}-", **headers})


def collect(answer, got):
    for piece in answer.iter_raw():
        got += piece


def sha256(body):
    return hashlib.sha256(body).hexdigest()


def test_a_file_is_the_same_every_time_and_of_the_size_that_was_asked_for(sandbox, client):
    first, second = (client.get("/files/a.bin?size=200000").content for _ in range(2))

    assert first == second
    assert (len(first), sha256(first)) == (200_000, sandbox.files.sha256("a.bin", 200_000))


def test_a_head_tells_what_a_get_would_bring(client):
    head, body = client.head("/files/a.bin?size=500"), client.get("/files/a.bin?size=500")

    assert head.content == b""
    assert all(head.headers[name] == body.headers[name] for name in ("Content-Length", "ETag", "Accept-Ranges"))


@pytest.mark.parametrize(
    ("asked", "start", "end"),
    [
        ("bytes=0-9", 0, 10),
        ("bytes=70000-", 70_000, 100_000),
        ("bytes=-5", 99_995, 100_000),
        ("bytes=5-9999999", 5, 100_000),
    ],
)
def test_a_range_is_exactly_the_part_of_the_whole(client, asked, start, end):
    whole = client.get("/files/a.bin?size=100000").content

    part = client.get("/files/a.bin?size=100000", headers={"Range": asked})

    assert part.status_code == 206
    assert part.headers["Content-Range"] == f"bytes {start}-{end - 1}/100000"
    assert part.content == whole[start:end]


def test_a_range_behind_the_end_cannot_be_satisfied(client):
    answer = client.get("/files/a.bin?size=100", headers={"Range": "bytes=100-"})

    assert (answer.status_code, answer.headers["Content-Range"]) == (416, "bytes */100")


def test_a_download_is_resumed_only_while_the_file_is_the_same(sandbox, client):
    etag = client.get("/files/a.bin").headers["ETag"]

    resumed = ranged(client, "a.bin", 10, **{"If-Range": etag})
    sandbox.files.change("a.bin")
    restarted = ranged(client, "a.bin", 10, **{"If-Range": etag})

    assert (resumed.status_code, restarted.status_code) == (206, 200)
    assert sha256(restarted.content) == sandbox.files.sha256("a.bin")


def test_a_weak_tag_never_allows_to_resume(sandbox, client):
    sandbox.files.script(tag="weak")
    etag = client.get("/files/a.bin").headers["ETag"]

    assert etag.startswith("W/")
    assert ranged(client, "a.bin", 10, **{"If-Range": etag}).status_code == 200


def test_what_the_client_has_is_not_sent_again(client):
    first = client.get("/files/a.bin")

    by_tag = client.get("/files/a.bin", headers={"If-None-Match": first.headers["ETag"]})
    by_date = client.get("/files/a.bin", headers={"If-Modified-Since": first.headers["Last-Modified"]})

    assert (by_tag.status_code, by_date.status_code, by_tag.content) == (304, 304, b"")


def test_a_download_that_breaks_can_be_finished_in_a_second_request(sandbox, client):
    sandbox.files.script(name="a.bin", truncate_at=40_000, times=1)
    got = bytearray()
    with client.stream("GET", "/files/a.bin", headers=WHOLE) as answer, pytest.raises(httpx2.RemoteProtocolError):
        collect(answer, got)

    rest = ranged(client, "a.bin", len(got)).content

    assert len(got) == 40_000
    assert sha256(got + rest) == sandbox.files.sha256("a.bin")
    assert sandbox.files.bytes_sent("a.bin") == 65_536


def test_a_host_can_be_without_ranges_or_lie_about_them(sandbox, client):
    for ranges in ("none", "shifted", "lying"):
        sandbox.files.script(ranges=ranges, times=1)
    whole = client.get("/files/a.bin", headers=WHOLE).content

    assert len(whole) == 65_536
    shifted, lying = ranged(client, "a.bin", 1000), ranged(client, "a.bin", 1000)

    assert shifted.headers["Content-Range"].startswith("bytes 500-")
    assert lying.headers["Content-Range"].startswith("bytes 1000-")
    assert lying.content == whole[: len(lying.content)]


def test_a_head_can_be_refused_or_lie(sandbox, client):
    sandbox.files.script(name="shy", head="refused")
    sandbox.files.script(name="liar", head="lying")

    assert client.head("/files/shy").status_code == 405
    assert client.head("/files/liar?size=1000").headers["Content-Length"] == "501"


def test_documents_can_be_opened(client):
    pdf, text = client.get("/files/reports/q2.pdf"), client.get("/files/reports/q2.txt")
    place = int(pdf.content.rsplit(b"startxref\n", 1)[1].split(b"\n")[0])

    assert (pdf.headers["Content-Type"], pdf.content[:8]) == ("application/pdf", b"%PDF-1.4")
    assert pdf.content[place : place + 4] == b"xref"
    assert text.text.startswith("Report on ")


def test_a_file_can_hold_given_bytes(sandbox, client):
    sandbox.files.put("mine", b"exactly this")

    assert client.get("/files/mine").content == b"exactly this"


def test_a_large_file_is_sent_without_being_held(sandbox, client):
    with client.stream("GET", "/files/huge?size=50000000000", headers=WHOLE) as answer:
        assert answer.headers["Content-Length"] == "50000000000"
        next(answer.iter_raw(1000))

    assert sandbox.files.bytes_sent("huge") < 50_000_000
