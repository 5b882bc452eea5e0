"""A published brief can be taken back and its day published anew; what was published stays on record."""

from __future__ import annotations

import pytest

from haulwright.errors import Forbidden, InvalidValue, NotFound
from haulwright.operations.principal import Principal
from tests.apps.brief.scenes import LONG, rss
from tests.apps.principals import ACME

SUPPORT = Principal.support("sam", tenant="acme", reason="a feed was hacked")
TODAY = "2024-01-01"


def story(number):
    return {
        "title": f"Story {number}",
        "link": f"https://a.example/{number}",
        "guid": f"{number}",
        "description": f"Part {number}." + LONG,
    }


@pytest.fixture
def published(world):
    """A brief of today about one article."""
    world.tell(rss(story(1)))
    world.cluster()
    world.publish()
    return world


def test_a_brief_that_was_withdrawn_is_gone_and_can_be_published_anew(published):
    withdrawn = published.brief.withdraw(SUPPORT, TODAY)

    assert (withdrawn.day, withdrawn.edition, withdrawn.articles) == (TODAY, 1, 1)
    with pytest.raises(NotFound):
        published.brief.get_brief(ACME, TODAY)
    assert published.brief.list_briefs(ACME) == []

    published.tell(rss(story(1), story(2)))
    published.cluster()
    document = published.publish(day=TODAY)
    assert (document["day"], document["articles"]) == (TODAY, 2)
    assert [(brief.day, brief.edition) for brief in published.brief.list_briefs(ACME)] == [(TODAY, 2)]
    assert published.rows("select day, edition from brief_briefs order by edition") == [(TODAY, 1), (TODAY, 2)]


def test_a_withdrawal_is_an_event_with_who_and_why(published):
    published.brief.withdraw(SUPPORT, TODAY)

    (event,) = published.bench.store.events.latest(name="brief.withdrawn")
    assert (event.tenant, event.actor, event.data["reason"]) == ("acme", SUPPORT.actor, "a feed was hacked")
    assert (event.data["day"], event.data["edition"]) == (TODAY, 1)


def test_only_the_newest_brief_can_be_withdrawn_and_each_once(published):
    published.tell(rss(story(1), story(2)))
    published.cluster()
    published.bench.advance("1 day")
    published.publish()

    with pytest.raises(InvalidValue, match="before the newest brief, of 2024-01-02"):
        published.brief.withdraw(SUPPORT, TODAY)
    published.brief.withdraw(SUPPORT, "2024-01-02")
    with pytest.raises(NotFound):
        published.brief.withdraw(SUPPORT, "2024-01-02")
    published.brief.withdraw(SUPPORT, TODAY)


def test_a_tenant_withdraws_nothing_by_itself_and_support_nothing_of_another(published):
    with pytest.raises(Forbidden):
        published.brief.withdraw(ACME, TODAY)
    with pytest.raises(NotFound):
        published.brief.withdraw(Principal.support("sam", tenant="globex", reason="so"), TODAY)

    assert published.brief.get_brief(ACME, TODAY)["day"] == TODAY
