from __future__ import annotations

import pytest

from haulwright.sandbox import Sandbox, SandboxClock


def test_every_request_is_in_the_books_without_its_credentials(sandbox, client):
    client.get("/files/a?size=10&token=secret", headers={"X-Trace": "t1"})

    (entry,) = sandbox.books.requests(service="files")

    assert (entry.method, entry.path, entry.status, entry.bytes_sent) == ("GET", "/files/a", 200, 10)
    assert (entry.at, entry.query["size"], entry.headers["x-trace"]) == (sandbox.clock.now(), ("10",), "t1")
    assert entry.headers["authorization"].startswith("sha256:")
    assert "secret" not in str(entry)
    assert "mine" not in str(entry)


def test_requests_are_counted_in_windows_of_time(sandbox, client):
    for _ in range(3):
        client.get("/files/a")
        sandbox.clock.advance(4)

    assert sandbox.books.per_window(10, path="/files/*") == {1_790_856_000.0: 3}
    assert (sandbox.books.busiest(5), sandbox.books.busiest(4), sandbox.books.busiest(9)) == (2, 1, 3)


def test_waiting_for_what_never_comes_ends_with_an_error(sandbox):
    with pytest.raises(TimeoutError):
        sandbox.books.wait_for(lambda books: books.count() == 1, timeout=0.01)


def test_nothing_lives_at_an_unknown_address(client):
    answer = client.get("/nowhere")

    assert answer.status_code == 404
    assert "apify" in answer.text


def test_the_same_seed_gives_the_same_world_and_another_seed_another():
    clock = SandboxClock.standing(1_790_856_000.0)
    one, same, other = (Sandbox(seed=seed, clock=clock) for seed in (1, 1, 2))
    with one, same, other:
        start = clock.now() - 86_400

        assert one.feeds.articles(start) == same.feeds.articles(start) != other.feeds.articles(start)
        assert one.files.sha256("a") == same.files.sha256("a") != other.files.sha256("a")
