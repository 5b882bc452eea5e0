"""The person at this machine, before anybody has a token: a link that works once, and a session in a browser."""

from __future__ import annotations

import time
from types import SimpleNamespace

import pytest

from haulwright.api.auth.session import LocalSessions
from tests.api.conftest import serving

BODY = {"task": "add", "args": {"a": 1}}
FROM_HERE = {"Sec-Fetch-Site": "same-origin", "Haulwright-Tenant": "acme"}


@pytest.fixture
def database_url(sqlite_url):
    """A session is in the memory of its process; the database has no part in it."""
    return sqlite_url


@pytest.fixture
def sessions():
    return LocalSessions("ada")


@pytest.fixture
def at_home(app, sessions):
    with serving(app, sessions=sessions) as served:
        yield served


@pytest.fixture
def browser(at_home, sessions):
    """Somebody who followed the link."""
    client = at_home.anonymous()
    answer = client.get(f"{at_home.address}{sessions.link}")
    assert answer.status_code == 303
    return client


def test_the_link_opens_a_session_of_an_admin_and_works_once(at_home, sessions):
    link, client = f"{at_home.address}{sessions.link}", at_home.anonymous()
    assert client.get("/jobs").status_code == 401

    opened = client.get(link)
    assert (opened.status_code, opened.headers["location"][:8]) == (303, "/api/v1/")
    cookie = opened.headers["set-cookie"]
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Max-Age=43200", "Path=/"))
    assert client.get("/jobs").status_code == 200
    assert client.post("/jobs", json=BODY, headers=FROM_HERE).status_code == 202

    again = at_home.anonymous()
    assert [again.get(link).status_code, again.get("/jobs").status_code] == [401, 401]
    guessed = again.get(f"{at_home.address}/open?ticket=x"), again.get(f"{at_home.address}/open")
    assert {answer.status_code for answer in guessed} == {401}


def test_what_changes_something_in_a_session_comes_from_a_page_of_ours(at_home, browser):
    here = at_home.address
    for headers in (
        {},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site", "Origin": here},
    ):
        assert browser.post("/jobs", json=BODY, headers={**headers, "Haulwright-Tenant": "acme"}).status_code == 403
        assert browser.post("/jobs/none/retry", headers=headers).status_code == 403
    assert browser.get("/jobs").json()["jobs"] == []

    for headers in ({"Sec-Fetch-Site": "same-origin"}, {"Sec-Fetch-Site": "none"}, {"Origin": here}):
        assert browser.post("/jobs", json=BODY, headers={**headers, "Haulwright-Tenant": "acme"}).status_code == 202
        assert browser.post("/jobs/none/retry", headers=headers).status_code == 404


def test_what_was_sent_to_another_name_than_this_machines_is_refused(browser):
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "10.0.0.7", ""):
        answer = browser.get("/jobs", headers={"Host": host})
        assert (answer.status_code, answer.json()["code"]) == (421, "misdirected")
    for host in ("localhost", "127.0.0.1:1", "[::1]:8717", "LOCALHOST:5"):
        assert browser.get("/jobs", headers={"Host": host}).status_code == 200


def test_a_session_ends_after_half_a_day_and_with_its_process(browser, monkeypatch):
    cookie = next(iter(browser.cookies.items()))
    now = time.monotonic()
    later = SimpleNamespace(monotonic=lambda: now + 12 * 3600 + 1)
    monkeypatch.setattr("haulwright.api.auth.browser_sessions.time", later)
    assert browser.get("/jobs").status_code == 401

    browser.cookies.set(cookie[0], "x" * 43)
    assert browser.get("/jobs").status_code == 401


def test_a_session_goes_on_in_the_next_process_that_is_given_its_secret(app):
    """As `haulwright dev` has it, which starts the web again whenever a file changes."""
    first = LocalSessions("ada", "s" * 43)
    with serving(app, sessions=first) as before:
        client = before.anonymous()
        client.get(f"{before.address}{first.link}")
        (secret,) = client.cookies.values()
    with serving(app, sessions=LocalSessions("ada", "s" * 43)) as after:
        port = after.address.rpartition(":")[2]
        again = after.anonymous(Cookie=f"haulwright_{port}={secret}")
        assert again.get("/jobs").status_code == 200
        assert after.anonymous(Cookie=f"haulwright_{port}=guessed").get("/jobs").status_code == 401
