"""What the shops have, and for how much, at a moment. A function of the seed and the time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache

from haulwright.sandbox.chance import chance, identifier

DAY = 86_400.0
OPENED = 1_767_225_600.0
"""1 January 2026: the first pieces come up for sale."""
PIECES = 120
DAYS_OF_ARRIVALS = 240
DAILY_DRIFT = 0.01
MOST_DAYS = 400
"""After this a price stands."""

COINS = (
    ("Ardish crown", 1887, "silver", 42_00),
    ("Holmsund thaler", 1764, "silver", 310_00),
    ("Belcastre florin", 1621, "gold", 1_850_00),
    ("Northolme penny", 1902, "bronze", 4_50),
    ("Quillan ducat", 1703, "gold", 940_00),
    ("Skarnes half-mark", 1848, "silver", 65_00),
    ("Tolverne jubilee medal", 1935, "bronze", 28_00),
    ("Vantry sixpence", 1816, "silver", 19_00),
)
CONDITIONS = ("F", "VF", "EF", "AU", "UNC")
WORTH = {"F": 0.6, "VF": 0.85, "EF": 1.2, "AU": 1.7, "UNC": 2.6}


@dataclass(frozen=True, slots=True)
class Shop:
    """One shop, and how it writes prices."""

    name: str
    title: str
    currency: str
    style: str
    """With {whole} and {cents}."""
    thousands: str


SHOPS: dict[str, Shop] = {
    shop.name: shop
    for shop in (
        Shop("coinhall", "Coin Hall", "GBP", "£{whole}.{cents}", ","),
        Shop("muenzkontor", "Münzkontor", "EUR", "{whole},{cents} €", "."),
        Shop("collectors-row", "Collectors Row", "USD", "${whole}.{cents}", ","),
    )
}


@dataclass(frozen=True, slots=True)
class Piece:
    """One piece for sale or sold, as it stands now."""

    id: str
    title: str
    year: int
    metal: str
    condition: str
    price: int
    """In the smallest unit of the currency: asked, or paid once it is sold."""
    listed: float
    sold: float | None

    def day(self, instant: float) -> str:
        """A moment as a date."""
        return datetime.fromtimestamp(int(instant), UTC).date().isoformat()


@lru_cache(maxsize=len(SHOPS))
def pieces(seed: int, shop: Shop, now: float) -> tuple[Piece, ...]:
    """What the shop shows now, newest first. While its clock stands, it is only worked out once."""
    pieces = [piece for number in range(PIECES) if (piece := _piece(seed, shop, number, now)).listed <= now]
    return tuple(sorted(pieces, key=lambda piece: (-piece.listed, piece.id)))


def price_text(shop: Shop, price: int) -> str:
    """A price as the shop writes it."""
    whole, cents = divmod(price, 100)
    return shop.style.format(whole=f"{whole:,}".replace(",", shop.thousands), cents=f"{cents:02}")


def _piece(seed: int, shop: Shop, number: int, now: float) -> Piece:
    luck = chance(seed, shop.name, number)
    title, year, metal, typical = luck.choice(COINS)
    condition = luck.choice(CONDITIONS)
    listed = OPENED + int(luck.uniform(0, DAYS_OF_ARRIVALS) * DAY)
    sold = listed + int(luck.uniform(5, 90) * DAY) if luck.random() < 0.5 else None  # noqa: PLR2004 - every other one
    first = typical * WORTH[condition] * luck.uniform(0.85, 1.2)
    days = int((min(now, sold or now) - listed) // DAY)
    steps = chance(seed, shop.name, number, "drift")
    drift = 1 + sum(steps.uniform(-1, 1) for _ in range(min(days, MOST_DAYS))) * DAILY_DRIFT
    return Piece(
        id=identifier(seed, shop.name, number, length=10),
        title=f"{title} {year}",
        year=year,
        metal=metal,
        condition=condition,
        price=round(first * drift),
        listed=listed,
        sold=sold if sold is not None and sold <= now else None,
    )
