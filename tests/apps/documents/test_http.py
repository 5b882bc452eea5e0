"""Documents over HTTP: planned, searched, and given out whole or in parts, each tenant its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from haulwright.api.kit.files import disposition, read_range
from haulwright.engine.ids import new_id
from tests.apps.documents.scenes import World
from tests.support.api import Served, ask, problem, serving


@pytest.fixture
def served(world: World) -> Iterator[Served]:
    with serving(world.app) as served:
        yield served


@pytest.fixture
def body(stored) -> bytes:
    """What is in the file that is stored."""
    return stored[1].read_bytes()


def test_a_document_is_added_by_its_address_once_fetched_and_found_by_its_words(world, served):
    client = served.client()
    new = {"url": world.url("report-1.txt"), "title": "A report"}
    added, again = (client.post("/documents", json=new) for _ in range(2))
    planned = added.json()
    assert (added.status_code, added.headers["location"]) == (202, f"/api/v1/jobs/{planned['job_id']}")
    assert (again.json()["job_id"], planned["created"], again.json()["created"]) == (planned["job_id"], True, False)
    assert client.get(f"/documents/{planned['job_id']}").json()["state"] == "PLANNED"
    assert problem(client.get(f"/documents/{planned['job_id']}/file")) == (422, "refused")

    world.finish()

    standing = client.get(f"/documents/{planned['idempotency_key']}").json()
    assert standing["state"] == "INDEXED"
    assert client.get("/documents").json()["states"] == {"INDEXED": 1}
    (hit,) = client.get("/documents/search", params={"words": "report"}).json()["files"]
    assert (hit["title"], hit["sha256"]) == ("A report", standing["sha256"])
    assert "path" not in hit
    assert served.client("globex").get("/documents/search", params={"words": "report"}).json()["files"] == []


@pytest.mark.parametrize(
    ("media_type", "line"), [("text/csv; charset=utf-8", "{}"), ("application/json", '{{"url": "{}"}}')]
)
def test_a_manifest_that_is_sent_is_planned_and_says_which_lines_are_refused(world, served, media_type, line):
    client = served.client()
    urls = [world.url("a.txt"), "ftp://a.example/x", world.url("b.txt"), world.url("a.txt")]
    head = ["url"] if "csv" in media_type else []
    manifest = "\n".join([*head, *map(line.format, urls)])

    def send():
        headers = {"Content-Type": media_type}
        return client.post("/documents/manifests", content=manifest, headers=headers, params={"name": "list.csv"})

    first, second = send(), send().json()

    assert first.status_code == 202
    counts = ("planned", "known", "repeated", "refused")
    assert [first.json()[name] for name in counts] == [2, 0, 1, 1]
    assert [second[name] for name in counts] == [0, 2, 1, 1]
    assert first.json()["refusals"][0]["line"] == 2 + len(head)
    assert client.get("/documents").json()["states"] == {"PLANNED": 2}


def test_a_manifest_that_is_too_large_or_none_is_refused_and_nothing_is_planned(served, monkeypatch):
    monkeypatch.setattr("haulwright.api.kit.uploads.LARGEST_UPLOAD_BYTES", 1000)
    client = served.client()

    def send(content, **headers):
        return client.post("/documents/manifests", content=content, headers={"Content-Type": "text/csv", **headers})

    line = b"https://a.example/x\n"
    assert problem(send(b"url\n" + line * 100)) == (413, "too_large")
    assert problem(send(part for part in [b"url\n", *[line] * 100])) == (413, "too_large")
    assert problem(send(b"url\n" + line, **{"Content-Type": "text/html"})) == (422, "invalid_value")
    assert problem(client.post("/documents/manifests?name=../x", content=b"url", headers={"Content-Type": "text/csv"}))
    assert served.anonymous().post("/documents/manifests", content=b"url\n" + line).status_code == 401
    assert client.get("/documents").json()["states"] == {}


def test_a_file_is_given_out_whole_in_parts_and_not_again_to_who_has_it(served, stored, body):
    client = served.client()
    path = f"/documents/{stored[0].job_id}/file"
    whole = client.get(path)
    assert (whole.status_code, whole.content) == (200, body)
    assert whole.headers["content-disposition"].startswith('attachment; filename="report.txt"')
    assert (whole.headers["x-content-type-options"], whole.headers["content-type"]) == ("nosniff", "text/plain")
    mark = whole.headers["etag"]

    for text, start, end in (("bytes=0-9", 0, 10), ("bytes=5-", 5, len(body)), ("bytes=-7", len(body) - 7, len(body))):
        part = client.get(path, headers={"Range": text, "If-Range": mark})
        assert (part.status_code, part.content) == (206, body[start:end])
        assert part.headers["content-range"] == f"bytes {start}-{end - 1}/{len(body)}"

    beyond = client.get(path, headers={"Range": f"bytes={len(body)}-"})
    assert problem(beyond) == (416, "range_not_satisfiable")
    assert beyond.headers["content-range"] == f"bytes */{len(body)}"
    assert client.get(path, headers={"Range": "bytes=0-1", "If-Range": '"other"'}).content == body
    assert client.get(path, headers={"If-None-Match": mark}).status_code == 304
    assert client.get(f"/documents/{mark[1:13]}/file").content == body


def test_a_file_that_is_damaged_is_not_given_out(served, stored):
    client = served.client()
    path = f"/documents/{stored[0].job_id}/file"
    assert client.get(path).status_code == 200

    stored[1].chmod(0o600)
    stored[1].write_bytes(b"something else")

    assert problem(client.get(path, headers={"Range": "bytes=0-1"})) == (409, "conflict")


def test_a_page_that_somebody_published_is_never_shown_as_ours(world, served, stored):
    world.change("update documents_files set kind = 'text/html'")
    answer = served.client().get(f"/documents/{stored[0].job_id}/file")
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert "sandbox" in answer.headers["content-security-policy"]


ROUTES_WITH_AN_ID = (
    ("GET", "{job}", None),
    ("GET", "{job}/file", None),
    ("GET", "{key}/file", None),
    ("GET", "{sha}/file", None),
)


def test_what_is_anothers_looks_exactly_like_nothing(world, served, stored):
    foreign = {"job": stored[0].job_id, "key": stored[0].key, "sha": world.standing(stored[0])["sha256"]}
    absent = {"job": new_id(), "key": "a" * 64, "sha": "b" * 64}
    stranger = served.client("globex", **{"X-Request-Id": "r"})

    for route in ROUTES_WITH_AN_ID:
        assert ask(stranger, "/documents/", route, foreign) == ask(stranger, "/documents/", route, absent), route
        assert ask(stranger, "/documents/", route, absent)[0] == 404
        assert ask(served.support(), "/documents/", route, foreign)[0] == 200


def test_an_address_that_is_none_or_not_public_is_refused(served):
    client = served.client()
    for url in (
        "http://[",
        "http://[::1]/x",
        "file:///etc/passwd",
        "http://169.254.169.254/",
        "https://u:p@a.example/",
    ):
        assert problem(client.post("/documents", json={"url": url})) == (422, "invalid_value"), url
    answer = served.admin().post("/documents", json={"url": "https://a.example/"})
    assert problem(answer) == (422, "tenant_required")


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("", None), ("bytes=-", None), ("bytes=4-3", None), ("bytes=0-1,3-4", None), ("lines=0-1", None),
        ("bytes=" + "9" * 400 + "-", None), ("bytes=0-0", range(1)), ("bytes=9-99", range(9, 10)),
        ("bytes=-99", range(10)), ("bytes=-0", range(10, 10)), ("bytes=10-", range(10, 10)),
    ],
)  # fmt: skip
def test_a_range_is_read_as_the_standard_has_it(text, span):
    assert read_range(text, 10) == span


def test_no_name_of_a_file_ends_its_header():
    assert disposition('a"b\r\nSet-Cookie: x=1/..\\é.pdf') == (
        'attachment; filename="a_b_Set-Cookie_x_1_.._.pdf"; '
        "filename*=UTF-8''a%22b%0D%0ASet-Cookie%3A%20x%3D1%2F..%5C%C3%A9.pdf"
    )
