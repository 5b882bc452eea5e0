"""Eight coins in three shops that write money in three ways: every point once, one valuation for each coin."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Final

from haulwright.application.scenario import Act, Check, Reached
from haulwright.apps.prices import NewIntake, Prices
from haulwright.sandbox import Sandbox
from haulwright.sandbox.shop.catalogue import COINS, SHOPS

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

    @staticmethod
    def environment(sandbox: Sandbox, folder: Path) -> Mapping[str, str]:  # noqa: ARG004 - as the class above says
        """Polite figures are for other people's servers: here nobody has a minute to wait."""
        return {
            "HAULWRIGHT_PRICES_PRIVATE_HOSTS": "127.0.0.1",
        }

    def begin(self) -> None:
        """Say what is to be valued and where prices are, and ask for all of them."""
        sandbox, who = self.world.sandbox, self.world.principal
        self._prices = Prices.on(self.world.app)
        for shop in SHOPS:
            sandbox.shop.script(shop=shop, limit={"count": 10_000, "seconds": 60})
            rules = {"url": f"{sandbox.url}/shop/{shop}/api/listings?q={{title}}", "listing": LISTING, "rate": RATE}
            self._prices.put_source(who, shop, {**rules, "robots": False})
        self._intakes = [
            self._prices.add_intake(who, NewIntake(title=title, year=str(year))) for title, year, *_ in COINS
        ]
        self._jobs = [job.id for intake in self._intakes for job in self._prices.collect(who, intake.intake_id)]

    def look(self) -> Reached:
        """Jobs that are over."""
        return Reached(self.world.ended(self._jobs), len(self._jobs))

    def checks(self) -> list[Check]:
        """Every point once, and every valuation what its points give from scratch."""
        who, ids = self.world.principal, [intake.intake_id for intake in self._intakes]
        valued = [(intake_id, self._prices.find_valuation(who, intake_id)) for intake_id in ids]
        right = sum(
            worth is not None and worth.valuation == self._prices.value_anew(who, intake_id)
            for intake_id, worth in valued
        )
        points = [point for intake_id in ids for point in self._prices.list_points(who, intake_id)]
        keys = {(point.intake_id, point.source_id, point.dedupe_key) for point in points}
        good, total = self.world.succeeded(self._jobs), len(self._jobs)
        return [
            Check("prices: collections", f"{good} of {total}", good == total),
            Check("prices: price points, none twice", str(len(points)), 0 < len(points) == len(keys)),
            Check("prices: valuations, as if made anew", f"{right} of {len(valued)}", right == len(valued)),
        ]

    def commands(self) -> list[str]:
        """What the first coin is worth, and why."""
        return [f"price show {self._intakes[0].intake_id} --tenant {self.world.tenant}"]


ACT: Final = PricesAct
