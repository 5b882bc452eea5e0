"""Collecting: one job for each intake and source, its points and its valuation in one transaction."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from haulwright.engine.transitions import State
from haulwright.errors import DuplicateMismatch, NotFound, Refused
from haulwright.sources.http import Policy
from tests.apps.prices.scenes import TENANT, WHO, html_rules, listed


def result(job):
    return json.loads(job.result)


def asked(world):
    """How often the shops were asked for a page."""
    return len(world.sandbox.books.requests(path="/shop/*"))


def test_every_listing_of_a_shop_becomes_a_point_with_its_exact_price(world):
    world.source()
    intake = world.intake(year="1887")

    (job,) = world.collect(intake)

    truth = {one.id: one.price for one in world.sandbox.shop.pieces("coinhall") if "Ardish crown" in one.title}
    found = {one.dedupe_key.rpartition("_")[2]: one.minor for one in world.points(intake)}
    assert (job.state, job.source) == (State.SUCCEEDED, "price-coinhall@acme")
    assert found == truth
    assert result(job) == {
        "pages": 1, "offers": len(truth), "points": len(truth), "changed": 0, "quarantined": 0, "valuation": 1,
        "notes": [],
    }  # fmt: skip


def test_pages_for_people_are_read_as_well_whatever_they_write_prices_like(world):
    for shop, currency, mark in (("muenzkontor", "EUR", ","), ("collectors-row", "USD", ".")):
        world.prices.sources.put(TENANT, shop, html_rules(world.sandbox.url, shop, currency, mark))
    intake = world.intake("Quillan ducat")

    world.collect(intake)

    for shop, currency in (("muenzkontor", "EUR"), ("collectors-row", "USD")):
        truth = sorted(one.price for one in world.sandbox.shop.pieces(shop) if "Quillan ducat" in one.title)
        assert sorted(one.minor for one in world.points(intake) if one.currency == currency) == truth


@pytest.mark.parametrize("sold_at", [None, "last spring"], ids=["no date", "no readable date"])
def test_a_sale_without_a_readable_date_is_one_point_for_good(world, sold_at):
    world.page(cache=0)
    intake = world.intake()
    for _ in range(4):
        world.answer("odd", listed(id="7", sold_at=sold_at), listed(id="8", status="ask", sold_at=None))
        world.collect(intake)
        world.bench.advance("24 h")

    points = [(one.price_type, one.day) for one in world.points(intake)]
    assert [day for kind, day in points if kind == "sold"] == ["2026-09-01"]  # when it was first seen
    assert len(points) == 1 + 4


@pytest.mark.parametrize("listing_id", ["7", None], ids=["with an id", "without an id"])
def test_a_sale_whose_date_can_be_read_later_is_the_same_sale_and_another_price_is_another(world, listing_id):
    world.page(cache=0)
    intake = world.intake()
    for sold_at, amount in (("last spring", "40.00"), ("2026-08-01", "40.00"), ("2026-08-02", "55.00")):
        world.answer("odd", listed(id=listing_id, sold_at=sold_at, amount=amount))
        world.collect(intake)
        world.bench.advance("24 h")

    assert [(one.day, one.minor) for one in world.points(intake)] == [("2026-08-02", 5500), ("2026-08-01", 4000)]


def test_every_step_of_a_collection_is_in_the_stream_in_its_order(world):
    world.source()
    intake = world.intake()

    (job,) = world.collect(intake)

    stream = [event for event in world.app.store.events.latest() if event.job_id == job.id]
    assert [event.name for event in stream] == ["job.queued", "job.started", "job.completed"]
    assert {event.data["intake_id"] for event in stream} == {intake.intake_id}
    assert stream[-1].data["points"] == len(world.points(intake))


def test_a_listing_goes_on_over_its_pages_up_to_the_limit(world):
    world.source(max_pages=2)
    intake = world.intake("1", attributes={"kind": "everything"})

    (job,) = world.collect(intake, query_params={"title": ""})

    assert result(job)["pages"] == 2
    assert result(job)["offers"] == 40


def test_there_is_one_job_for_each_enabled_source_and_no_second_while_it_is_active(world):
    world.source("coinhall")
    world.source("collectors-row")
    world.prices.sources.enable(TENANT, world.source("muenzkontor").name, enabled=False)
    intake = world.intake()

    first = world.prices.collect(WHO, intake.intake_id)
    again = world.prices.collect(WHO, intake.intake_id)

    assert [one.created for one in first + again] == [True, True, False, False]
    assert {one.id for one in first} == {one.id for one in again}
    with pytest.raises(DuplicateMismatch):
        world.prices.collect(WHO, intake.intake_id, query_params={"year": "1888"})


@pytest.mark.proves("CB-05")
def test_a_disabled_source_is_not_collected_from(world):
    world.source()
    intake = world.intake()
    (made,) = world.prices.collect(WHO, intake.intake_id)
    world.prices.sources.enable(TENANT, "coinhall", enabled=False)

    world.bench.drain()

    assert asked(world) == 0
    assert world.bench.store.listing.get(made.id).waiting_on == "source:price-coinhall@acme:disabled"
    with pytest.raises(Refused, match="is disabled"):
        world.prices.collect(WHO, intake.intake_id, sources=["coinhall"])
    world.prices.sources.enable(TENANT, "coinhall", enabled=True)
    world.bench.advance("25 h")
    world.bench.drain()
    assert world.bench.store.listing.get(made.id).state is State.SUCCEEDED


def test_an_address_inside_is_not_gone_to_where_it_is_allowed_no_more(world):
    world.source()
    world.prices.sources._policy = Policy()
    world.prices.sources._doors.clear()

    (job,) = world.collect(world.intake())

    assert (job.state, job.error_code, asked(world)) == (State.DEAD, "blocked", 0)


def test_what_there_is_not_is_refused(world):
    with pytest.raises(NotFound):
        world.prices.collect(WHO, "nothing")
    with pytest.raises(Refused, match="no source"):
        world.prices.collect(WHO, world.intake().intake_id)


def test_every_intake_of_a_tenant_is_collected_for(world):
    world.source()
    for title in ("Ardish crown", "Quillan ducat", "Vantry sixpence"):
        world.intake(title)
    world.intake(tenant="globex")

    assert world.prices.collect_all(WHO) == 3
    assert world.prices.collect_all(WHO) == 0


def test_a_collection_with_a_query_of_its_own_stands_and_keeps_nobody_else_waiting(world):
    world.source()
    first = world.intake()
    for title in ("Quillan ducat", "Vantry sixpence"):
        world.intake(title)
    (standing,) = world.prices.collect(WHO, first.intake_id, query_params={"year": "1888"})

    assert (standing.created, world.prices.collect_all(WHO)) == (True, 2)


@pytest.mark.proves("CA-02")
@pytest.mark.parametrize(
    ("other", "requests"),
    [({}, 1), ({"mintmark": "KN"}, 2), ({"attributes": {"metal": "silver"}}, 2), ({"tenant": "globex"}, 2)],
)
def test_only_the_same_question_of_the_same_tenant_shares_an_answer(world, other, requests):
    for tenant in ("acme", "globex"):
        world.source(tenant=tenant)
    world.collect(world.intake())

    world.collect(world.intake(**other))

    assert asked(world) == requests


def test_a_new_parser_asks_anew(world):
    world.source()
    intake = world.intake()
    world.collect(intake)
    rules = dict(world.prices.sources.get(TENANT, "coinhall").raw_rules)
    world.prices.sources.put(TENANT, "coinhall", {**rules, "listing": {**rules["listing"], "version": 2}})

    world.collect(intake)

    assert asked(world) == 2


@pytest.mark.parametrize("moment", [{"before": "points"}, {"after": "points"}, {"after": "page"}, {"after": "claim"}])
def test_a_crash_at_any_moment_leaves_each_point_once_and_one_valuation(world, moment):
    world.source()
    intake = world.intake()
    (made,) = world.prices.collect(WHO, intake.intake_id)

    with world.bench.crash(world.prices.collect_task, **moment):
        world.bench.drain()
    world.bench.advance("10 min")
    world.bench.drain()

    truth = [one for one in world.sandbox.shop.pieces("coinhall") if "Ardish crown" in one.title]
    assert world.bench.store.listing.get(made.id).state is State.SUCCEEDED
    assert len(world.points(intake)) == len(truth)
    assert (world.valued(intake).version, world.valued(intake).valuation) == (
        1,
        world.prices.valuations.recompute(intake),
    )


def test_a_run_that_goes_on_after_midnight_writes_what_the_day_before_has_seen(world):
    world.page()
    intake = world.intake()
    world.answer("odd", listed(status="for_sale", sold_at=None))
    world.prices.collect(WHO, intake.intake_id)

    with world.bench.crash(world.prices.collect_task, before="points"):
        world.bench.drain()
    world.bench.advance("1 day")
    world.bench.drain()

    assert [one.day for one in world.points(intake)] == ["2026-09-01"]


def test_an_answer_that_was_kept_over_midnight_is_no_observation_of_the_new_day(world):
    world.bench.freeze(datetime(2026, 9, 1, 23, 50, tzinfo=UTC))
    world.page()
    intake = world.intake()
    world.answer("odd", listed(status="for_sale", sold_at=None))
    world.collect(intake)
    world.bench.advance("20 min")

    (job,) = world.collect(intake)

    assert (job.state, asked(world)) == (State.SUCCEEDED, 1)
    assert [(one.day, one.observed_at) for one in world.points(intake)] == [("2026-09-01", 1_788_306_600_000_000)]


def test_a_later_price_is_one_more_observation_and_the_valuation_follows(world):
    world.page(cache="1 s")
    intake = world.intake()
    for amount in ("42.00", "39.00"):
        world.answer("odd", listed(status="for_sale", sold_at=None, amount=amount))
        world.collect(intake)
        world.bench.advance("1 day")

    assert [one.minor for one in world.points(intake)] == [3900, 4200]
    assert [one.valuation.centre for one in world.prices.valuations.versions(TENANT, intake.intake_id)] == [3900, 4200]


@pytest.mark.proves("RL-04", "RL-05")
def test_a_source_is_asked_no_more_often_than_its_rate_allows(world):
    world.source(rate="1/min")
    for number in range(3):
        world.intake(attributes={"lot": str(number)})
    world.prices.collect_all(WHO)

    counts = []
    for _ in range(3):
        world.bench.drain()
        counts.append(asked(world))
        world.bench.advance("1 min")

    assert counts == [1, 2, 3]


def test_a_server_that_asks_for_patience_burns_no_attempt(world):
    world.page()
    intake = world.intake()
    world.answer_text("odd", "", code=429, headers={"Retry-After": "120"})
    world.answer("odd", listed())

    (job,) = world.collect(intake)
    assert (job.state, job.attempts) == (State.QUEUED, 0)
    world.bench.advance("121 s")
    world.bench.drain()

    done = world.bench.store.listing.get(job.id)
    assert (done.state, done.attempts) == (State.SUCCEEDED, 1)


@pytest.mark.proves("RT-05", "RT-10")
def test_a_failing_server_is_asked_again_after_one_minute_doubling_five_times_in_all(world):
    world.page(breaker=None)
    intake = world.intake()
    for _ in range(5):
        world.answer_text("odd", "", code=503)
    (job,) = world.collect(intake)

    waits = []
    while job.state is State.QUEUED:
        waits.append((job.run_at - world.bench.clock.now()) // 60_000_000)
        world.bench.advance(f"{waits[-1]} min")
        world.bench.drain()
        job = world.bench.store.listing.get(job.id)

    assert waits == [1, 2, 4, 8]
    assert (job.state, job.attempts, job.reason) == (State.DEAD, 5, "attempts_exhausted")
    assert world.points(intake) == []


def test_a_page_that_is_gone_is_a_dead_letter_at_once(world):
    world.page()

    (job,) = world.collect(world.intake())

    assert (job.state, job.attempts) == (State.DEAD, 1)


@pytest.mark.proves("CB-01", "CB-02", "CB-03")
def test_five_failures_in_a_row_close_a_source_and_its_jobs_wait_without_burning_attempts(world):
    world.page()
    for number in range(6):
        world.intake(attributes={"lot": str(number)})
        world.answer_text("odd", "", code=503)

    world.prices.collect_all(WHO)
    world.bench.drain()

    ((streak, paused),) = world.rows("select failure_streak, paused_until is not null from sources")
    assert (streak, bool(paused)) == (5, True)
    waiting = "select count(*) from scrape_jobs where status = 'pending' and attempts = 0"
    assert world.rows(waiting) == [(1,)]


def test_robots_are_obeyed_where_the_rules_say_so(world):
    world.source(robots=True, url=f"{world.sandbox.url}/shop/coinhall/private?q={{title}}")

    (job,) = world.collect(world.intake())

    assert (job.state, "robots.txt" in (job.error_message or "")) == (State.DEAD, True)
