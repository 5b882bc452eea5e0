"""Documents in the dashboard: how they stand, what they say and on which page, what was done for one, and its file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.apps.documents.papers import paper
from tests.apps.documents.scenes import World
from tests.support.api import Served
from tests.support.application_pages import HOSTILE, require_roles, require_same_absence, require_text_only
from tests.support.dashboard import Person, people


@pytest.fixture
def walled() -> bool:
    """The database is as `db migrate` leaves it."""
    return True


@pytest.fixture
def served(world: World) -> Iterator[Served]:
    with people(world.app) as served:
        yield served


@pytest.fixture
def acme(served: Served) -> Person:
    return Person(served).log_in("tenant", "acme")


def test_pages_open_for_who_may_read_and_are_there_as_json(served, stored):
    paths = ["/ui/documents", "/ui/documents?words=report", "/ui/documents?state=FAILED"]
    require_roles(served, [*paths, f"/ui/documents/{stored[0].key}", f"/ui/documents/{stored[0].job_id}"])


def test_an_empty_page_says_what_to_type(acme):
    assert "haulwright doc add https://example.org/report.pdf --tenant acme" in acme.open("/ui/documents").text
    assert "A star stands for every word that begins so" in acme.open("/ui/documents?words=harbour").text


def test_documents_are_listed_by_their_state(world, acme, stored):
    waiting = world.add("later.txt")

    every = acme.open("/ui/documents")
    assert {link.text() for link in every.all(".states a")} == {"all", "INDEXED 1", "PLANNED 1"}
    assert len(every.all("tr[data-row]")) == 2
    (row,) = acme.open("/ui/documents?state=PLANNED").all("tr[data-row]")
    assert row.css_first("a").attributes["href"] == f"/ui/documents/{waiting.key}"
    assert "No document is in the state FAILED" in acme.open("/ui/documents?state=FAILED").text
    assert f"/ui/documents/{stored[0].key}" in every.answer.text


def test_a_search_says_on_which_page_the_words_are(world, acme):
    world.sandbox.files.put("paper.pdf", paper("harbour", "lighthouse", "granary"))
    planned = world.add("paper.pdf", title="Three pages")
    world.bench.drain()
    hit = next(iter(world.documents.artifacts.search("acme", "three")), None)
    assert hit is not None

    words = "lighthouse"
    (shown,) = acme.open(f"/ui/documents.json?words={words}").answer.json()["hits"]
    (row,) = acme.open(f"/ui/documents?words={words}").all("tr[data-row]")

    assert shown["page"] == 2
    assert row.css_first("td.n").text() == "2"
    assert row.css_first("a").attributes["href"] == f"/ui/documents/{planned.key}"
    assert "path" not in shown


def test_words_that_nobody_can_search_for_are_refused_beside_the_field(acme):
    page = acme.open("/ui/documents?words=%2A")

    assert page.answer.status_code == 200
    assert page.all("#refusal")
    assert acme.open(f"/ui/documents?words={'x' * 1001}").answer.status_code == 422


def test_a_document_shows_what_was_done_for_it_and_leads_to_its_file(world, acme, stored):
    planned, path = stored
    page = acme.open(f"/ui/documents/{planned.key}")
    shown = acme.open(f"/ui/documents/{planned.job_id}.json").answer.json()

    assert [each["name"] for each in shown["operations"]] == [
        each.css_first("b").text() for each in page.all(".effect")
    ]
    assert [each["name"] for each in shown["operations"]][:4] == ["HEAD", "STREAM", "FINALIZE", "DEDUPE"]
    assert shown["document"]["sha256"] == world.standing(planned)["sha256"]
    (link,) = [link for link in page.all("a") if link.text() == "Download"]
    part = acme.client.get(str(link.attributes["href"]), headers={"Range": "bytes=0-9"})
    assert (part.status_code, part.content) == (206, path.read_bytes()[:10])


def test_staff_are_told_how_to_get_the_file_for_whom(served, stored):
    text = Person(served).log_in("admin").open(f"/ui/documents/{stored[0].key}?tenant=acme").text

    assert "Haulwright-Tenant: acme" in text
    assert f"/api/v1/documents/{stored[0].key}/file" in text


def test_what_is_under_way_shows_the_effects_of_its_job(world, acme):
    planned = world.add("report.txt")

    text = acme.open(f"/ui/documents/{planned.key}").text

    assert "Nothing was done for it yet" in text
    assert "haulwright worker -A haulwright.apps.documents.worker:app" in text


def test_an_admin_names_the_tenant_whose_documents_it_wants_to_see(served, stored):
    admin = Person(served).log_in("admin")
    for path in ("/ui/documents", f"/ui/documents/{stored[0].key}"):
        assert "Documents are each tenant's own" in admin.open(path).text
    (row,) = admin.open("/ui/documents?tenant=acme").all("tr[data-row]")
    assert row.css_first("a").attributes["href"] == f"/ui/documents/{stored[0].key}?tenant=acme"


def test_what_is_anothers_looks_exactly_like_nothing(served, stored):
    require_same_absence(served, "/ui/documents/{}", stored[0].key, "a" * 64)
    stranger = Person(served).log_in("tenant", "globex")
    assert stranger.open("/ui/documents.json?words=report").answer.json()["hits"] == []
    assert stored[0].key not in stranger.open("/ui/documents").answer.text


def test_hostile_text_is_text(world, acme):
    world.sandbox.files.put("evil.txt", f"harbour {HOSTILE}".encode())
    planned = world.add("evil.txt", title=f"alert {HOSTILE}"[:180], work_id="<script>alert(1)</script>")
    world.bench.drain()

    require_text_only(acme.open("/ui/documents?words=harbour"))
    require_text_only(acme.open(f"/ui/documents/{planned.key}"))
