"""Eight coins in three shops that write money in three ways: every point once, one valuation for each coin."""

from __future__ import annotations

from typing import Any, ClassVar, Final

from penstock.apps.prices import NewIntake, Prices
from penstock.cli.acts.act import Act, Check, Reached
from penstock.sandbox.shop.catalogue import COINS, SHOPS

RATE: Final = "1200/min"
FIELDS: Final[dict[str, Any]] = {
    "id": {"select": "id"},
    "title": {"select": "title"},
    "url": {"select": "url", "type": "url"},
    "price": {"select": "price.amount", "type": "money"},
    "currency": {"select": "price.currency"},
    "price_type": {"select": "status"},
    "date": {"select": "sold_at", "type": "date"},
    "year": {"select": "year"},
}
LISTING: Final = {"format": "json", "item": "listings[*]", "next_page": "next", "fields": FIELDS}


class PricesAct(Act):
    """One job for each coin and shop."""

    name: ClassVar[str] = "prices"
    promise: ClassVar[str] = "eight coins are valued from three shops, each shop behind a gate of its own"

    def begin(self) -> None:
        """Say what is to be valued and where prices are, and ask for all of them."""
        sandbox, tenant = self.world.sandbox, self.world.tenant
        self._prices = Prices.on(self.world.app)
        for shop in SHOPS:
            sandbox.shop.script(shop=shop, limit={"count": 10_000, "seconds": 60})
            rules = {"url": f"{sandbox.url}/shop/{shop}/api/listings?q={{title}}", "listing": LISTING, "rate": RATE}
            self._prices.sources.put(tenant, shop, {**rules, "robots": False}, actor="demo")
        self._intakes = [
            self._prices.intakes.add(tenant, NewIntake(title=title, year=str(year)), actor="demo")
            for title, year, *_ in COINS
        ]
        self._jobs = [one.id for intake in self._intakes for one in self._prices.collect(tenant, intake.intake_id)]

    def look(self) -> Reached:
        """Jobs that are over."""
        return Reached(self.world.ended(self._jobs), len(self._jobs))

    def checks(self) -> list[Check]:
        """Every point once, and every valuation what its points give from scratch."""
        tenant = self.world.tenant
        valued = [(intake, self._prices.valuations.find(tenant, intake.intake_id)) for intake in self._intakes]
        right = sum(
            one is not None and one.valuation == self._prices.valuations.recompute(intake) for intake, one in valued
        )
        points = [point for intake in self._intakes for point in self._prices.points.current(tenant, intake.intake_id)]
        keys = {(point.intake_id, point.source_id, point.dedupe_key) for point in points}
        good, wanted = self.world.succeeded(self._jobs), len(self._jobs)
        return [
            Check("prices: collections", f"{good} of {wanted}", good == wanted),
            Check("prices: price points, none twice", str(len(points)), 0 < len(points) == len(keys)),
            Check("prices: valuations, as if made anew", f"{right} of {len(valued)}", right == len(valued)),
        ]

    def commands(self) -> list[str]:
        """What the first coin is worth, and why."""
        return [f"price show {self._intakes[0].intake_id} --tenant {self.world.tenant}"]
