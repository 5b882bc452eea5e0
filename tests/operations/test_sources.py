"""Sources: staff sees how they stand; only an admin closes or changes one for everybody."""

from __future__ import annotations

import pytest

from haulwright import events
from haulwright.clock import SECOND
from haulwright.engine.source import source_limits
from haulwright.errors import Forbidden, InvalidValue, NotFound, Refused
from tests.operations.fleet import ACME, ADMIN, SUPPORT, SYSTEM, app

KEY = "shop.example"


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)
    app.store.sources.declare(KEY, source_limits(rate="30/min", concurrency=2))


@pytest.mark.parametrize("principal", [ADMIN, SUPPORT, SYSTEM])
def test_staff_sees_what_a_source_allows_and_how_it_stands(principal):
    sources = app.operations(principal).sources
    (listed,) = sources.page().rows
    source = sources.get(KEY)

    assert listed.row.key == source.row.key == KEY
    assert (source.row.figures.per_minute, source.row.figures.concurrency) == (30, 2)
    assert (source.row.closing, source.traffic) == (None, None)


def test_a_tenant_sees_no_sources():
    for look in (lambda sources: sources.page(), lambda sources: sources.get(KEY)):
        with pytest.raises(Forbidden):
            look(app.operations(ACME).sources)


def test_sources_come_in_pages():
    app.store.sources.declare("files", source_limits())
    sources = app.operations(ADMIN).sources
    first = sources.page(limit=1)

    assert [source.row.key for source in first.rows] == ["files"]
    assert [source.row.key for source in sources.page(after=first.next, limit=1).rows] == [KEY]


def test_a_pause_says_who_and_why_and_a_resume_opens_again():
    sources = app.operations(ADMIN).sources
    sources.pause(KEY, seconds=60)

    row = sources.get(KEY).row
    assert (row.closing.gate, row.paused_by, row.paused_reason) == ("paused", "admin:root", "maintenance")
    assert (sources.resume(KEY), sources.resume(KEY)) == (True, False)
    assert sources.get(KEY).row.closing is None


def test_an_override_in_words_holds_over_the_code_until_it_is_reset():
    sources = app.operations(ADMIN).sources
    changed = sources.override(KEY, rate="6/min", burst=3, breaker="none", budget="100", concurrency=1, enabled=False)

    figures = changed.row.figures
    assert (figures.per_minute, figures.burst, figures.budget, figures.concurrency) == (6, 3, 100, 1)
    assert (bool(figures.enabled), figures.breaker_failures) == (False, None)
    assert changed.row.overridden_by == "admin:root"

    assert sources.reset(KEY).row.figures.per_minute == 30


def test_an_interval_between_two_requests_leaves_no_burst():
    sources = app.operations(ADMIN).sources
    sources.override(KEY, rate="60/min", burst=10)

    figures = sources.override(KEY, min_interval="2 s").row.figures

    assert (figures.min_interval_us, figures.burst) == (2 * SECOND, 1)


@pytest.mark.parametrize("change", [{"rate": "often"}, {"budget": "-3"}, {"concurrency": 0}, {"burst": 3}])
def test_words_that_make_no_sense_are_refused_and_change_nothing(change):
    with pytest.raises(InvalidValue):
        app.operations(ADMIN).sources.override(KEY, **change)

    assert app.operations(ADMIN).sources.get(KEY).row.overridden == {}


def test_a_change_of_nothing_is_refused():
    with pytest.raises(Refused):
        app.operations(ADMIN).sources.override(KEY)


@pytest.mark.parametrize("principal", [ACME, SUPPORT, SYSTEM])
@pytest.mark.parametrize("act", ["pause", "resume", "override", "reset"])
def test_who_is_no_admin_changes_no_source_for_everybody(principal, act):
    words = {"rate": "1/min"} if act == "override" else {}
    with pytest.raises(Forbidden):
        getattr(app.operations(principal).sources, act)(KEY, **words)

    row = app.store.sources.get(KEY)
    assert (row.overridden, row.closing) == ({}, None)
    assert len(app.store.events.latest(name=events.REQUEST_REFUSED)) == 1


def test_a_source_that_nobody_declared_is_not_found():
    with pytest.raises(NotFound):
        app.operations(ADMIN).sources.get("nobody")


def test_the_events_of_a_change_and_a_resume_say_who_and_why():
    sources = app.operations(ADMIN).sources
    sources.override(KEY, rate="1/min")
    sources.pause(KEY)
    sources.resume(KEY)

    for name in (events.SOURCE_CHANGED, events.SOURCE_PAUSED, events.SOURCE_RESUMED):
        (event,) = app.store.events.latest(name=name)
        assert (event.actor, event.data["reason"]) == ("admin:root", "maintenance")
