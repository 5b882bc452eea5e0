"""Brands in the dashboard: a snapshot down to each item, what changed since the one before, compiles and sources."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from haulwright.apps.brands.application import Brands
from haulwright.engine.ids import new_id
from tests.apps.brands.scenes import ACME, OTHER, TENANT, connect
from tests.support.api import Served
from tests.support.application_pages import notice, require_roles, require_same_absence, require_text_only
from tests.support.dashboard import Person, people


@pytest.fixture
def walled() -> bool:
    """The database is as `db migrate` leaves it."""
    return True


@pytest.fixture
def served(brands: Brands) -> Iterator[Served]:
    with people(brands.app) as served:
        yield served


@pytest.fixture
def acme(served: Served) -> Person:
    return Person(served).log_in("tenant", TENANT)


@pytest.fixture
def compiled(brands, brand, settle):
    """A brand with two snapshots."""
    connect(brands, brand, settings={"cap": 3})
    brands.compile(ACME, brand.id)
    settle()
    brands.update(ACME, brand.id, answers={"mission": "Tea <script>alert(1)</script>\u202egnp.exe.", "tone": "dry"})
    brands.compile(ACME, brand.id)
    settle()
    return brand.id


def test_pages_open_for_who_may_read_and_are_there_as_json(served, compiled):
    paths = ["/ui/brands", f"/ui/brands/{compiled}", f"/ui/brands/{compiled}?number=1"]
    require_roles(served, paths, TENANT)


def test_an_empty_page_says_what_to_type(acme, brand):
    (link,) = acme.open("/ui/brands").all("th a")
    text = acme.open(str(link.attributes["href"])).text

    assert f"haulwright brand connect {brand.id}" in text
    assert f"haulwright brand compile {brand.id} --tenant {TENANT}" in text
    assert "A compile makes one" in text


def test_a_tenant_without_brands_is_told_how_to_make_one(served):
    assert (
        f"haulwright brand add Acme --tenant {OTHER}" in Person(served).log_in("tenant", OTHER).open("/ui/brands").text
    )


def test_each_statement_leads_to_the_items_that_it_rests_on(brands, acme, compiled):
    page = acme.open(f"/ui/brands/{compiled}")
    shown = acme.open(f"/ui/brands/{compiled}.json").answer.json()
    snapshot = brands.snapshot(ACME, compiled)
    cited = {
        item for section in snapshot["sections"].values() for statement in section for item in statement["evidence"]
    }

    assert shown["snapshot"] == snapshot
    links = {str(link.attributes["href"]) for link in page.all(".statements a")}
    assert links == {f"#item-{item}" for item in cited}
    assert cited
    for item in cited:
        (row,) = page.all(f"[id='item-{item}']")
        assert snapshot["evidence"][item]["run_id"][-12:] in row.text()
        (address,) = row.css("a")
        assert address.attributes["href"] == snapshot["evidence"][item]["url"]


def test_what_changed_is_told_beside_the_snapshot(brands, acme, compiled):
    changes = brands.compare(ACME, compiled).changes.document()["statements"]
    page = acme.open(f"/ui/brands/{compiled}")

    assert "What changed since snapshot 1" in page.text
    assert len(page.all("ins")) == sum(change["new"] is not None for change in changes) > 0
    (earlier,) = page.all("a[rel=prev]")
    first = acme.open(str(earlier.attributes["href"]))
    assert "It is the first one" in first.text
    assert [str(link.attributes["href"]) for link in first.all("a[rel=next]")] == [f"/ui/brands/{compiled}?number=2"]


def test_a_snapshot_that_is_not_there_or_no_number_is_refused(acme, compiled):
    assert acme.open(f"/ui/brands/{compiled}?number=9").answer.status_code == 404
    for number in ("0", "x", "1" * 30, "-1"):
        assert acme.open(f"/ui/brands/{compiled}?number={number}").answer.status_code == 422


def test_how_the_last_compile_went_is_told_source_by_source(acme, compiled):
    text = acme.open(f"/ui/brands/{compiled}").text

    assert "succeeded asked for" in text
    assert "made snapshot 2" in text
    assert "instagram.posts" in text
    assert "reused" in text


def test_hostile_text_is_text(acme, compiled):
    require_text_only(acme.open(f"/ui/brands/{compiled}"))


def test_what_is_anothers_looks_exactly_like_nothing(served, compiled):
    stranger = Person(served).log_in("tenant", OTHER)
    require_same_absence(served, "/ui/brands/{}", compiled, new_id(), stranger=OTHER)
    assert compiled not in stranger.open("/ui/brands").answer.text


def test_a_brand_is_compiled_from_the_page_by_its_tenant_alone(brands, served, acme, brand):
    connect(brands, brand, settings={"cap": 3})
    page = acme.open(f"/ui/brands/{brand.id}")
    stranger = Person(served).log_in("tenant", OTHER)
    assert stranger.send(f"/ui/brands/{brand.id}/compile", {"reason": ""}).answer.status_code == 404
    assert "It was not compiled yet" in page.text

    answer = acme.submit(page, "/compile")

    assert "It is compiled" in notice(answer)
    assert "pending asked for" in answer.text


def test_an_admin_names_the_tenant_whose_brands_it_wants_to_see(served, brand):
    admin = Person(served).log_in("admin")
    assert "Brands are each tenant's own" in admin.open("/ui/brands").text
    (link,) = admin.open(f"/ui/brands?tenant={TENANT}").all("th a")
    assert brand.name in admin.open(str(link.attributes["href"])).text
