"""Sources on their pages: whether the gate is open or what closes it, what of it is used, and who waits."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from haulwright.engine.source import source_limits
from tests.support.dashboard import Person

NAME = "shop/prices"
PAGE = "/ui/sources/shop%2Fprices"


@pytest.fixture(autouse=True)
def shop(served):
    """A source that allows little."""
    served.app.store.sources.declare(NAME, source_limits(rate="30/min", concurrency=2, budget=5000))


def line_of(person):
    return person.open(f"{PAGE}.json").answer.json()["line"]


def test_an_open_source_says_so_and_what_it_allows(admin):
    page = admin.open(admin.open("/ui/sources").all("tr[data-row] a")[0].attributes["href"])

    assert "It takes requests." in page.text
    assert "0 of 1,800" in page.text
    assert "30 a minute" in page.text
    assert "0 of 2" in page.text
    assert "0 of 5,000" in page.text
    assert "Nothing went through in the last hour." in page.text
    assert page.all('form[action$="/resume"]') == []


def test_a_pause_for_a_time_says_who_closed_it_why_and_until_when(served, admin):
    paused = admin.submit(admin.open(PAGE), "/pause", reason="they asked us to", **{"for": "10 min"})

    assert "is paused for 10 min" in paused.notice
    assert "Closed" in paused.all(".lead")[0].text()
    for words in ("it opens 20", "utc.", "paused by", "test-admin", "they asked us to"):
        assert words.lower() in paused.text.lower()
    assert "closed" in admin.open("/ui/sources").text
    resumed = admin.submit(paused, "/resume", reason="they are done")
    assert "takes requests again" in resumed.notice
    assert line_of(admin)["is_open"] is True
    reasons = [
        event.data["reason"]
        for event in served.app.operations().events.page(limit=50).rows
        if "source." in event.name and "reason" in event.data
    ]
    assert reasons == ["they asked us to", "they are done"]


def test_who_waits_for_a_source_stands_on_its_page(served, admin):
    ids = [served.app.operations().jobs.enqueue("add", {"a": number}, tenant="acme").id for number in range(12)]
    text = f"update haulwright_jobs set waiting_on = 'source:{NAME}:rate' where id <> '{ids[0]}'"  # noqa: S608 - a name of ours
    served.app.store.database.transact(lambda connection: connection.execute(text))

    page = admin.open(PAGE)

    assert [link.attributes["title"] for link in page.all("#waiting td a.id")] == ids[:1:-1]
    (everybody,) = [link for link in page.all("a") if link.text() == "All jobs that wait for it"]
    assert len(admin.open(everybody.attributes["href"]).all("tr[data-row]")) == 11


def test_traffic_of_the_last_hour_says_whether_it_is_the_source_that_is_slow(served, admin):
    now = served.app.store.now()
    figures = f"'{NAME}', {now // 60_000_000 - 1}, 900, 3, 2, 2048, 1000000, 1800000000"
    text = f"insert into haulwright_traffic values ({figures})"  # noqa: S608 - figures of ours
    served.app.store.database.transact(lambda connection: connection.execute(text))

    page = admin.open(PAGE)

    assert line_of(admin)["seconds_per_request"] == 2.0
    assert "900 of 1,800" in page.text
    assert (page.all("meter")[0].attributes["value"], page.all("meter")[0].attributes["max"]) == ("900", "1800")
    assert "1.0 MB" in page.text


def test_what_it_allows_is_changed_for_the_fleet_and_taken_back(admin):
    changed = admin.submit(admin.open(PAGE), "/limits", rate="6/min", concurrency="1", reason="they are slow")

    assert "is changed: concurrency, rate" in changed.notice
    assert (line_of(admin)["rate"], line_of(admin)["source"]["concurrency"]) == ("6 a minute", 1)
    assert "test-admin" in changed.text
    assert "as its code says" in admin.submit(changed, "/reset").notice
    assert line_of(admin)["rate"] == "30 a minute"


@pytest.mark.parametrize(
    "fields", [{}, {"rate": "often"}, {"concurrency": "two"}, {"burst": "3"}, {"enabled": "perhaps"}]
)
def test_words_that_make_no_sense_are_refused_on_the_page_they_came_from(admin, fields):
    page = admin.submit(admin.open(PAGE), "/limits", **fields)

    assert page.path == unquote(PAGE)
    assert page.all(".notice.refused") != []
    assert line_of(admin)["source"]["overridden"] == {}


def test_who_may_not_change_a_source_is_told_and_refused(served):
    for role, status in (("tenant", 403), ("support", 200), ("monitor", 200)):
        person = Person(served).log_in(role, None if role == "monitor" else "acme")
        page = person.open(PAGE)
        assert page.answer.status_code == status
        assert ("Pause: not allowed" in page.text) is (status == 200)
        for action in ("pause", "resume", "limits", "reset"):
            assert person.send(f"{PAGE}/{action}", {"rate": "1/min"}).answer.status_code == 403
    assert served.app.operations().sources.get(NAME).row.closing is None
