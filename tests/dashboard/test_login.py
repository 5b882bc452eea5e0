"""Coming in: a token becomes a session, and nobody else gets in."""

from __future__ import annotations

import pytest

from haulwright.api.auth.host_login import HostLogin, host_login_of
from haulwright.api.auth.session import LocalSessions
from haulwright.errors import InvalidValue
from haulwright.operations.principal import Principal
from tests.support.dashboard import Person, people


@pytest.fixture
def database_url(sqlite_url):
    """A session is in the memory of its process; the database has no part in it."""
    return sqlite_url


def token_of(served, role="admin", tenant=None):
    return served.app.operations().tokens.create(f"test-{role}", role=role, tenant=tenant)


def test_who_is_not_known_is_led_to_the_login_and_back_to_where_they_wanted_to_go(served, person):
    door = person.open("/ui/jobs?q=state:dead")
    assert door.path == "/ui/login?next=%2Fjobs%3Fq%3Dstate%3Adead"

    page = person.submit(door, "%3Adead", token=token_of(served).token)

    assert (page.answer.status_code, page.path) == (200, "/ui/jobs?q=state:dead")


def test_a_session_is_a_cookie_that_no_script_reads_and_no_other_page_sends(served, person):
    answer = person.client.post("/ui/login", data={"token": token_of(served).token}, follow_redirects=False)

    cookie = next(line for line in answer.headers.get_list("set-cookie") if "Max-Age=43200" in line)
    assert all(word in cookie for word in ("HttpOnly", "SameSite=strict", "Path=/"))
    assert answer.headers["location"] == "/ui/overview"


@pytest.mark.parametrize("token", ["", "hw_nobody", "a.b.c", "x" * 600, "Bearer x"])
def test_what_is_no_token_opens_nothing(person, token):
    page = person.send("/ui/login", {"token": token})

    assert page.answer.status_code == 401
    assert "no token that is valid here" in page.text
    assert person.open("/ui/jobs").path.startswith("/ui/login")


def test_who_logs_out_is_out_and_so_is_the_cookie(served, admin):
    cookies = dict(admin.client.cookies)
    page = admin.open("/ui/jobs")

    assert admin.submit(page, "/ui/logout").path == "/ui/login"
    again = Person(served)
    again.client.cookies.update(cookies)
    assert again.open("/ui/jobs").path.startswith("/ui/login")


def test_a_session_ends_with_its_token(served, person, monkeypatch):
    new = token_of(served)
    person.send("/ui/login", {"token": new.token})
    assert person.open("/ui/jobs").path == "/ui/jobs"

    served.app.operations().tokens.revoke(new.row.prefix)
    monkeypatch.setattr("haulwright.api.auth.api_tokens.REMEMBERED_SECONDS", 0.0)
    served.api.state.reception._authenticators[0]._known.clear()

    assert person.open("/ui/jobs").path.startswith("/ui/login")


def test_nobody_is_led_elsewhere_after_the_login(served, person):
    new = token_of(served)
    for elsewhere in ("https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"):
        answer = person.client.post(
            "/ui/login", params={"next": elsewhere}, data={"token": new.token}, follow_redirects=False
        )
        assert answer.headers["location"] == "/ui/overview"


def test_a_form_of_another_page_does_nothing(served, person, admin):
    token = {"token": token_of(served).token}
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        assert person.send("/ui/login", token, **headers).answer.status_code == 403
        assert admin.send("/ui/logout", {}, **headers).answer.status_code == 403
        assert admin.send("/ui/acting", {"tenant": "acme"}, **headers).answer.status_code == 403
    assert admin.open("/ui/jobs").path == "/ui/jobs"


def test_a_link_from_elsewhere_is_asked_for_once_more_by_a_page_of_ours(person):
    """A browser leaves the cookie behind when somebody comes from another address."""
    page = person.open("/ui/jobs?q=state:dead", headers={"Sec-Fetch-Site": "cross-site"})

    (refresh,) = page.all("meta[http-equiv=refresh]")
    assert refresh.attributes["content"] == "0; url=/ui/jobs?q=state:dead"


def test_the_link_of_the_first_start_opens_the_dashboard(app):
    sessions = LocalSessions("ada")
    with people(app, sessions=sessions) as served:
        page = Person(served).open(sessions.link)

    assert (page.answer.status_code, page.path) == (200, "/ui/overview")
    assert "local:ada" in page.tree.css_first(".who").text()


def test_a_visitor_is_no_failed_attempt(person, app):
    for _ in range(3):
        person.open("/ui/jobs")

    assert app.operations().events.page(name="request.refused").rows == []
    person.send("/ui/login", {"token": "hw_wrong"})
    assert len(app.operations().events.page(name="request.refused").rows) == 1


def test_support_says_for_whom_and_why_before_it_sees_anything(served, person):
    person.send("/ui/login", {"token": token_of(served, "support").token})
    door = person.open("/ui/jobs")
    assert door.path == "/ui/acting?next=%2Fjobs"
    assert person.submit(door, "%2Fjobs", tenant="acme", reason="").answer.status_code in {200, 422}
    assert person.open("/ui/jobs").path.startswith("/ui/acting")

    page = person.submit(door, "%2Fjobs", tenant="acme", reason="ticket 7")

    assert page.path == "/ui/jobs"
    assert "for acme. Reason: ticket 7" in " ".join(page.tree.css_first(".who .card").text().split())


def test_a_tenant_acts_for_nobody_else(served):
    tenant = Person(served).log_in("tenant", "acme")

    assert tenant.send("/ui/acting", {"tenant": "globex"}).answer.status_code == 403
    tenant.client.cookies.set(f"haulwright_{served.server._socket.getsockname()[1]}_acting", "WyJnbG9iZXgiLCAieCJd")
    assert "for acme" in tenant.open("/ui/jobs").tree.css_first(".who .card").text()


def test_a_proxy_that_knows_who_it_is_needs_no_login_here(served):
    person = Person(served)
    person.client.headers["Authorization"] = f"Bearer {token_of(served).token}"

    page = person.open("/ui/jobs")

    assert page.path == "/ui/jobs"
    assert not page.all("form[action$=logout]")


def test_the_login_of_the_application_beside_it_says_who_it_is(app):
    def resolve(request):
        user = request.cookies.get("shop_session")
        return None if user is None else Principal.of_tenant("acme", user)

    with people(app, host_login=HostLogin(resolve)) as served:
        job = app.operations().jobs.enqueue("add", {"a": 1}, tenant="acme").id
        person = Person(served)
        assert person.open("/ui/jobs").path == "/ui/login?next=%2Fjobs"
        person.client.cookies.set("shop_session", "ada")

        assert person.open(f"/ui/jobs/{job}").path == f"/ui/jobs/{job}"
        assert person.client.get("/api/v1/jobs").json()["jobs"][0]["id"] == job
        headers = {"Sec-Fetch-Site": "cross-site"}
        assert person.send(f"/ui/jobs/{job}/cancel", {"reason": ""}, **headers).answer.status_code == 403
        assert person.client.post(f"/api/v1/jobs/{job}/retry", headers=headers).status_code == 403
        assert person.client.post(f"/api/v1/jobs/{job}/retry").status_code == 200


def test_a_login_that_cannot_be_asked_is_refused_at_the_start():
    assert host_login_of("tests.support.dashboard:people")
    for spec in ("nothing", "nothing:here", "json:nothing", "json:__doc__", ":x", ""):
        with pytest.raises(InvalidValue, match="web_login"):
            host_login_of(spec)
