"""Schedules on their pages: what they owe, what became of it, and what people open by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.support.dashboard import Person

NAME = "hourly/berlin"
PAGE = "/ui/schedules/hourly%2Fberlin"


@pytest.fixture
def app(app):
    """With one schedule of acme, in a zone with summer time."""
    app.schedule(NAME, "0 * * * *", app.tasks["add"], args={"a": 1}, tz="Europe/Berlin", tenant="acme", overlap="allow")
    return app


@pytest.fixture
def yesterday():
    """The first moment of a range of three slots, by the clocks of Berlin, long enough ago."""
    return datetime(2026, 5, 1, 6, tzinfo=UTC) + timedelta(hours=2)


def range_of(first, hours):
    return f"{PAGE}/backfill?first={first:%Y-%m-%dT%H:%M}&last={first + timedelta(hours=hours):%Y-%m-%dT%H:%M}"


def test_a_schedule_foretells_its_next_runs_in_its_own_zone(admin):
    (row,) = admin.open("/ui/schedules").all("tr[data-row]")
    assert "not declared yet" in row.text()
    page = admin.open(row.css_first("a").attributes["href"])
    data = admin.open(f"{PAGE}.json").answer.json()
    assert len(data["upcoming"]) == 5
    assert {slot["local"][-6:] for slot in data["upcoming"]} <= {"+01:00", "+02:00"}
    assert data["upcoming"][0]["local"].replace("T", " ") in page.text
    assert "No slot has come due yet" in page.text


def test_a_backfill_says_what_each_slot_would_become_before_it_opens_any(served, admin, yesterday):
    schedules = served.app.operations().schedules
    taken = schedules.trigger(NAME, int(datetime(2026, 5, 1, 7, tzinfo=UTC).timestamp()) * 1_000_000)

    preview = admin.open(range_of(yesterday, 3))

    data = admin.open(preview.path.replace("/backfill?", "/backfill.json?")).answer.json()
    assert [(slot["local"][-5:], slot["disposition"], slot["becomes"]) for slot in data["slots"]] == [
        ("08:00", None, "opened"),
        ("09:00", "manual", "left alone"),
        ("10:00", None, "opened"),
        ("11:00", None, "opened"),
    ]
    assert "3 of 4 slots would be opened" in preview.text
    assert len(schedules.slots(NAME).rows) == 1

    done = admin.submit(preview, "/backfill/open", reason="the shop was closed")

    assert "3 slots of hourly/berlin opened" in done.notice
    slots = schedules.slots(NAME).rows
    assert sorted(slot.disposition for slot in slots) == ["backfilled"] * 3 + ["manual"]
    assert taken in {slot.job_id for slot in slots}
    assert "0 of 4 slots would be opened" in admin.open(range_of(yesterday, 3)).text


def test_a_range_that_cannot_be_is_told_beside_it(admin):
    for query, words in (
        ("first=2026-05-02T00:00&last=2026-05-01T00:00", "begins after its end"),
        ("first=2026-05-02T00:00&last=2999-05-01T00:00", "is in the future"),
        ("first=2020-05-02T00:00&last=2026-05-01T00:00", "more than 1000 slots"),
        ("first=soon&last=2026-05-01T00:00", "is no time"),
    ):
        page = admin.open(f"{PAGE}/backfill?{query}")
        assert (page.answer.status_code, words in page.text) == (200, True)
    assert admin.open("/ui/schedules/nothing/backfill?first=a&last=b").answer.status_code == 404


def test_a_slot_is_opened_by_hand_by_the_clocks_of_its_zone(served, admin):
    page = admin.open(PAGE)

    landed = admin.submit(page, "/trigger", scheduled_for="2026-05-01T09:00", reason="once more")

    assert landed.path.startswith("/ui/jobs/")
    (slot,) = served.app.operations().schedules.slots(NAME).rows
    assert slot.scheduled_for == int(datetime(2026, 5, 1, 7, tzinfo=UTC).timestamp()) * 1_000_000
    again = admin.submit(page, "/trigger", scheduled_for="2026-05-01T09:00")
    assert again.all(".notice.refused") != []
    assert slot.job_id in again.answer.text


def test_slots_stand_in_a_calendar_with_a_word_each_and_missed_ones_can_be_opened(served, admin):
    schedules = served.app.operations().schedules
    schedules.pause(NAME)
    back = "update haulwright_schedules set opened_until = opened_until - 7200000000"
    served.app.store.database.transact(lambda connection: connection.execute(back))
    served.app.store.schedules.open_due(NAME)

    page = admin.open(PAGE)

    (first, second) = page.all(".strip .slots li")
    assert "skipped: paused" in first.text()
    assert "skipped: paused" in second.text()
    opened = admin.submit(
        page, "/trigger", scheduled_for=page.all("td form input[name=scheduled_for]")[0].attributes["value"]
    )
    assert opened.path.startswith("/ui/jobs/")
    assert {slot.disposition for slot in schedules.slots(NAME).rows} == {"manual", "skipped_paused"}


def test_a_schedule_is_paused_and_resumed_with_who_and_why(served, admin):
    paused = admin.submit(admin.open(PAGE), "/pause", reason="a holiday")

    assert "Paused" in paused.text
    assert "test-admin" in paused.text
    assert "fires again" in admin.submit(paused, "/resume", reason="back").notice
    events = served.app.operations().events.page(limit=50).rows
    assert [event.data["reason"] for event in events if event.name in {"schedule.paused", "schedule.resumed"}] == [
        "a holiday",
        "back",
    ]


def test_a_tenant_sees_its_own_schedules_and_changes_none(served):
    person, stranger = (Person(served).log_in("tenant", tenant) for tenant in ("acme", "globex"))

    page = person.open(PAGE)
    assert "Pause: not allowed to the role tenant" in page.text
    assert "Open a slot: not allowed to the role tenant" in page.text
    assert "Backfill: not allowed" in person.open(f"{PAGE}/backfill?first=2026-05-01T00:00&last=2026-05-01T03:00").text
    for action in ("pause", "resume", "trigger", "backfill/open"):
        fields = {"scheduled_for": "2026-05-01T09:00", "first": "2026-05-01T00:00Z", "last": "2026-05-01T03:00Z"}
        assert person.send(f"{PAGE}/{action}", fields).answer.status_code == 403
        assert (
            served.app.operations().events.page(name="request.refused").rows[-1].data["verb"]
            == f"schedule.{action.partition('/')[0]}"
        )
    assert "No schedule yet" in stranger.open("/ui/schedules").text
    for path in (PAGE, f"{PAGE}/backfill"):
        assert stranger.open(path).answer.status_code == 404
