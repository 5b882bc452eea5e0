"""A small world for tests of prices: intakes, shops on the test's clock, pages that a test writes itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from haulwright import Haulwright, Principal
from haulwright.apps.prices import NewIntake, Prices
from haulwright.apps.prices.intakes import Intake
from haulwright.apps.prices.offers import Offer
from haulwright.apps.prices.sources import PriceSource
from haulwright.apps.prices.valuations import Valued
from haulwright.engine.job import Job
from haulwright.sandbox import Sandbox
from haulwright.testing.harness import Harness

PACKAGE = "haulwright.apps.prices"
TENANT = "acme"
WHO = Principal.of_tenant(TENANT)
OPEN = {"rate": "1000000/min", "concurrency": 100, "robots": False}
"""A gate that nobody waits for: a wait takes real time."""
JSON_FIELDS: dict[str, Any] = {
    "id": {"select": "id"},
    "title": {"select": "title"},
    "url": {"select": "url", "type": "url"},
    "price": {"select": "price.amount", "type": "money"},
    "currency": {"select": "price.currency"},
    "price_type": {"select": "status"},
    "date": {"select": "sold_at", "type": "date"},
    "year": {"select": "year"},
}
HTML_FIELDS: dict[str, Any] = {
    "title": {"select": "a.title"},
    "url": {"select": "a.title", "attribute": "href", "type": "url"},
    "price": {"select": ".price", "type": "money"},
    "price_type": {"select": "em.sold"},
}


def json_rules(base: str, shop: str = "coinhall", **said: Any) -> dict[str, Any]:
    """The rules of a shop of the sandbox that answers programs."""
    listing = {"format": "json", "item": "listings[*]", "next_page": "next", "fields": JSON_FIELDS}
    return {"url": f"{base}/shop/{shop}/api/listings?q={{title}}", "listing": listing, **OPEN, **said}


def html_rules(base: str, shop: str, currency: str, mark: str, **said: Any) -> dict[str, Any]:
    """The rules of the same shop as people see it."""
    price = {**HTML_FIELDS["price"], "currency": currency, "decimal_mark": mark}
    fields = {**HTML_FIELDS, "price": price}
    listing = {"format": "html", "item": "li.item", "next_page": "a.next", "fields": fields}
    return {"url": f"{base}/shop/{shop}/coins?q={{title}}", "listing": listing, **OPEN, **said}


def listed(**said: Any) -> dict[str, Any]:
    """One listing as the sandbox's shops answer programs, with what a test says otherwise."""
    amount, currency = said.pop("amount", "42.00"), said.pop("currency", "GBP")
    known = {
        "id": "1",
        "title": "Ardish crown 1887",
        "url": "https://shop.example/items/1",
        "price": {"amount": amount, "currency": currency},
        "status": "sold",
        "sold_at": "2026-08-01",
        "year": 1887,
    }
    return {name: value for name, value in {**known, **said}.items() if value is not None}


def offer(**said: Any) -> Offer:
    """An offer, with what a test says otherwise."""
    known: dict[str, Any] = {
        "external_id": "1",
        "url": "https://shop.example/items/1",
        "title": "Ardish crown 1887",
        "minor": 4200,
        "currency": "GBP",
        "price_type": "sold",
        "sold_on": None,
        "attributes": {},
    }
    return Offer(**{**known, **said})


@dataclass
class World:
    """What a test of prices works with."""

    bench: Harness
    sandbox: Sandbox
    app: Haulwright
    prices: Prices

    @classmethod
    def open(cls, bench: Harness, sandbox: Sandbox) -> World:
        """Prices on a fresh app that may ask this machine, on the database and clock of the bench."""
        app = Haulwright()
        prices = Prices(app, private_hosts="127.0.0.1")
        bench.use(app)
        for shop in ("coinhall", "muenzkontor", "collectors-row"):
            sandbox.shop.script(shop=shop, limit={"count": 1_000_000, "seconds": 60})
        return cls(bench, sandbox, app, prices)

    def intake(self, title: str | None = "Ardish crown", *, tenant: str = TENANT, **said: Any) -> Intake:
        return self.prices.intakes.add(tenant, NewIntake(title=title, **said))

    def source(self, name: str = "coinhall", *, tenant: str = TENANT, **said: Any) -> PriceSource:
        """A shop of the sandbox, for programs."""
        shop = said.pop("shop", name)
        return self.prices.sources.put(tenant, name, json_rules(self.sandbox.url, shop, **said))

    def page(self, name: str = "odd", **said: Any) -> PriceSource:
        """A source whose next page is what a test writes: `answer` or `answer_text`."""
        rules = {**json_rules(self.sandbox.url), "url": f"{self.sandbox.url}/shop/coinhall/page/{name}?q={{title}}"}
        return self.prices.sources.put(TENANT, name, {**rules, **said})

    def answer(self, name: str, *listings: Mapping[str, Any], **said: Any) -> None:
        """What the page of a source says, once."""
        self.answer_text(name, json.dumps({"listings": listings, "next": None}), **said)

    def answer_text(self, name: str, body: str, **said: Any) -> None:
        """The same in the words of the page itself."""
        path = f"/shop/coinhall/page/{name}"
        self.sandbox.faults.add("status", path=path, body=body, **{"code": 200, **said})

    def collect(self, intake: Intake, **said: Any) -> list[Job]:
        """Collect for an intake, work, and return the jobs as they then are."""
        made = self.prices.collect(Principal.of_tenant(intake.tenant), intake.intake_id, **said)
        self.bench.drain()
        return [self.bench.store.listing.get(one.id) for one in made]

    def valued(self, intake: Intake) -> Valued:
        """The valuation of an intake, which there must be."""
        found = self.prices.valuations.find(intake.tenant, intake.intake_id)
        assert found is not None
        return found

    def points(self, intake: Intake) -> list[Any]:
        return self.prices.points.history(intake.tenant, intake.intake_id)

    def reasons(self, intake: Intake) -> list[str]:
        """Why items could not be used."""
        return [one["reason"] for one in self.prices.points.quarantined(intake.tenant, intake.intake_id)]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a person reads with SQL."""
        return self.bench.store.database.read(lambda connection: connection.execute(sql))
