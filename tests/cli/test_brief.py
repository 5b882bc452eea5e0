"""`haulwright brief`: feeds, events and briefs from the command line."""

from __future__ import annotations

import json
import sys
import time
from contextlib import closing

import pytest

from haulwright.engine.settlement import Settlement, resolve_loss
from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.stores.store import Store

PAPERS = ("harbour-times", "northern-post", "daily-ledger")


@pytest.fixture(scope="module")
def outside():
    """Papers on loopback, at a moment when they have something to tell."""
    with Sandbox(seed=7, clock=SandboxClock.standing(time.time())) as outside:
        yield outside


@pytest.fixture
def brief(haulwright, outside, monkeypatch):
    """`haulwright brief ...` on a database that has its tables."""
    monkeypatch.setenv("HAULWRIGHT_BRIEF_PRIVATE_HOSTS", "127.0.0.1")
    monkeypatch.delitem(sys.modules, "haulwright.apps.brief.worker", raising=False)  # it has read its settings once
    outside.reset()
    haulwright("db", "migrate", "brief")
    return lambda *words, **more: haulwright("brief", *words, **more)


@pytest.fixture
def filled(brief, outside):
    """Three papers, read and gathered into events."""
    for paper in PAPERS:
        assert brief("add", f"{outside.url}/feeds/{paper}.xml", "--name", paper).code == 0
    brief("ingest")
    brief("cluster")
    return brief


def test_from_a_feed_to_the_brief_of_the_day(brief, outside, tmp_path):
    added = brief("add", f"{outside.url}/feeds/harbour-times.xml", "--name", "Harbour", "--weight", "2", "--json").json
    read = brief("ingest", "--json").json
    placed = brief("cluster", "--json").json
    published = brief("publish", "--folder", str(tmp_path / "out"), "--json").json

    assert (added["name"], added["weight"]) == ("Harbour", 2.0)
    assert (read["feeds"], read["read"], read["failed"]) == (1, 1, 0)
    assert placed["articles"] == read["new"] > 0
    assert sorted(path.rpartition(".")[2] for path in published["files"]) == ["atom", "html", "json", "md"]
    shown = brief("show", "--json").json
    assert shown == json.loads((tmp_path / "out" / f"brief-{published['day']}.json").read_text("utf-8"))
    assert shown["events"][0]["headline"] in brief("show").out.replace("\\", "")


def test_reading_again_brings_nothing(filled):
    again = filled("ingest", "--json").json

    assert (again["unchanged"], again["new"]) == (3, 0)
    assert "3 unchanged" in filled("ingest").out


def test_a_brief_is_shown_in_each_format_and_written_to_a_file(filled, tmp_path):
    filled("publish")

    assert filled("show", "--format", "html").out.startswith("<!doctype html>")
    assert "<feed" in filled("show", "--format", "atom").out
    filled("show", "--format", "html", "--output", str(tmp_path / "brief.html"))
    assert (tmp_path / "brief.html").read_text("utf-8").startswith("<!doctype html>")


def test_publishing_twice_says_that_there_is_nothing_new(filled):
    first, again = filled("publish", "--json").json, filled("publish", "--json").json

    assert (first["published"], again["published"]) == (True, False)
    assert "Nothing new" in filled("publish").out
    assert [one["day"] for one in filled("list", "--briefs", "--json").json["briefs"]] == [first["day"]]


def test_feeds_are_listed_changed_and_switched_off(brief, outside):
    feed = brief("add", f"{outside.url}/feeds/harbour-times.xml", "--json").json["id"]

    brief("set", feed, "--off", "--weight", "3")

    (listed,) = brief("list", "--json").json["feeds"]
    assert (listed["enabled"], listed["weight"]) == (False, 3.0)
    assert feed in brief("list").out
    assert brief("set", feed).code == 2
    assert brief("set", "nobody", "--on").code == 3


def test_a_feed_that_fails_is_listed_with_why(brief, outside):
    brief("add", f"{outside.url}/feeds/odd/page.xml")

    told = brief("ingest")

    assert "1 failed" in told.out
    (failing,) = brief("list", "--failing", "--json").json["feeds"]
    assert (failing["failures"], "HTML page" in failing["last_error"]) == (1, True)


def test_feeds_are_imported_from_a_list(brief, tmp_path):
    file = tmp_path / "feeds.opml"
    file.write_text(
        '<opml><body><outline text="A" xmlUrl="https://a.example/f"/><outline xmlUrl="ftp://b"/></body></opml>'
    )

    made = brief("import-opml", str(file), "--json").json

    assert (len(made["added"]), [one["url"] for one in made["refused"]]) == (1, ["ftp://b"])
    file.write_text("<html/>")
    assert brief("import-opml", str(file)).code == 2


def test_tenants_have_feeds_of_their_own(brief, outside):
    brief("add", f"{outside.url}/feeds/harbour-times.xml", "--tenant", "acme")

    assert brief("list", "--json").json == {"feeds": []}
    refused = brief("ingest", "--json")
    assert (refused.code, refused.error["hint"]) == (2, "Add one with: haulwright brief add URL")


def test_a_private_address_is_refused_with_the_way_to_allow_it(brief, monkeypatch):
    monkeypatch.delenv("HAULWRIGHT_BRIEF_PRIVATE_HOSTS")

    refused = brief("add", "http://127.0.0.1:9/feed", "--json")

    assert (refused.code, refused.error["code"]) == (2, "invalid_value")
    assert "HAULWRIGHT_BRIEF_PRIVATE_HOSTS=127.0.0.1" in refused.error["hint"]


def test_reading_can_be_left_to_a_worker(brief, outside):
    brief("add", f"{outside.url}/feeds/harbour-times.xml")

    left = brief("ingest", "--no-wait", "--json").json

    assert len(left["jobs"]) == 1
    assert brief("list", "--json").json["feeds"][0]["checked_at"] is None


def test_a_brief_is_withdrawn_with_a_reason_and_published_anew(filled):
    day = filled("publish", "--json").json["day"]

    assert filled("withdraw", day).code == 2
    withdrawn = filled("withdraw", day, "--reason", "a feed was hacked", "--json").json
    assert (withdrawn["day"], withdrawn["edition"]) == (day, 1)
    assert filled("show", day).code == 3
    assert filled("publish", "--day", day, "--json").json["published"] is True
    assert [brief["edition"] for brief in filled("list", "--briefs", "--json").json["briefs"]] == [2]


def test_retention_counts_first_and_then_removes(filled):
    assert filled("retention", "--dry-run", "--json").json == {
        "brief_articles": 0,
        "brief_links": 0,
        "rows": 0,
        "dry_run": True,
    }
    assert filled("retention", "--json").json == {"brief_articles": 0, "brief_links": 0, "rows": 0, "dry_run": False}


def test_a_brief_that_is_not_there_is_not_found_and_a_bad_day_refused(brief):
    assert brief("show").code == 3
    assert brief("show", "2024-01-01").code == 3
    assert brief("show", "yesterday").code == 2
    assert brief("publish", "--day", "2999-01-01").code == 2
    assert brief("publish", "--json").error["hint"].startswith("First: haulwright brief ingest")


def test_runs_are_listed_in_the_words_of_the_document(brief):
    assert brief("runs", "--json").json == {"job_runs": []}
    assert brief("runs", "--job", "rss_ingestion").code == 0
    assert brief("runs", "--limit", "0").code == 2


def test_a_reading_whose_process_died_is_finished_by_the_next_command(brief, outside, database_url):
    brief("add", f"{outside.url}/feeds/harbour-times.xml")
    brief("ingest", "--no-wait")
    with closing(Store.open(database_url)) as store:
        (lease,) = store.leases.claim("00000000-0000-7000-8000-000000000000", ["brief"], 1)
        assert store.settlements.settle([Settlement(lease, resolve_loss(lease))])

    told = brief("ingest", "--json").json

    assert (told["read"], told["waiting"]) == (1, 0)
