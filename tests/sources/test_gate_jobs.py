"""Jobs of a source: the gate is asked before their code runs, and a closed one costs them nothing."""

from __future__ import annotations

import pytest

from haulwright import Observer, Skip
from haulwright.engine.transitions import State
from haulwright.errors import Throttled
from haulwright.operations.principal import Principal
from haulwright.runtime.identity import this_process
from haulwright.sources.http import Secret

ADMIN = Principal.admin("root")


@pytest.fixture
def why(bench, app):
    def ask(handle):
        bench.store.workers.register(this_process("w1"), ["default"], sorted(app.tasks))
        return app.operations(ADMIN).jobs.why(handle.id)

    return ask


def test_the_grant_of_the_claim_is_used_by_the_first_request(bench, app, shop, outside):
    files = shop(rate="60/min")

    @app.task(source=files)
    def fetch() -> int:
        return files.get(f"{outside.url}/files/a?size=10").status

    bench.use(app)
    handle = fetch.enqueue()
    bench.drain()

    assert handle.result(0) == 200
    assert files.row().standing.tickets == 1


def test_a_run_that_meets_a_closed_gate_waits_for_its_turn_and_burns_no_attempt(bench, app, shop, outside):
    files = shop(rate="1/h")

    @app.task()
    def fetch(name: str) -> int:
        return files.get(f"{outside.url}/files/{name}?size=10").status

    bench.use(app)
    first, second = fetch.enqueue("a"), fetch.enqueue("b")
    bench.drain()

    row = bench.store.listing.get(second.id, None)
    assert first.state() is State.SUCCEEDED
    assert (row.waiting_on, row.attempts, row.deferrals) == ("source:files:rate", 0, 1)
    bench.advance("1 h")
    bench.drain()
    assert second.result(0) == 200


def test_a_task_may_tell_its_source_from_its_arguments(bench, app):
    accounts = {name: app.source("files", account=name, rate="1/h") for name in ("acme", "other")}

    @app.task(source=lambda values: accounts[values["account"]])
    def fetch(account: str) -> str:
        return account

    bench.use(app)
    handles = [fetch.enqueue(name) for name in ("acme", "acme", "other")]

    assert bench.drain() == 2
    rows = [bench.store.listing.get(handle.id, None) for handle in handles]
    assert [row.source for row in rows] == ["files@acme", "files@acme", "files@other"]
    assert rows[1].waiting_on == "source:files@acme:rate"


@pytest.mark.proves("CB-03")
def test_jobs_of_a_dead_server_wait_for_it_and_none_dies(bench, app, shop, outside):
    files = shop(breaker="2 failures / 5 min")

    @app.task(source=files, retry=3)
    def fetch(name: str) -> int:
        reply = files.get(f"{outside.url}/files/{name}?size=10")
        reply.raise_for_status()
        return reply.status

    bench.use(app)
    outside.faults.add("status", code=503, times=3)
    handles = [fetch.enqueue(name) for name in "abcdef"]
    for _ in range(20):
        bench.drain()
        bench.advance("2 min")

    assert {handle.state() for handle in handles} == {State.SUCCEEDED}
    assert outside.books.count(service="files", status=503) == 3


@pytest.mark.proves("CB-03")
def test_the_job_that_tries_for_all_others_does_not_pay_while_the_server_is_down(bench, app, shop, outside):
    files = shop(breaker="1 failure / 5 min")

    @app.task(source=files, retry=2, deadline=None)
    def fetch() -> int:
        reply = files.get(f"{outside.url}/files/a?size=10")
        reply.raise_for_status()
        return reply.status

    bench.use(app)
    outside.faults.add("status", code=503, times=6)
    handle = fetch.enqueue()
    seen = []
    for _ in range(7):
        bench.drain()
        row = bench.store.listing.get(handle.id, None)
        seen.append((row.attempts, row.waiting_on))
        bench.advance("61 min")

    assert seen == [(1, None), *[(1, "source:files:breaker")] * 5, (2, None)]
    assert handle.state() is State.SUCCEEDED


@pytest.mark.proves("CB-03")
def test_one_request_that_hurts_its_server_keeps_nobody_else_out(bench, app, shop, outside):
    files = shop(breaker="1 failure / 5 min")

    @app.task(source=files, retry=3, deadline=None)
    def fetch(name: str) -> int:
        reply = files.get(f"{outside.url}/files/{name}?size=10")
        reply.raise_for_status()
        return reply.status

    bench.use(app)
    outside.faults.add("status", code=503, path="/files/bad", times=1_000)
    fetch.enqueue("bad")
    good = [fetch.enqueue(name) for name in "abc"]
    for _ in range(20):
        bench.drain()
        bench.advance("5 min")

    assert {handle.state() for handle in good} == {State.SUCCEEDED}
    assert outside.books.count(service="files", status=200) == 3


def test_a_shared_credential_that_is_refused_keeps_the_jobs_of_everybody_waiting(bench, app, shop, outside):
    files = shop(credential=Secret("the-old-token-0001"))

    @app.task(source=files)
    def fetch(name: str) -> int:
        return files.get(f"{outside.url}/files/{name}?size=10").status

    bench.use(app)
    outside.faults.add("status", code=401)
    handles = [fetch.enqueue(name) for name in "abc"]
    bench.drain()
    assert {bench.store.listing.get(one.id, None).waiting_on for one in handles} == {"source:files:credential"}
    assert outside.books.count(service="files") == 1

    files.resume()
    bench.drain()

    assert [handle.result(0) for handle in handles] == [200, 200, 200]


def test_no_credential_is_ever_written_into_the_database(bench, app, shop, outside):
    files = shop(credential=Secret("canary-7f3a9c"), cache="1 h")
    bench.use(app)
    files.get(f"{outside.url}/files/a?size=10")

    tables = ("haulwright_sources", "haulwright_events", "haulwright_cache", "haulwright_traffic")
    written = [
        str(app.store.database.read(lambda c, t=table: c.execute(f"select * from {t}")))  # noqa: S608 - from above
        for table in tables
    ]
    assert all("canary-7f3a9c" not in text for text in written)
    assert files.row().has_credential


def test_one_tenants_kept_answer_is_not_served_to_another(bench, app, shop, outside):
    files = shop(cache="1 h")

    @app.task()
    def fetch() -> str:
        return files.get(f"{outside.url}/files/a?size=10").cache

    bench.use(app)
    handles = [fetch.using(tenant=tenant).enqueue() for tenant in ("acme", "other", "acme")]
    bench.drain()

    assert sorted(handle.result(0) for handle in handles) == ["", "", "hit"]


def test_why_names_the_gate_and_the_next_step(bench, app, shop, why):
    files = shop(rate="1/h")

    @app.task(source=files)
    def fetch() -> None: ...

    bench.use(app)
    first, second = fetch.enqueue(), fetch.enqueue()
    del first
    bench.drain()
    assert why(second).sentence == "the source 'files' is over its rate; the job's turn is in 1 h"

    files.pause(reason="audit")
    told = why(second)
    assert told.sentence.startswith("the source 'files' is paused until somebody opens it; the job's turn is in ")
    assert (told.code, told.next_step) == ("gate_closed", "haulwright source resume files")


def test_a_job_that_met_a_429_says_that_the_server_asked_for_patience(bench, app, shop, outside, why):
    files = shop()

    @app.task()
    def fetch() -> int:
        return files.get(f"{outside.url}/files/a?size=10").raise_for_status().status

    bench.use(app)
    outside.faults.add("rate_limit", retry_after=120)
    handle = fetch.enqueue()
    bench.drain()

    row = bench.store.listing.get(handle.id, None)
    assert (row.waiting_on, row.attempts) == ("source:files:parked", 0)
    assert why(handle).sentence.startswith("the source 'files' asked for patience and takes no request")
    bench.advance("2 min")
    bench.drain()
    assert handle.result(0) == 200


def test_a_wait_that_a_task_asks_for_itself_is_not_laid_to_a_source_that_is_well(bench, app, shop, outside):
    files = shop()

    @app.task()
    def fetch() -> None:
        files.get(f"{outside.url}/files/a?size=10")
        raise Throttled("not yet", after=60)

    bench.use(app)
    handle = fetch.enqueue()
    bench.drain()

    assert bench.store.listing.get(handle.id, None).waiting_on is None


def test_a_job_is_served_what_is_kept_while_the_gate_is_closed(bench, app, shop, outside):
    files = shop(cache="1 h")

    @app.task()
    def fetch() -> str:
        return files.get(f"{outside.url}/files/a?size=10").cache

    bench.use(app)
    fetch.enqueue()
    bench.drain()
    files.pause(reason="holidays")
    handle = fetch.enqueue()
    bench.drain()

    assert handle.result(0) == "hit"


class Unused(Observer):
    """Remembers whose source was not asked."""

    def __init__(self) -> None:
        self.tasks: list[tuple[str, str]] = []

    def source_unused(self, event, /) -> None:
        self.tasks.append((event.run.task, event.source))


def test_a_task_that_asks_its_source_with_a_client_of_its_own_is_warned_of_once(bench, app, shop, caplog):
    files, unused = shop(rate="60/min", burst=10), Unused()
    app.observe(unused)

    @app.task(source=files)
    def fetch(_name: str) -> None:
        """Asks the server by itself: no request passes the gate."""

    bench.use(app)
    for name in "abc":
        fetch.enqueue(name)
    app.run_worker(until_empty=True, concurrency=1)

    assert unused.tasks == [("fetch", "files")]
    (line,) = [record.getMessage() for record in caplog.records if "source.enter()" in record.getMessage()]
    assert "no request through its source" in line


@pytest.mark.parametrize("way", ["request", "enter", "kept", "skipped", "failed"])
def test_a_task_that_asks_its_source_or_does_nothing_is_not_warned_of(bench, app, shop, outside, way):
    files, unused = shop(cache="1 h"), Unused()
    app.observe(unused)
    url = f"{outside.url}/files/a?size=10"

    @app.task(source=files, retry=1)
    def fetch() -> Skip | None:
        match way:
            case "request" | "kept":
                files.get(url)
            case "enter":
                with files.enter():
                    pass
            case "failed":
                raise ValueError(way)
            case _:
                return Skip("nothing to do")
        return None

    bench.use(app)
    if way == "kept":
        files.get(url)
    fetch.enqueue()
    app.run_worker(until_empty=True, concurrency=1)

    assert unused.tasks == []
