"""Events: the newest in pages, and those that come, by a cursor."""

from __future__ import annotations

import pytest

from haulwright import Haulwright, Principal
from haulwright.errors import InvalidValue
from haulwright.events import QUEUE_PAUSED, QUEUE_RESUMED, Event

app = Haulwright()
ACME = Principal.of_tenant("acme")
ADMIN = Principal.admin("root")


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


@pytest.fixture
def record(bench):
    """Write events of these tenants, in their order."""

    def write(*tenants: str, name: str = QUEUE_PAUSED) -> None:
        events = [Event(name, tenant, data={"queue": tenant, "reason": ""}) for tenant in tenants]
        bench.store.database.transact(lambda connection: bench.store.events.record(connection, events))

    return write


def tenants(page):
    return [event.tenant for event in page.rows]


def test_the_newest_come_first_a_page_at_a_time_each_in_the_order_of_what_happened(record):
    record("a", "b", "c", "d", "e")
    events = app.operations(ADMIN).events

    first = events.page(limit=2)
    second = events.page(after=first.next, limit=2)
    third = events.page(after=second.next, limit=2)

    assert [tenants(page) for page in (first, second, third)] == [["d", "e"], ["b", "c"], ["a"]]
    assert third.next is None


def test_a_tenant_sees_its_own_whatever_it_asks_for(record):
    record("acme", "globex")
    events = app.operations(ACME).events

    assert tenants(events.page(tenant="globex")) == ["acme"]
    assert tenants(events.follow(tenant="globex", after="0")) == ["acme"]
    assert tenants(events.follow(tenant="globex", last=5)) == ["acme"]


def test_a_follower_begins_with_the_last_ones_and_misses_none(record):
    record("a", "b", "c")
    events = app.operations(ADMIN).events

    first = events.follow(last=2)
    record("d")
    record("e", name=QUEUE_RESUMED)
    second = events.follow(after=first.next)
    third = events.follow(after=second.next)

    assert (tenants(first), tenants(second), tenants(third)) == (["b", "c"], ["d", "e"], [])
    assert third.next == second.next


def test_a_follower_of_one_name_hears_that_name(record):
    events = app.operations(ADMIN).events
    start = events.follow(name=QUEUE_RESUMED)
    record("a")
    record("b", name=QUEUE_RESUMED)

    assert tenants(events.follow(name=QUEUE_RESUMED, after=start.next)) == ["b"]


@pytest.mark.parametrize(
    "look",
    [
        lambda events: events.page(after="x"),
        lambda events: events.page(limit=0),
        lambda events: events.follow(after="9" * 40),
        lambda events: events.follow(last=-1),
        lambda events: events.follow(last=1001),
    ],
)
def test_what_no_page_can_be_is_refused(look):
    with pytest.raises(InvalidValue):
        look(app.operations(ADMIN).events)
