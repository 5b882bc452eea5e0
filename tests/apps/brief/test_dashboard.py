"""The brief in the dashboard: how feeds are, the brief of a day as readers see it, and why it ranks as it does."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.apps.brief.scenes import LONG, World, rss
from tests.support.api import Served
from tests.support.application_pages import HOSTILE, notice, require_roles, require_same_absence, require_text_only
from tests.support.dashboard import Person, people

DAY_SECONDS = 86_400


def item(title: str, link: str = "https://n.example/1") -> dict:
    at = datetime(2024, 1, 1, tzinfo=UTC)
    return {"title": title, "link": link, "guid": title[:20], "at": at, "description": f"{title}. {LONG}"}


@pytest.fixture
def walled() -> bool:
    """The database is as `db migrate` leaves it."""
    return True


@pytest.fixture
def served(world: World) -> Iterator[Served]:
    with people(world.app) as served:
        yield served


@pytest.fixture
def acme(served: Served) -> Person:
    return Person(served).log_in("tenant", "acme")


@pytest.fixture
def day(world: World) -> str:
    """The day of a brief that tells of one event."""
    world.tell(rss(item("A quake in Lisbon")))
    world.cluster()
    return str(world.publish()["day"])


def test_pages_open_for_who_may_read_and_are_there_as_json(served, day):
    require_roles(served, ["/ui/brief", f"/ui/brief/days/{day}", "/ui/brief/days/newest"])


def test_the_navigation_names_the_brief_below_applications(acme):
    (group,) = acme.open("/ui/brief").all("nav ul[aria-label=Applications]")
    (link,) = group.css("a[aria-current=page]")

    assert (link.text(), link.attributes["href"]) == ("Brief", "/ui/brief")


def test_an_empty_page_says_what_to_type(acme):
    page = acme.open("/ui/brief")

    assert "haulwright brief add https://example.org/feed.xml --tenant acme" in page.text
    assert "No brief is published yet" in page.text
    assert "haulwright brief publish --tenant acme" in acme.open("/ui/brief/days/newest").text


def test_a_feed_that_failed_says_so_and_why(world, acme):
    world.sandbox.files.put("bad.xml", b"<html>We moved</html>")
    feed = world.add_feed(f"{world.sandbox.url}/files/bad.xml")
    world.brief.fetch_task.using(tenant="acme").enqueue(feed)
    world.bench.drain()

    (row,) = acme.open("/ui/brief").all(f"#feed-{feed}")
    (shown,) = acme.open("/ui/brief.json").answer.json()["feeds"]

    assert shown["failures"] == 1
    assert "failed once" in row.text()
    assert shown["last_error"].split()[0] in row.text()


def test_the_brief_of_a_day_is_told_with_its_articles_and_why_it_ranks_so(world, acme, day):
    document = world.brief.publishing.get("acme", day)
    page = acme.open(f"/ui/brief/days/{day}")
    (event,) = page.all(".events > li")

    assert acme.open(f"/ui/brief/days/{day}.json").answer.json()["brief"] == document
    assert [link.attributes["href"] for link in event.css("h2 a, .reports a")] == ["https://n.example/1"] * 2
    assert document["events"][0]["why"] in page.text
    assert f"Score{document['events'][0]['score']:g}" in "".join(event.css_first(".why").text().split())
    formats = [str(link.attributes["href"]) for link in page.all(".forms a")]
    assert formats == [f"/api/v1/brief/{day}?form={form}" for form in ("html", "markdown", "json", "atom")]
    for address in formats:
        assert acme.client.get(address).status_code == 200


def test_days_lead_to_the_days_before_and_after(world, acme, day):
    world.bench.clock.advance(DAY_SECONDS)
    world.tell(rss(item("A strike in Porto", "https://n.example/2")))
    world.cluster()
    later = world.publish()["day"]

    assert [link.text() for link in acme.open("/ui/brief").all("#briefs a")] == [later, day]
    (before,) = acme.open("/ui/brief/days/newest").all("a[rel=prev]")
    assert before.attributes["href"] == f"/ui/brief/days/{day}"
    (after,) = acme.open(f"/ui/brief/days/{day}").all("a[rel=next]")
    assert after.attributes["href"] == f"/ui/brief/days/{later}"


@pytest.mark.usefixtures("day")
def test_an_admin_sees_the_feeds_of_all_and_the_brief_of_whom_it_names(world, served):
    world.paper("harbour-times", "globex")
    admin = Person(served).log_in("admin")

    everywhere = admin.open("/ui/brief")
    whose = {link.text(): link.attributes["href"] for link in everywhere.all("#feeds td a")}
    assert whose == {"acme": "/ui/brief?tenant=acme", "globex": "/ui/brief?tenant=globex"}
    assert "Briefs are each tenant's own" in everywhere.text
    assert "Briefs are each tenant's own" in admin.open("/ui/brief/days/newest").text
    (link,) = admin.open(str(whose["acme"])).all("#briefs a")
    assert "A quake in Lisbon" in admin.open(str(link.attributes["href"])).text


def test_what_is_anothers_looks_exactly_like_nothing(served, day):
    require_same_absence(served, "/ui/brief/days/{}", day, "1999-01-01")
    assert "Lisbon" not in Person(served).log_in("tenant", "globex").open("/ui/brief").answer.text


def test_hostile_text_is_text(world, acme):
    world.tell(rss(item(HOSTILE, "javascript:alert(1)")), name="x.xml")
    world.cluster()
    day = world.publish()["day"]
    (feed,) = world.brief.feeds.all("acme")
    world.brief.feeds.change("acme", feed.id, name="<script>alert(1)</script>")

    require_text_only(acme.open(f"/ui/brief/days/{day}"))
    require_text_only(acme.open("/ui/brief"))


def test_feeds_are_read_and_switched_from_the_page_by_their_tenant_alone(world, served, acme):
    world.paper("harbour-times")
    (feed,) = world.brief.feeds.all("acme")
    page = acme.open("/ui/brief")
    assert "1 feeds wait to be read" in notice(acme.submit(page, "/ui/brief/ingest"))

    left_alone = acme.submit(page, f"/ui/brief/feeds/{feed.id}/switch")

    assert "is left alone" in notice(left_alone)
    assert not world.brief.feeds.get("acme", feed.id).enabled
    stranger = Person(served).log_in("tenant", "globex")
    stranger.send(f"/ui/brief/feeds/{feed.id}/switch", {"enabled": "true"})
    stranger.send(f"/ui/brief/feeds/{feed.id}/switch?tenant=acme", {"enabled": "true"})
    assert not world.brief.feeds.get("acme", feed.id).enabled
