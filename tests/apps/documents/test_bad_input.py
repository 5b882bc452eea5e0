"""Servers that lie, files that change, disks that fill up: a clear record of the one, and the rest goes on."""

from __future__ import annotations

import errno
import os

import pytest

from haulwright.apps.documents import Item, fetching
from haulwright.errors import InvalidValue
from haulwright.operations.principal import Principal
from haulwright.sandbox.files.documents import pdf
from haulwright.sources.download.parts import Part
from tests.apps.documents.scenes import TENANT, World

SIZE = 400_000


@pytest.fixture
def large(sandbox):
    """A large file, and the hash that it should end up with."""
    return "large.bin", f"large.bin?size={SIZE}", sandbox.files.sha256("large.bin", SIZE)


def test_a_truncated_download_goes_on_where_it_stopped(world, large):
    name, address, sha256 = large
    world.sandbox.files.script(name=name, times=1, truncate_at=300_000)
    planned = world.add(address)

    world.finish()

    assert (world.state(planned), world.standing(planned)["sha256"]) == ("INDEXED", sha256)
    assert world.sandbox.files.bytes_sent(name) < 1.1 * SIZE


@pytest.mark.parametrize("lie", [{"ranges": "lying"}, {"ranges": "shifted"}, {"length_error": 50}])
def test_a_server_that_lies_about_ranges_or_length_is_caught(world, large, lie):
    name, address, sha256 = large
    world.sandbox.files.script(name=name, times=1, truncate_at=300_000)
    world.sandbox.files.script(name=name, times=1, **lie)
    planned = world.add(address)

    world.finish()

    assert world.standing(planned)["sha256"] == sha256, world.standing(planned)
    assert world.staged() == []


def test_a_file_that_changes_on_the_way_comes_whole_in_one_version(world, large):
    name, address, before = large
    world.sandbox.files.script(name=name, times=1, truncate_at=300_000)
    planned = world.add(address)
    world.bench.drain()

    world.sandbox.files.change(name)
    world.finish()

    assert world.standing(planned)["sha256"] == world.sandbox.files.sha256(name, SIZE) != before


def test_a_page_instead_of_a_pdf_is_a_dead_letter_that_says_so(world):
    world.sandbox.files.put("paper.pdf", b"<!DOCTYPE html><title>Please sign in</title>")
    bad, good = world.add("paper.pdf"), world.add("report.txt")

    world.bench.drain()

    standing = world.standing(bad)
    assert (standing["state"], standing["error_code"]) == ("FAILED", "wrong_kind")
    assert "application/pdf was asked for, and text/html came" in standing["error_message"]
    assert (world.state(good), len(world.stored()), world.staged()) == ("INDEXED", 1, [])


@pytest.mark.parametrize("name", ["paper.pdf", "paper"])
def test_a_pdf_that_begins_a_little_late_is_a_pdf(world, name):
    world.sandbox.files.put(name, b"\r\nX-Served-By: 7\r\n\r\n" + pdf(7, "paper.pdf", 1))
    planned = world.add(name)

    world.bench.drain()

    assert world.state(planned) == "INDEXED"
    assert [file.kind for file in world.documents.artifacts.search(TENANT, "paper edition")] == ["application/pdf"]


def test_a_text_about_pdf_is_a_text(world):
    world.sandbox.files.put("how.txt", b"A file that begins with %PDF-1.7 is read by many programs. " * 10)
    world.add("how.txt")

    world.bench.drain()

    assert [file.kind for file in world.documents.artifacts.search(TENANT, "programs")] == ["text/plain"]


def test_a_pdf_without_its_end_is_never_filed_although_the_server_says_that_this_is_all(world):
    world.sandbox.files.script(name="short.pdf", length_error=-40)
    planned = world.add("short.pdf")

    world.finish()

    assert (world.state(planned), world.job(planned).error_code) == ("FAILED", "truncated")
    assert (world.job(planned).attempts, world.stored(), world.staged()) == (5, [], [])


def test_a_file_that_is_shorter_than_head_announces_is_never_filed(world):
    world.sandbox.files.script(name="report.txt", ends_at=50, announced=False)
    planned = world.add("report.txt")

    world.finish()

    assert (world.state(planned), world.job(planned).error_code) == ("FAILED", "truncated")
    assert "50 bytes came, and the server announces" in world.standing(planned)["error_message"]
    assert (world.stored(), world.staged()) == ([], [])


def test_a_file_that_came_too_short_once_is_whole_the_next_time(world):
    world.sandbox.files.script(name="report.txt", ends_at=50, announced=False, times=2)
    planned = world.add("report.txt")

    world.finish()

    assert (world.state(planned), world.job(planned).attempts) == ("INDEXED", 2)
    assert [path.name for path in world.stored()] == [world.sandbox.files.sha256("report.txt")]


def test_a_file_that_became_shorter_between_the_look_and_the_download_is_filed(steps, monkeypatch):
    world = steps
    world.sandbox.files.put("report.txt", b"a long version. " * 100)
    planned = world.add("report.txt")
    download = fetching.adownload

    async def changed_meanwhile(*args, **options):
        world.sandbox.files.put("report.txt", b"a short version.")
        return await download(*args, **options)

    monkeypatch.setattr(fetching, "adownload", changed_meanwhile)
    world.finish()

    assert (world.state(planned), world.job(planned).attempts) == ("INDEXED", 1)


def test_what_the_manifest_says_of_a_length_counts_for_more_than_what_head_says(world):
    world.sandbox.files.script(name="report.txt", ends_at=50, announced=False)
    planned = world.add("report.txt", bytes=50)

    world.finish()

    assert world.state(planned) == "INDEXED"


def test_a_file_with_another_hash_than_the_manifest_says_is_never_filed(world):
    planned = world.add("a.bin", sha256="0" * 64)

    world.finish()

    assert (world.state(planned), world.job(planned).error_code) == ("FAILED", "corrupt")
    assert (world.stored(), world.staged()) == ([], [])


def test_a_full_disk_is_waited_for_and_nothing_half_written_stays(steps, large, monkeypatch):
    world, (_, address, sha256) = steps, large
    append = Part._append

    def full(part, data):
        if part.size + len(data) > 200_000:
            append(part, data[:100])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        append(part, data)

    monkeypatch.setattr(Part, "_append", full)
    planned = world.add(address)
    world.bench.drain()
    assert (world.job(planned).error_code, world.stored()) == ("disk_full", [])

    monkeypatch.setattr(Part, "_append", append)
    world.finish()

    assert world.standing(planned)["sha256"] == sha256
    assert world.staged() == []


@pytest.mark.parametrize(
    ("fault", "code"), [({"code": 404}, "rejected"), ({"code": 401}, "auth_failed"), ({"code": 410}, "rejected")]
)
def test_an_address_that_has_nothing_for_us_is_a_dead_letter(world, fault, code):
    world.sandbox.faults.add("status", path="/files/gone.pdf", times=None, **fault)
    planned = world.add("gone.pdf")

    world.bench.drain()

    assert (world.state(planned), world.job(planned).error_code) == ("FAILED", code)


def test_an_address_inside_is_refused_and_one_that_was_planned_before_is_not_gone_to(bench, sandbox, tmp_path):
    world = World.open(bench, sandbox, tmp_path / "content", private_hosts="")
    with pytest.raises(InvalidValue, match="HAULWRIGHT_DOCUMENTS_PRIVATE_HOSTS"):
        world.add("report.txt")
    (planned,) = world.documents._planning.plan(TENANT, [Item(world.url("report.txt"))])

    world.bench.drain()

    assert (world.state(planned), world.job(planned).error_code) == ("FAILED", "blocked")
    assert world.asked("report.txt") == 0


def test_a_file_that_is_larger_than_allowed_is_not_read_to_its_end(bench, sandbox, tmp_path):
    world = World.open(bench, sandbox, tmp_path / "content", largest_bytes=100_000)
    planned = world.add("large.bin?size=5000000")

    world.bench.drain()

    assert (world.state(planned), world.job(planned).error_code) == ("FAILED", "too_large")
    assert world.stored() == []


@pytest.mark.proves("ENQ-09", "ENQ-07", "IK-05")
def test_a_manifest_with_bad_and_repeated_lines_is_planned_once_and_on_record(world, tmp_path):
    listed = [world.url("a.txt"), "not an address", world.url("a.txt"), "../../secret", world.url("b.txt")]
    manifest = tmp_path / "list.csv"
    manifest.write_text("url\n" + "\n".join(listed))

    first = world.documents.take_in(Principal.of_tenant(TENANT), manifest)
    again = world.documents.take_in(Principal.of_tenant(TENANT), manifest)
    world.finish()

    assert dict(first.counts) == {"planned": 2, "refused": 2, "repeated": 1}
    assert dict(again.counts) == {"known": 2, "refused": 2, "repeated": 1}
    refusals = world.events("document.refused")
    assert sorted(event.data["line"] for event in refusals) == [3, 3, 5, 5]
    assert world.documents.artifacts.states(TENANT) == {"INDEXED": 2}


def test_a_length_that_no_file_has_spoils_only_its_own_line(world, tmp_path):
    manifest = tmp_path / "list.csv"
    sizes = {"a.txt": "99999999999999999999", "b.txt": str(2**63), "c.txt": ""}
    manifest.write_text("url,bytes\n" + "".join(f"{world.url(name)},{size}\n" for name, size in sizes.items()))

    manifest_import = world.documents.take_in(Principal.of_tenant(TENANT), manifest)

    assert dict(manifest_import.counts) == {"planned": 1, "refused": 2, "repeated": 0}
    assert all("bytes" in line.why for line in manifest_import.refused)


@pytest.mark.parametrize("mended", [{"sha256": True}, {"bytes": True}, {"type": True}], ids=str)
def test_what_a_newer_manifest_corrects_counts_until_the_document_is_there(world, mended):
    world.sandbox.files.put("a.bin", b"what it is" * 100)
    right = {"sha256": world.sandbox.files.sha256("a.bin"), "bytes": 1_000, "type": "text/plain"}
    wrong = {"sha256": "0" * 64, "bytes": 7, "type": "application/pdf"}
    (field,) = mended
    planned = world.add("a.bin", **{field: wrong[field]})
    world.bench.drain()
    assert world.stored() == []

    again = world.add("a.bin", **{field: right[field]})
    world.add("a.bin")
    if world.state(planned) == "FAILED":
        world.app.operations().dead_letters.requeue(again.job_id)
    world.finish()

    assert (again.job_id, world.state(planned)) == (planned.job_id, "INDEXED")


def test_a_second_import_downloads_nothing(world, tmp_path):
    manifest = tmp_path / "list.jsonl"
    manifest.write_text("".join(f'{{"url": "{world.url(f"{n}.txt")}"}}\n' for n in range(3)))
    world.documents.take_in(Principal.of_tenant(TENANT), manifest)
    world.finish()
    before = world.sandbox.books.count(service="files")

    again = world.documents.take_in(Principal.of_tenant(TENANT), manifest)
    world.finish()

    assert dict(again.counts)["known"] == 3
    assert world.sandbox.books.count(service="files") == before


def test_a_newer_signature_is_used_and_makes_no_second_job(world):
    world.sandbox.faults.add("status", code=503, containing="sig=old", times=None)
    first = world.add("a.bin?sig=old")
    world.bench.drain()

    second = world.add("a.bin?sig=new")
    world.finish()

    assert (second.job_id, second.created) == (first.job_id, False)
    assert world.state(first) == "INDEXED"
    assert "sig" not in str(world.standing(first))
