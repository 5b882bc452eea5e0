"""Answers that change, and sources that go."""

from __future__ import annotations

import pytest

from haulwright.errors import Conflict, Forbidden, InvalidValue, NotFound
from tests.apps.brands.scenes import ACME, SIX, SUPPORT, connect, count, rows, runs_of


def test_answers_are_changed_added_and_forgotten_and_the_next_compile_knows_them(brands, brand, settle):
    connect(brands, brand)
    brands.compile(ACME, brand.id)
    settle()

    changed = brands.update(ACME, brand.id, name="Acme Ltd", answers={"mission": "Tea.", "tone": "dry", "gone": None})
    again = brands.update(ACME, brand.id, answers={"tone": None})
    brands.compile(ACME, brand.id)
    settle()

    assert (changed.name, changed.answers) == ("Acme Ltd", {"mission": "Tea.", "tone": "dry"})
    assert brands.get(ACME, brand.id) == again
    assert again.answers == {"mission": "Tea."}
    first, second = (brands.snapshot(ACME, brand.id, number)["sections"]["identity"] for number in (1, 2))
    assert ["worth the walk" in text(first), text(second)] == [True, "Mission: Tea."]
    assert [event.data["questions"] for event in brands.app.store.events.latest(name="brand.updated")] == [
        ["gone", "mission", "tone"], ["tone"],
    ]  # fmt: skip


def text(statements):
    return statements[0]["text"]


def test_a_change_that_makes_no_sense_changes_nothing(brands, brand):
    for changes in ({"name": ""}, {"answers": {"x": "y" * 300_000}}):
        with pytest.raises(InvalidValue if "name" in changes else ValueError):
            brands.update(ACME, brand.id, **changes)

    assert brands.get(ACME, brand.id) == brand


def test_a_source_goes_with_what_it_found_and_the_snapshot_stays(brands, brand, settle, sandbox):
    sandbox.apify.script(broken=2)
    posts, videos = connect(brands, brand, SIX[0], SIX[2], settings={"cap": 10})
    compiled = brands.compile(ACME, brand.id)
    settle()

    gone = brands.disconnect(ACME, posts.id)

    assert gone > 20
    assert [each.id for each in brands.connections(ACME, brand.id)] == [videos.id]
    assert (runs_of(brands, posts), len(brands.evidence(ACME, brand.id, [posts.id, videos.id]))) == ([], 10)
    assert len(brands.compile_run(ACME, compiled.id).evidence_status["refreshed"]) == 2
    assert brands.snapshot(ACME, brand.id)["evidence"]
    (event,) = brands.app.store.events.latest(name="brand.source_removed")
    assert event.data == {"connection_id": posts.id, "rows": gone}
    for forgotten in (brands.connection, brands.disconnect):
        with pytest.raises(NotFound):
            forgotten(ACME, posts.id)
    assert connect(brands, brand)[0].id != posts.id


def test_removing_a_source_stops_its_run_and_lets_the_compile_go_on(brands, brand, sandbox, bench, settle):
    sandbox.apify.script(actor="apify~instagram-post-scraper", ending="NEVER")
    posts, videos = connect(brands, brand, SIX[0], SIX[2])
    compiled = brands.compile(ACME, brand.id)
    bench.drain()
    brands.disconnect(ACME, posts.id)
    settle()

    run = brands.compile_run(ACME, compiled.id)
    assert (run.status, [each["connection_id"] for each in run.evidence_status["refreshed"]]) == (
        "succeeded", [videos.id],
    )  # fmt: skip
    assert sorted(each.status(sandbox.clock.now()) for each in sandbox.apify.runs()) == ["ABORTED", "SUCCEEDED"]
    assert count(brands, "brands_runs") == 1


def test_a_source_that_is_being_removed_is_not_connected_and_gets_nothing_written(brands, brand, bench):
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    bench.drain(limit=1)
    brands.tables.write("disconnection.mark", tenant=connection.tenant, connection_id=connection.id)
    bench.drain()

    with pytest.raises(Conflict, match="being removed"):
        connect(brands, brand)
    assert (count(brands, "brands_runs"), rows(brands, "select 1 from brands_raw_items")) == (0, [])


def test_what_cannot_be_had_again_is_not_removed_by_support(brands, brand):
    (connection,) = connect(brands, brand)

    with pytest.raises(Forbidden):
        brands.disconnect(SUPPORT, connection.id)
    assert brands.update(SUPPORT, brand.id, name="Corrected").name == "Corrected"
