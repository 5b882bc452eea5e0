"""The brief over HTTP: feeds, events, and the brief of a day in every form that it has."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from haulwright.apps.brief.formats import FORMATS
from haulwright.apps.brief.routes import accepted_form
from tests.apps.brief.scenes import LONG, World, rss
from tests.support.api import Served, ask, problem, serving

ITEM = {
    "title": "A <script>quake</script> in Lisbon",
    "link": "https://n.example/1",
    "guid": "1",
    "at": datetime(2024, 1, 1, tzinfo=UTC),
    "description": "A strong quake hit Lisbon." + LONG,
}


@pytest.fixture
def served(world: World) -> Iterator[Served]:
    with serving(world.app) as served:
        yield served


@pytest.fixture
def day(world: World) -> str:
    """The day of a brief that tells of one event."""
    world.tell(rss(ITEM))
    world.cluster()
    return str(world.publish()["day"])


def test_a_feed_is_added_changed_read_and_removed(world, served):
    client = served.client()
    added = client.post("/brief/feeds", json={"url": f"{world.sandbox.url}/feeds/harbour-times.xml", "name": "Herald"})
    feed = added.json()
    assert (added.status_code, added.headers["location"]) == (201, f"/api/v1/brief/feeds/{feed['id']}")
    assert problem(client.post("/brief/feeds", json={"url": feed["url"]})) == (409, "conflict")
    changed = client.patch(f"/brief/feeds/{feed['id']}", json={"weight": 2}).json()
    assert (changed["name"], changed["weight"], changed["enabled"]) == ("Herald", 2.0, True)
    world.read()
    read = client.get(f"/brief/feeds/{feed['id']}").json()
    assert read["checked_at"] is not None

    titles = world.titles()
    assert client.delete(f"/brief/feeds/{feed['id']}").json() == {"tenant": "acme", "id": feed["id"]}
    assert problem(client.get(f"/brief/feeds/{feed['id']}")) == (404, "not_found")
    assert client.get("/brief/feeds").json() == {"feeds": [], "next": None}
    assert world.titles() == titles
    (event,) = [event for event in world.bench.store.events.latest() if event.name == "feed.removed"]
    assert (event.tenant, event.data["feed_id"]) == ("acme", feed["id"])


def test_the_brief_of_a_day_is_given_in_each_of_its_forms(world, served, day):
    client = served.client()
    document = world.brief.publishing.get("acme", day)
    assert client.get(f"/brief/{day}").json() == client.get("/brief/newest").json() == document
    assert client.get("/brief/events").json()["events"] == document["events"]
    assert [brief["day"] for brief in client.get("/brief/briefs").json()["briefs"]] == [day]

    for form, media_type in (("html", "text/html"), ("markdown", "text/markdown"), ("atom", "application/atom+xml")):
        by_query = client.get(f"/brief/{day}", params={"form": form})
        by_header = client.get(f"/brief/{day}", headers={"Accept": f"{media_type}, application/json;q=0.5"})
        assert by_query.text == by_header.text == FORMATS[form][0](document)
        assert by_query.headers["content-type"] == f"{media_type}; charset=utf-8"
        assert "sandbox" in by_query.headers["content-security-policy"]
        assert "<script>" not in by_query.text
        mark = {"If-None-Match": by_query.headers["etag"]}
        assert client.get(f"/brief/{day}", params={"form": form}, headers=mark).status_code == 304
    assert set(FORMATS) == {"html", "markdown", "atom", "json"}


@pytest.mark.parametrize(
    ("accept", "form"),
    [
        ("", "json"), ("*/*", "json"), ("text/html,application/xhtml+xml,*/*;q=0.8", "html"), ("image/png", "json"),
        ("text/html;q=0.3, text/markdown;q=0.9", "markdown"), ("text/html;q=0", "json"), ("text/html;q=x", "json"),
    ],
)  # fmt: skip
def test_the_form_is_the_one_that_the_caller_likes_best(accept, form):
    assert accepted_form(accept) == form


ROUTES_WITH_AN_ID = (
    ("GET", "feeds/{feed}", None),
    ("PATCH", "feeds/{feed}", {"name": "Mine"}),
    ("GET", "{day}", None),
    ("GET", "{day}?form=html", None),
    ("GET", "events?day={day}", None),
    ("DELETE", "feeds/{feed}", None),
)


def test_what_is_anothers_looks_exactly_like_nothing(world, served, day):
    (before,) = world.brief.feeds.all("acme")
    foreign, absent = {"feed": before.id, "day": day}, {"feed": "0" * 16, "day": "1999-01-01"}
    stranger, own = served.client("globex", **{"X-Request-Id": "r"}), served.client()

    for route in ROUTES_WITH_AN_ID:
        assert ask(stranger, "/brief/", route, foreign) == ask(stranger, "/brief/", route, absent), route
        assert ask(stranger, "/brief/", route, absent)[0] == 404, route
    assert stranger.get("/brief/briefs").json() == {"briefs": []}
    assert [*world.brief.feeds.all("acme")] == [before]

    for route in ROUTES_WITH_AN_ID:
        assert ask(own, "/brief/", route, foreign)[0] == 200, route


def test_feeds_are_listed_page_by_page_and_an_admin_sees_those_of_all(world, served):
    ids = [
        world.paper(paper, tenant)
        for paper, tenant in (("harbour-times", "acme"), ("daily-ledger", "acme"), ("harbour-times", "globex"))
    ]
    first = served.admin().get("/brief/feeds", params={"limit": 2}).json()
    second = served.admin().get("/brief/feeds", params={"limit": 2, "cursor": first["next"]}).json()
    assert [feed["tenant"] for feed in first["feeds"] + second["feeds"]] == ["acme", "acme", "globex"]
    assert sorted(feed["id"] for feed in served.client().get("/brief/feeds").json()["feeds"]) == sorted(ids[:2])
    assert problem(served.admin().get("/brief/newest")) == (422, "tenant_required")


def test_runs_are_for_who_runs_the_installation(served):
    assert problem(served.client().get("/brief/runs")) == (403, "forbidden")
    assert served.admin().get("/brief/runs", params={"job": "daily_brief"}).json() == {"job_runs": []}


def test_what_is_no_feed_or_no_day_is_refused(served):
    client = served.client()
    for url in ("http://[", "nothing", "file:///etc/passwd", "http://169.254.169.254/feed"):
        assert problem(client.post("/brief/feeds", json={"url": url})) == (422, "invalid_value"), url
    assert problem(client.get("/brief/2024-02-30")) == (422, "invalid_value")
    assert problem(client.get("/brief/yesterday")) == (422, "invalid_request")
    assert problem(client.get("/brief/newest", params={"form": "pdf"})) == (422, "invalid_request")
