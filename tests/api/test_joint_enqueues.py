"""Enqueues that arrive together are written together; each is answered as if it had come alone."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from haulwright import Observer
from haulwright.engine.job import Enqueued
from haulwright.errors import DatabaseUnavailable
from haulwright.operations.jobs import NewCall
from haulwright.operations.joint_enqueues import CallOfRequest, enqueue_jointly
from haulwright.operations.principal import Principal
from haulwright.stores.postgres.connection import PostgresDatabase
from tests.runtime.waiting import eventually

PATIENCE_SECONDS = 30


class Held:
    """Holds the first group that is written until the others are there."""

    def __init__(self, monkeypatch, app):
        self.sizes: list[int] = []
        self.may_go = threading.Event()
        self.has_begun = threading.Event()
        grouped = type(app.own_store.grouped_enqueues)
        write = grouped._write

        def held(own, requests):
            self.sizes.append(len(requests))
            self.has_begun.set()
            assert self.may_go.wait(PATIENCE_SECONDS)
            return write(own, requests)

        monkeypatch.setattr(grouped, "_write", held)


def post(client, **body):
    return client.post("/jobs", json={"task": "add", **body})


def known_client(served, tenant="acme"):
    """Somebody whose token was looked up a moment ago: while the database is held, nobody could."""
    client = served.client(tenant)
    assert client.get("/tasks").status_code == 200
    return client


def wait_for_company(served, count):
    eventually(lambda: len(served.api.state.joint_enqueues._waiting) == count)


def test_requests_that_come_while_others_are_written_go_together(served, monkeypatch):
    client, *clients = [known_client(served) for _ in range(9)]
    held = Held(monkeypatch, served.app)
    with ThreadPoolExecutor(9) as hands:
        first = hands.submit(post, client, args={"a": 0})
        assert held.has_begun.wait(PATIENCE_SECONDS)
        others = [hands.submit(post, one, args={"a": 1}) for one in clients]
        wait_for_company(served, 8)
        held.may_go.set()
        answers = [one.result(PATIENCE_SECONDS) for one in [first, *others]]

    assert [answer.status_code for answer in answers] == [202] * 9
    assert held.sizes == [1, 8]
    assert len({answer.json()["id"] for answer in answers}) == 9
    for answer in answers:
        (queued,) = client.get(f"/jobs/{answer.json()['id']}/timeline").json()["events"]
        assert queued["data"]["request_id"] == answer.headers["x-request-id"]


@pytest.mark.proves("TN-01")
def test_one_group_is_of_many_tenants_and_each_sees_its_own(served, monkeypatch):
    tenants = ["acme", "globex", "initech"] * 3
    client, *clients = [known_client(served, tenant) for tenant in ["acme", *tenants]]
    held = Held(monkeypatch, served.app)
    with ThreadPoolExecutor(10) as hands:
        first = hands.submit(post, client, args={"a": 0})
        assert held.has_begun.wait(PATIENCE_SECONDS)
        others = [hands.submit(post, one, args={"a": 1}) for one in clients]
        wait_for_company(served, len(tenants))
        held.may_go.set()
        first.result(PATIENCE_SECONDS)
        ids = [one.result(PATIENCE_SECONDS).json()["id"] for one in others]

    for tenant in set(tenants):
        own = {job["id"] for job in served.client(tenant).get("/jobs", params={"q": "age:<1h"}).json()["jobs"]}
        assert own & set(ids) == {job_id for job_id, whose in zip(ids, tenants, strict=True) if whose == tenant}


def test_one_that_is_refused_does_not_take_the_others_along(served):
    app = served.app
    acme = Principal.of_tenant("acme")
    calls = [
        CallOfRequest(acme, NewCall("add", {"a": 1}, {}), "request-1"),
        CallOfRequest(acme, NewCall("add", {"a": "x"}, {}), "request-2"),
        CallOfRequest(acme, NewCall("missing", {}, {}), "request-3"),
        CallOfRequest(acme, NewCall("add", {"a": 4}, {"tenant": "globex"}), "request-4"),
        CallOfRequest(Principal("monitor", "scraper", None), NewCall("add", {"a": 5}, {}), "request-5"),
        CallOfRequest(acme, NewCall("add", {"a": 6}, {}), "request-6"),
    ]

    outcomes = enqueue_jointly(app, calls)

    kinds = [type(outcome).__name__ for outcome in outcomes]
    assert kinds == ["Enqueued", "InvalidPayload", "UnknownTask", "Forbidden", "Forbidden", "Enqueued"]
    assert len(app.operations().jobs.page().jobs) == 2
    refusals = app.own_store.events.latest(name="request.refused")
    assert [event.data["request_id"] for event in refusals] == ["request-4", "request-5"]


def test_what_may_have_to_wait_for_somebody_is_left_to_go_by_itself(served):
    app = served.app
    acme = Principal.of_tenant("acme")
    calls = [
        CallOfRequest(acme, NewCall("add", {"a": 1}, {"unique": "one"}), ""),
        CallOfRequest(acme, NewCall("add", {"a": 1}, {"job_key": "one"}), ""),
        CallOfRequest(acme, NewCall("add", {"a": 1}, {}), ""),
    ]

    outcomes = enqueue_jointly(app, calls)

    assert outcomes[:2] == [None, None]
    assert len(app.operations().jobs.page().jobs) == 1


def test_a_job_with_a_unique_key_is_enqueued_once_by_many_at_once(served):
    with ThreadPoolExecutor(8) as hands:
        answers = list(hands.map(lambda _: post(served.client(), args={"a": 1}, unique="once"), range(8)))

    assert [answer.status_code for answer in answers] == [202] * 8
    assert len({answer.json()["id"] for answer in answers}) == 1
    assert sum(answer.json()["created"] for answer in answers) == 1


def test_a_group_that_cannot_be_written_is_told_to_each(served, monkeypatch):
    def down(*_args, **_options):
        raise DatabaseUnavailable("the disk is full", hint="")

    monkeypatch.setattr(type(served.app.own_store.jobs), "notifies", down)  # asked by every way to write

    answer = post(served.client(), args={"a": 1})

    assert (answer.status_code, answer.json()["code"]) == (503, "database_unavailable")
    assert "retry-after" in answer.headers


def calls_of_many(tenants=("acme", "globex", "initech"), each=3):
    return [
        CallOfRequest(Principal.of_tenant(tenant), NewCall("add", {"a": number}, {}), f"{tenant}-{number}")
        for number in range(each)
        for tenant in tenants
    ]


class Broken:
    """A database that fails each write, and counts how often somebody waited for it."""

    def __init__(self, monkeypatch, app, *, unknown=False):
        self.waits = 0

        def fail(*_args, **_options):
            self.waits += 1
            trouble = DatabaseUnavailable("the server is away", hint="")
            trouble.outcome_unknown = unknown and self.waits == 1
            raise trouble

        for call in ("run_single", "transact"):
            monkeypatch.setattr(type(app.own_store.database), call, fail)


def test_an_outage_is_told_to_all_who_came_together_and_waited_for_once(served, monkeypatch):
    assert {type(outcome) for outcome in enqueue_jointly(served.app, calls_of_many())} == {Enqueued}
    down = Broken(monkeypatch, served.app)
    monkeypatch.setattr(PostgresDatabase, "run_alone", type(served.app.own_store.database).run_single)

    outcomes = enqueue_jointly(served.app, calls_of_many())

    assert {type(outcome) for outcome in outcomes} == {DatabaseUnavailable}
    assert not any(outcome.outcome_unknown for outcome in outcomes)
    assert down.waits == 1


def test_whose_jobs_may_have_been_written_when_the_database_went_is_told_of_its_own_alone(served, monkeypatch):
    acme = calls_of_many(["acme"], each=4)
    enqueue_jointly(served.app, acme)
    down = Broken(monkeypatch, served.app, unknown=True)
    monkeypatch.setattr(PostgresDatabase, "run_alone", type(served.app.own_store.database).run_single)

    outcomes = enqueue_jointly(served.app, acme)

    assert [outcome.outcome_unknown for outcome in outcomes] == [True] * 4
    assert len({job_id for outcome in outcomes for job_id in outcome.job_ids}) == 4
    assert [len(outcome.job_ids) for outcome in outcomes] == [1] * 4
    assert down.waits == 2


def test_a_refusal_that_cannot_be_written_down_is_waited_for_once(served, monkeypatch):
    calls = [CallOfRequest(Principal("monitor", "scraper", None), NewCall("add", {"a": 1}, {}), "") for _ in range(5)]
    enqueue_jointly(served.app, calls)
    down = Broken(monkeypatch, served.app)

    outcomes = enqueue_jointly(served.app, [*calls, *calls_of_many()])

    assert {type(outcome) for outcome in outcomes} == {DatabaseUnavailable}
    assert down.waits == 1


def test_what_is_written_is_no_error_whatever_becomes_of_those_who_observe(served, monkeypatch):
    class Deaf(logging.Handler):
        def emit(self, record):
            raise OSError(record.getMessage())

    class Clumsy(Observer):
        def enqueued(self, event, /):
            raise RuntimeError(event.job_id)

    served.app.observe(Clumsy())
    log = logging.getLogger("haulwright.observer")
    monkeypatch.setattr(log, "handlers", [Deaf()])

    answers = [post(served.client(), args={"a": number}) for number in range(3)]

    assert [answer.status_code for answer in answers] == [202] * 3
    assert len(served.app.operations().jobs.page().jobs) == 3


@pytest.mark.parametrize(
    ("text", "status", "where"),
    [
        (b"", 422, "body"),
        (b"{", 422, "body"),
        (b'{"task": 1}', 422, "body.task"),
        (b"\xff", 400, None),
        (b"[]", 422, "body"),
    ],
)
def test_a_body_that_cannot_be_read_is_told_as_everywhere(served, text, status, where):
    answer = served.client().post("/jobs", content=text, headers={"Content-Type": "application/json"})

    assert answer.status_code == status
    problem = answer.json()
    assert problem["request_id"] == answer.headers["x-request-id"]
    assert where is None or problem["errors"][0]["where"] == where
