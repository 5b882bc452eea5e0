"""Tokens of ours are known by the whole of them until their end, and strangers are counted in few events."""

from __future__ import annotations

from contextlib import closing

from haulwright import Haulwright
from haulwright.clock import SECOND, SettableClock
from haulwright.errors import DatabaseUnavailable
from haulwright.operations import strangers
from tests.api.conftest import serving


def test_a_token_of_ours_is_known_by_the_whole_of_it(served):
    token = served.app.operations().tokens.create("program", tenant="acme").token
    other = served.app.operations().tokens.create("other", tenant="acme").token
    begin, _, _ = token.rpartition("_")
    assert served.anonymous(Authorization=f"Bearer {token}").get("/jobs").status_code == 200
    for wrong in (f"{begin}_{other.rpartition('_')[2]}", f"{begin}_", begin, token[:-1], f"{token}x"):
        assert served.anonymous(Authorization=f"Bearer {wrong}").get("/jobs").status_code == 401, wrong


def test_a_token_of_ours_is_not_known_after_its_end(database_url, tmp_path):
    clock = SettableClock(tmp_path / "clock")
    clock.set(2_000_000_000 * SECOND)
    app = Haulwright(database_url, clock=clock)
    app.operations().schema.migrate()
    with closing(app), serving(app) as served:
        token = app.operations().tokens.create("program", tenant="acme", expires_in=60).token
        client = served.anonymous(Authorization=f"Bearer {token}")
        assert client.get("/jobs").status_code == 200

        clock.set(2_000_000_061 * SECOND)
        served.api.state.reception._authenticators[0]._known.clear()  # what it saw a moment ago

        assert client.get("/jobs").status_code == 401


def test_a_token_of_ours_is_known_where_the_database_takes_no_writes(postgres_url):
    """As on a replica, from which lists are read."""
    with closing(Haulwright(postgres_url)) as app:
        app.operations().schema.migrate()
        token = app.operations().tokens.create("program", tenant="acme").token
    with (
        closing(Haulwright(f"{postgres_url}%20-c%20default_transaction_read_only%3Don")) as app,
        serving(app) as served,
    ):
        client = served.anonymous(Authorization=f"Bearer {token}")

        assert [client.get(path).status_code for path in ("/jobs", "/overview", "/events")] == [200, 200, 200]


def test_a_token_was_not_used_before_it_was_made(database_url, tmp_path):
    """Uses are noted to the minute, and a token is mostly tried in the minute in which it was made."""
    clock = SettableClock(tmp_path / "clock")
    clock.set(2_000_000_000 * SECOND)
    app = Haulwright(database_url, clock=clock)
    app.operations().schema.migrate()
    with closing(app):
        token = app.operations().tokens.create("program", tenant="acme").token

        strangers.find_token(app, token)

        (row,) = app.store.api_tokens.page().rows
    assert row.last_used_at == row.created_at


def test_a_token_of_ours_that_was_revoked_is_one_that_nobody_knows(served, monkeypatch):
    monkeypatch.setattr("haulwright.api.auth.api_tokens.REMEMBERED_SECONDS", 0.0)
    client = served.client(**{"X-Request-Id": "r"})
    assert client.get("/jobs").status_code == 200

    tokens = served.app.operations().tokens
    tokens.revoke(tokens.page().rows[0].prefix)

    refused = client.get("/jobs")
    assert refused.status_code == 401
    assert refused.text == served.anonymous(**{"X-Request-Id": "r"}).get("/jobs").text


def test_strangers_leave_an_event_now_and_then_with_how_many_they_were(served, monkeypatch):
    monkeypatch.setattr(strangers, "EVENT_EVERY_SECONDS", 3600)
    stranger = served.anonymous(Authorization="Bearer nobody-knows-this")
    answers = [stranger.get("/jobs") for _ in range(3)]
    (event,) = served.app.operations().events.page(name="request.refused").rows
    assert (event.actor, event.data["verb"], event.data["count"]) == ("nobody", "authenticate", 1)
    assert event.data["request_id"] == answers[0].headers["x-request-id"]
    assert "nobody-knows-this" not in str(event)

    served.api.state.reception._strangers._next = 0.0  # the time is over
    stranger.get("/jobs")

    *_, last = served.app.operations().events.page(name="request.refused").rows
    assert last.data["count"] == 3


def test_strangers_that_cannot_be_written_down_are_counted_with_the_next(served, monkeypatch):
    monkeypatch.setattr(strangers, "EVENT_EVERY_SECONDS", 0)
    database = type(served.app.own_store.database)

    def down(*_args, **_options):
        raise DatabaseUnavailable("the disk is full", hint="")

    with monkeypatch.context() as patch:
        patch.setattr(database, "transact", down)
        assert {served.anonymous().get("/jobs").status_code for _ in range(3)} == {401}
    served.anonymous().get("/jobs")

    (event,) = served.app.operations().events.page(name="request.refused").rows
    assert event.data["count"] == 4
