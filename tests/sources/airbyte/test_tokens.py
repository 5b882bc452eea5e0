"""A token is fetched once for all who need it, renewed before it ends, and never shown."""

from __future__ import annotations

import asyncio

import pytest

from haulwright.sources.airbyte import Airbyte, AirbyteAuthFailed, AirbyteUnavailable
from haulwright.sources.http import Secret

TOKENS = "/airbyte/v1/applications/token"
JOBS = "/airbyte/v1/jobs"


def fetched(sandbox):
    return sandbox.books.count(path=TOKENS)


def test_a_token_serves_until_four_fifths_of_its_life(airbyte, sandbox, connection):
    sandbox.airbyte.script(token_seconds=100)
    airbyte.connection(connection)

    sandbox.clock.advance(79)
    airbyte.connection(connection)
    assert fetched(sandbox) == 1

    sandbox.clock.advance(2)
    airbyte.connection(connection)
    assert fetched(sandbox) == 2


def test_many_who_need_a_token_at_once_fetch_one(awaited, airbyte, sandbox, connection):
    sandbox.faults.add("slow", path=TOKENS, seconds=0.05)

    async def crowd():
        return await asyncio.gather(*(airbyte.aconnection(connection) for _ in range(20)))

    assert len(awaited(crowd())) == 20
    assert fetched(sandbox) == 1


def test_who_gives_up_waiting_does_not_take_the_token_from_the_others(awaited, airbyte, sandbox, connection):
    sandbox.faults.add("hang", path=TOKENS, seconds=5)

    async def crowd():
        first, second, third = (asyncio.ensure_future(airbyte.aconnection(connection)) for _ in range(3))
        await asyncio.to_thread(sandbox.books.wait_for, lambda books: books.count(path=TOKENS))
        first.cancel()
        second.cancel()
        await asyncio.wait([first, second])
        sandbox.faults.release()
        return await third

    assert awaited(crowd()).id == connection


def test_all_who_wait_for_a_token_share_its_failure(awaited, airbyte, sandbox, connection):
    sandbox.faults.add("status", path=TOKENS, code=503)

    async def crowd():
        return await asyncio.gather(*(airbyte.aconnection(connection) for _ in range(5)), return_exceptions=True)

    assert {type(each) for each in awaited(crowd())} == {AirbyteUnavailable}
    assert fetched(sandbox) == 1


def test_a_token_that_ended_too_early_is_replaced_once_and_the_call_repeated(airbyte, sandbox, connection):
    airbyte.connection(connection)
    sandbox.airbyte.script(expire_tokens=True)

    job = airbyte.trigger(connection)

    assert not job.adopted
    assert fetched(sandbox) == 2
    assert len(sandbox.airbyte.jobs()) == 1


def test_a_second_refusal_is_one_of_the_credential(airbyte, sandbox, connection):
    sandbox.faults.add("status", path="/airbyte/v1/connections/*", code=401, times=None)

    with pytest.raises(AirbyteAuthFailed) as refused:
        airbyte.connection(connection)

    assert (refused.value.error_class, refused.value.credential) == ("auth", "airbyte")
    assert sandbox.books.count(path="/airbyte/v1/connections/*") == 2


def test_a_client_that_is_not_let_in_any_more_has_failed_too(sandbox, http, connection):
    airbyte = Airbyte(
        http, "client-of-mine", "canary-71ab", f"{sandbox.url}/airbyte/v1", credential="acme", shared=True
    )
    sandbox.airbyte.script(revoke="client-of-mine")

    with pytest.raises(AirbyteAuthFailed) as refused:
        airbyte.connection(connection)

    assert (refused.value.credential, refused.value.shared) == ("acme", True)
    assert "canary" not in f"{refused.value} {vars(refused.value)} {vars(airbyte)} {vars(airbyte._tokens)}"


def test_a_token_that_somebody_else_renews_is_used_as_it_is(sandbox, http, connection):
    base = f"{sandbox.url}/airbyte/v1"
    issued = http.post(f"{base}/applications/token", json={"client_id": "me", "client_secret": "mine"}).json()
    airbyte = Airbyte.with_token(http, Secret(issued["access_token"]), base)

    assert airbyte.connection(connection).id == connection
    sandbox.airbyte.script(expire_tokens=True)
    with pytest.raises(AirbyteAuthFailed):
        airbyte.connection(connection)


@pytest.mark.parametrize(
    ("body", "error"),
    [("<html>Forbidden</html>", AirbyteUnavailable), ('{"type": "error:forbidden"}', AirbyteAuthFailed)],
    ids=["a gateway", "Airbyte"],
)
def test_a_gateway_that_lets_nobody_fetch_a_token_has_not_judged_the_client(airbyte, sandbox, connection, body, error):
    sandbox.faults.add("status", path=TOKENS, code=403, body=body)

    with pytest.raises(error):
        airbyte.connection(connection)


@pytest.mark.parametrize("body", ["", "<html>", "{}", '{"access_token": null}', "[" * 200_000])
def test_an_answer_without_a_token_is_a_failure_of_the_server(airbyte, sandbox, connection, body):
    sandbox.faults.add("status", path=TOKENS, code=200, body=body)

    with pytest.raises(AirbyteUnavailable):
        airbyte.connection(connection)


def test_a_token_in_an_answer_of_brackets_alone_is_none(airbyte, sandbox, connection):
    sandbox.faults.add("status", path=TOKENS, code=200, body="[" * 100_000)

    with pytest.raises(AirbyteUnavailable):
        airbyte.connection(connection)
