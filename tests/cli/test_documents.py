"""`haulwright doc`: documents from the command line."""

from __future__ import annotations

import hashlib
import io
import json
from contextlib import closing
from pathlib import Path

import pytest
from rich.console import Console

from haulwright import Haulwright
from haulwright.apps.documents import Documents
from haulwright.apps.documents.waiting import FileInFlight, draw_bars
from haulwright.sandbox import Sandbox

TENANT = ("--tenant", "acme")


@pytest.fixture
def outside(monkeypatch, tmp_path):
    """A host of files on loopback, and the settings that allow it."""
    monkeypatch.setenv("HAULWRIGHT_DOCUMENTS_PRIVATE_HOSTS", "127.0.0.1")
    monkeypatch.setenv("HAULWRIGHT_DOCUMENTS_HOST_RATE", "100000/min")
    monkeypatch.setenv("HAULWRIGHT_DOCUMENTS_FOLDER", str(tmp_path / "content"))
    with Sandbox(seed=7) as outside:
        yield outside


@pytest.fixture
def doc(haulwright, outside):
    """`haulwright doc ...` on a database that has its tables."""
    del outside
    haulwright("db", "migrate", "documents")
    return lambda *words: haulwright("doc", *words)


@pytest.fixture
def work(database_url):
    """Do what is due."""

    def run():
        with closing(Haulwright(database_url)) as app:
            Documents(app)
            return app.run_worker(queues=("documents",), until_empty=True, concurrency=2)

    return run


@pytest.fixture
def stored(doc, outside, work):
    """A document of acme that is fetched; its answer when it was added."""
    answer = doc("add", f"{outside.url}/files/report.pdf", *TENANT, "--title", "The annual report", "--json")
    assert answer.code == 0, answer.err
    work()
    return answer.json


def test_a_document_is_added_once_fetched_and_shown(doc, outside, stored):
    again = doc("add", f"{outside.url}/files/report.pdf", *TENANT, "--json").json
    assert (stored["created"], again["created"], again["job_id"]) == (True, False, stored["job_id"])

    for name in (stored["job_id"], stored["idempotency_key"], stored["canonical_url"]):
        shown = doc("status", name, *TENANT, "--json").json
        assert (shown["state"], shown["sha256"]) == ("INDEXED", outside.files.sha256("report.pdf"))
    assert doc("status", stored["job_id"]).code == 3


@pytest.mark.parametrize("by", ["hash", "beginning", "job_id", "idempotency_key", "canonical_url"])
def test_the_file_of_a_document_is_given_out(doc, outside, stored, tmp_path, by):
    sha256 = outside.files.sha256("report.pdf")
    name = {"hash": sha256, "beginning": sha256[:12]}.get(by) or stored[by]

    answer = doc("get", name, *TENANT, "--to", str(tmp_path / "out.pdf"))

    assert answer.code == 0, answer.err
    assert hashlib.sha256((tmp_path / "out.pdf").read_bytes()).hexdigest() == sha256


def test_a_file_goes_into_a_folder_under_the_name_of_its_address_and_over_nothing(doc, stored, tmp_path):
    name = stored["job_id"]

    assert doc("get", name, *TENANT, "--to", str(tmp_path)).code == 0
    assert (tmp_path / "report.pdf").is_file()
    assert doc("get", name, *TENANT, "--to", str(tmp_path)).code == 2
    assert doc("get", name, *TENANT, "--to", str(tmp_path), "--force").code == 0
    assert [path.name for path in tmp_path.glob(".*.part")] == []


def test_a_file_is_written_to_stdout_as_it_is(doc, outside, work):
    outside.files.put("tides.txt", b"High water at noon.\n")
    answer = doc("add", f"{outside.url}/files/tides.txt", *TENANT, "--json")
    work()

    assert doc("get", answer.json["job_id"], *TENANT).out == "High water at noon.\n"


def test_a_file_of_another_tenant_is_not_there(doc, outside, stored):
    for name in (outside.files.sha256("report.pdf"), stored["job_id"], stored["canonical_url"]):
        assert doc("get", name).code == 3


def test_a_file_that_is_damaged_is_not_given_out(doc, stored, tmp_path):
    place = Path(doc("get", stored["job_id"], *TENANT, "--json").json["path"])
    place.write_bytes(b"something else")

    answer = doc("get", stored["job_id"], *TENANT, "--to", str(tmp_path / "out.pdf"))

    assert (answer.code, "doc reconcile" in answer.err, (tmp_path / "out.pdf").exists()) == (4, True, False)


def test_a_document_that_has_not_come_yet_has_no_file(doc, outside):
    planned = doc("add", f"{outside.url}/files/report.pdf", *TENANT, "--json").json

    answer = doc("get", planned["job_id"], *TENANT)

    assert (answer.code, "it is PLANNED" in answer.err) == (2, True)


def test_a_search_shows_where_the_file_is_and_what_it_says(doc, outside, work):
    outside.files.put(
        "tides.txt", b"All about tides. " + b"Nothing here. " * 50 + b"The Harbour opens at noon. " + b"x " * 99
    )
    doc("add", f"{outside.url}/files/tides.txt", *TENANT)
    work()

    (hit,) = doc("search", "harb*", *TENANT, "--json").json["files"]

    assert "The Harbour opens at noon." in hit["passage"]
    assert (hit["passage"][:4], hit["passage"][-4:], len(hit["passage"]) < 200) == ("... ", " ...", True)
    assert Path(hit["path"]).read_bytes().startswith(b"All about tides.")
    assert "Harbour" in doc("search", "harb*", *TENANT).out


@pytest.mark.usefixtures("stored")
def test_a_search_that_finds_nothing_says_where_it_looked(doc):
    assert "None of the 1 documents of the tenant 'acme' has all of these words." in doc("search", "xyzzy", *TENANT).err
    assert "The tenant 'globex' has no documents." in doc("search", "annual", "--tenant", "globex").err


@pytest.mark.usefixtures("stored")
def test_a_document_is_found_by_its_words(doc, outside):
    (found,) = doc("search", "annual", "edit*", *TENANT, "--json").json["files"]

    assert (found["title"], found["type"]) == ("The annual report", "application/pdf")
    assert (found["source"], found["sha256"]) == (f"{outside.url}/files/report.pdf", outside.files.sha256("report.pdf"))
    assert doc("search", "annual", "--json").json["files"] == []
    assert doc("search", "*", *TENANT).code == 2


def test_a_manifest_is_imported_and_says_what_it_refused(doc, outside, work, tmp_path):
    manifest = tmp_path / "list.csv"
    manifest.write_text(
        f"url,name\n{outside.url}/files/a.txt,\nnothing,\n{outside.url}/files/b.txt,../../b\nhttp://10.0.0.1/c,\n"
    )

    told = doc("import", str(manifest), *TENANT, "--json").json
    work()

    assert (told["planned"], told["known"], told["refused"]) == (1, 0, 3)
    assert [one["line"] for one in told["refusals"]] == [3, 4, 5]
    standing = doc("status", *TENANT, "--json").json
    assert (standing["states"], standing["files"]) == ({"INDEXED": 1}, 1)
    assert "3 refused" in doc("import", str(manifest), *TENANT).out


def test_an_import_says_how_long_it_takes_to_be_polite(doc, outside, tmp_path, monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_DOCUMENTS_HOST_RATE", "60/min")
    manifest = tmp_path / "list.csv"
    manifest.write_text("url\n" + "".join(f"{outside.url}/files/{number}.txt\n" for number in range(100)))

    shown = doc("import", str(manifest), *TENANT).out
    told = doc("import", str(manifest), "--tenant", "globex", "--json").json

    host = outside.url.removeprefix("http://")
    assert f"Politeness: 100 documents of {host} at 60/min take at least 1 min 30 s." in shown
    assert told["politeness"] == {"host": host, "documents": 100, "rate": "60/min", "seconds": 90.0}


def test_a_token_in_an_address_is_not_shown(doc, outside):
    added = doc("add", f"{outside.url}/files/a.txt?token=hush-hush", *TENANT, "--json")
    told = [doc("status", *TENANT), doc("status", *TENANT, "--json"), doc("status", added.json["job_id"], *TENANT)]

    assert [one.code for one in told] == [0, 0, 0]
    assert "hush" not in "".join(one.out + one.err for one in [added, *told])


def test_people_read_tables(doc, stored):
    told = doc("status", *TENANT).out

    assert "INDEXED" in told
    assert "1 files" in told
    assert "The annual report" in doc("search", "report", *TENANT).out
    assert "sha256" in doc("status", stored["job_id"], *TENANT).out


@pytest.mark.usefixtures("stored")
def test_waiting_tells_how_it_ended(doc, outside, tmp_path):
    manifest = tmp_path / "list.jsonl"
    manifest.write_text(json.dumps({"url": f"{outside.url}/files/report.pdf"}))

    ended = doc("import", str(manifest), *TENANT, "--wait", "--json")
    late = doc("add", f"{outside.url}/files/other.pdf", *TENANT, "--wait", "--timeout", "0.01 s", "--json")

    assert (ended.code, ended.json["known"], ended.json["endings"]) == (0, 1, {})
    assert (late.code, late.error["code"]) == (75, "result_timeout")


def test_waiting_for_what_fails_fails(doc, outside, work):
    outside.faults.add("status", code=404, path="/files/gone.pdf", times=None)
    url = f"{outside.url}/files/gone.pdf"
    doc("add", url, *TENANT)
    work()

    answer = doc("add", url, *TENANT, "--wait", "--json")

    assert (answer.code, answer.json["endings"]) == (1, {"FAILED": 1})
    (failed,) = doc("status", *TENANT, "--state", "FAILED", "--json").json["documents"]
    assert failed["error_code"] == "rejected"


@pytest.mark.usefixtures("stored")
def test_files_are_verified_and_reconciled(doc, tmp_path, work):
    (path,) = [one for one in (tmp_path / "content" / "acme").rglob("*") if one.is_file()]
    assert doc("verify", *TENANT, "--json").json == {"files": 1, "wrong": []}
    path.write_bytes(b"damaged")

    wrong = doc("verify", *TENANT, "--json")
    dry = doc("reconcile", "--dry-run", "--json").json
    repaired = doc("reconcile", "--json").json
    work()

    assert (wrong.code, wrong.json["wrong"][0]["state"]) == (5, "damaged")
    assert (dry["counts"], repaired["counts"]) == ({"damaged_file": 1}, {"damaged_file": 1})
    assert repaired["findings"][0]["done"] == "fetched again"
    assert doc("verify", *TENANT).code == 0
    assert "0 findings" in doc("reconcile").out


@pytest.mark.parametrize(
    "words",
    [
        ("add", "ftp://x"),
        ("add", "http://169.254.169.254/latest/meta-data"),
        ("add", "https://a.example/x", "--sha256", "1"),
        ("import", "no.csv"),
    ],
)
def test_what_cannot_be_right_is_refused(doc, words):
    assert doc(*words).code == 2


def test_who_waits_at_a_terminal_sees_a_bar_for_each_file_and_one_for_all():
    console = Console(file=io.StringIO(), force_terminal=True, width=100)

    with draw_bars(console, total=4) as bars:
        bars.show(1, [FileInFlight("key", "slow.bin", 30, 40), FileInFlight("other", "gone.bin", 1, 2)])
        bars.show(3, [FileInFlight("key", "slow.bin", 40, 40)])

    shown = console.file.getvalue()
    assert all(word in shown for word in ("documents", "slow.bin", "75%", "100%"))
    assert shown.rindex("gone.bin") < shown.rindex("slow.bin")
