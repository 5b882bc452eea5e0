"""What a tenant does with the five applications behind the second wall: all of it works, and others see none of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from haulwright import Haulwright
from haulwright.application.application import install_all
from haulwright.apps.documents.manifest import Item
from haulwright.apps.prices import NewIntake
from haulwright.apps.syncs.connections import NewConnection
from haulwright.errors import Conflict
from haulwright.operations.principal import Principal
from haulwright.operations.request_stores import store_for
from tests.api.walled import ACME, GLOBEX, SUPPORT, request_of
from tests.apps.prices.scenes import json_rules

pytestmark = pytest.mark.postgres

FEED = "https://news.example/feed"
OPML = b'<opml version="2.0"><body><outline type="rss" xmlUrl="https://paper.example/rss"/></body></opml>'


@pytest.fixture
def app(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Haulwright]:
    """An app with the five applications."""
    monkeypatch.setenv("APIFY_TOKEN", "token-of-brands")
    for name in ("AIRBYTE_API_TOKEN", "AIRBYTE_API_TOKEN_OWN_ACME"):
        monkeypatch.setenv(name, "token-of-syncs")
    with closing(Haulwright(postgres_url)) as app:
        install_all(app)
        app.operations().schema.migrate()
        yield app


def use_brands(brands: Any, who: Principal) -> None:
    brand = brands.add(who, "Nordlys", {"tone": "calm"})
    connection = brands.connect(who, brand.id, "web", "pages", "https://nordlys.example")
    brands.update(who, brand.id, answers={"tone": "warm"})
    run = brands.compile(who, brand.id)
    assert brands.list(who) == [brands.get(who, brand.id)]
    assert brands.connections(who, brand.id) == [brands.connection(who, connection.id)]
    assert len(brands.plan(who, brand.id)) == 1
    assert brands.status(who, brand.id).run.id == brands.compile_run(who, run.id).id == run.id
    assert brands.evidence(who, brand.id, [connection.id]) == []
    assert brands.freshness(who, connection.id, force_refresh=False)
    brands.disconnect(who, connection.id)
    brands.remove(who, brand.id)
    assert brands.list(who) == []
    brands.add(who, "Nordlys")


def use_brief(brief: Any, who: Principal) -> None:
    feed = brief.add(who, FEED)
    assert len(brief.import_opml(who, OPML)) == 1
    brief.change_feed(who, feed.id, name="News")
    assert {each.name for each in brief.list_feeds(who)} >= {brief.get_feed(who, feed.id).name}
    assert len(brief.ingest(who)) == 2
    assert brief.cluster(who)
    brief.publish(who, "2026-08-01")
    assert brief.list_briefs(who) == []
    assert brief.newest_day(who) is None


def use_syncs(syncs: Any, who: Principal) -> None:
    for name, credential in (("shop", "shared"), ("own", "own-acme")):
        syncs.add(who, NewConnection(name, f"airbyte-{name}", "shop-1", "workspace", credential=credential))
    job_id = syncs.dispatch(who, "shop")
    assert len(list(syncs.list_connections(who))) == 2
    assert syncs.find_connection(who, "shop").enabled
    assert syncs.list_jobs(who) == [syncs.get_job(who, job_id)]
    assert syncs.get_stats(who)
    assert syncs.get_plan(who).name == "free"
    assert not syncs.enable(who, "shop", enabled=False).enabled
    assert syncs.remove(who, "shop", cancel=True) == job_id


def use_prices(prices: Any, who: Principal) -> None:
    source = prices.put_source(who, "coinhall", json_rules("https://coins.example"))
    prices.put_source(who, "coinhall", json_rules("https://coins.example", rate="10/min"))
    intake_id = prices.add_intake(who, NewIntake(title="Ardish crown")).intake_id
    prices.enable_source(who, "coinhall", enabled=True)
    prices.collect(who, intake_id)
    prices.collect_all(who)
    assert prices.get_source(who, "coinhall").source_id == source.source_id
    assert [each["name"] for each in prices.list_sources(who)] == ["coinhall"]
    assert [intake for intake, _ in prices.list_intakes(who, 10)] == [prices.get_intake(who, intake_id)]
    for look in (prices.list_points, prices.list_history, prices.list_quarantined, prices.list_valuations):
        assert look(who, intake_id) == []
    assert prices.find_valuation(who, intake_id) is None
    assert prices.value_anew(who, intake_id)
    (job,) = prices.list_jobs(who, intake_id)
    assert prices.get_job(who, job["id"]) == job


def use_documents(documents: Any, who: Principal) -> None:
    planned = documents.add(who, Item("https://files.example/report.pdf"))
    assert documents.add(who, Item("https://files.example/report.pdf")).key == planned.key
    assert len(documents.list_documents(who)) == 1
    assert documents.get_document(who, planned.job_id)
    assert documents.count_states(who) == {"PLANNED": 1}
    assert documents.get_totals(who)[0] == 0
    assert documents.search(who, "report") == documents.search_hits(who, "report") == []
    assert documents.list_under_way(who, [planned.key])
    assert documents.count_endings(who, [planned.key]) is not None
    assert [*documents.verify(who)] == []


def of_syncs(syncs: Any, who: Principal) -> list[Any]:
    return [*syncs.list_connections(who), *syncs.list_jobs(who)]


USES: dict[str, tuple[Callable[[Any, Principal], None], Callable[[Any, Principal], Any]]] = {
    "brands": (use_brands, lambda brands, who: brands.list(who)),
    "brief": (use_brief, lambda brief, who: list(brief.list_feeds(who))),
    "syncs": (use_syncs, of_syncs),
    "prices": (use_prices, lambda prices, who: [*prices.list_sources(who), *prices.list_jobs(who)]),
    "documents": (use_documents, lambda documents, who: documents.list_documents(who)),
}


@pytest.mark.parametrize("name", USES)
def test_an_application_does_for_a_tenant_behind_the_wall_what_it_does_without_one(app, name):
    use, look = USES[name]
    application = app.applications[name]

    with request_of(app, ACME):
        assert store_for(app, ACME) is app.store
        use(application, ACME)
        assert look(application, ACME)
        assert not look(application, GLOBEX), "whoever asks in this request sees the rows of acme alone"
    with request_of(app, GLOBEX):
        assert not look(application, ACME)


def test_a_rule_between_tenants_holds_behind_the_wall(app):
    syncs = app.applications["syncs"]
    with request_of(app, ACME):
        syncs.add(ACME, NewConnection("own", "airbyte-1", "shop-1", "workspace", credential="own-acme"))

    with request_of(app, GLOBEX), pytest.raises(Conflict, match="cannot be used here"):
        syncs.add(GLOBEX, NewConnection("theft", "airbyte-2", "shop-1", "workspace", credential="own-acme"))


def test_what_takes_support_is_done_behind_the_wall(app):
    with request_of(app, SUPPORT) as operations:
        syncs = app.applications["syncs"]
        syncs.add(SUPPORT, NewConnection("shop", "airbyte-shop", "shop-1", "workspace"))
        assert syncs.set_plan(SUPPORT, "growth") == 1
        assert operations.workers.page().rows == []
        assert operations.sources.page().rows == []
        assert operations.schedules.page().rows == []
