"""The rule of a valuation: from points to what something is worth. Pure: the same points give the same valuation.

Sold prices come first: where there is one, nothing rests on what is asked. The centre is the median, the range reaches
from the first quartile to the third, the spread is the median distance from the median. A point that lies too far out
is named and does not count. Amounts are exact; only the last step rounds, to the nearest minor unit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import Any, Final

from haulwright.apps.prices.matching import STRONG_ENOUGH
from haulwright.apps.prices.rules import PRICE_TYPES

RULE_VERSION: Final = 1
"""Kept in every valuation. It grows when the same points would give another one."""
FEWEST_FOR_OUTLIERS: Final = 5
"""With fewer points nobody can say which of them lies out."""
FARTHEST: Final = Fraction(35, 10) / Fraction(6745, 10_000)
"""How many spreads from the median a point may lie: a modified z-score of 3.5, as Iglewicz and Hoaglin advise."""
LEAST_SPREAD: Final = Fraction(1, 100)
"""Of the median: where most prices are equal, a small difference is none."""
ENOUGH_POINTS: Final = 10
"""With so many points, more of them would make nobody surer."""
BELIEF: Final = {"sold": Fraction(1), "ask": Fraction(7, 10), "bid": Fraction(1, 2)}
"""How much a kind of price tells about what is paid."""


@dataclass(frozen=True, slots=True)
class Priced:
    """A point, as far as a valuation needs it."""

    source_id: str
    dedupe_key: str
    minor: int
    currency: str
    price_type: str
    strength: int


@dataclass(frozen=True, slots=True)
class Valuation:
    """What something is worth, and why."""

    currency: str | None
    basis: str | None
    """The kind of prices that it rests on; None where there are none."""
    centre: int | None
    low: int | None
    high: int | None
    spread: int | None
    confidence: int
    """From 0 to 100: by how many points, how close together, how well matched, and of which kind."""
    points: tuple[Priced, ...]
    """What it rests on, the lowest first."""
    outliers: tuple[Priced, ...]
    """What lies too far out to count."""
    left_out: dict[str, int]
    """How many more there are, by why they do not count."""
    rule: int = RULE_VERSION

    @property
    def detail(self) -> dict[str, Any]:
        """All of it as JSON: what is kept, and what two valuations are compared by."""
        return asdict(self)


def valuate(points: Sequence[Priced], currency: str | None = None) -> Valuation:
    """What these points say that something is worth, in a currency or in the one that most of them are in."""
    strong = [point for point in points if point.strength >= STRONG_ENOUGH]
    unit = currency or _commonest(strong)
    same = [point for point in strong if point.currency == unit]
    basis = next((kind for kind in PRICE_TYPES if any(point.price_type == kind for point in same)), None)
    counting = sorted((point for point in same if point.price_type == basis), key=_order)
    left_out = {
        "weak": len(points) - len(strong),
        "other_currency": len(strong) - len(same),
        "other_basis": len(same) - len(counting),
    }
    if not counting or basis is None:
        return Valuation(unit, None, None, None, None, None, 0, (), (), left_out)
    inside, outside = _split(counting)
    amounts = [Fraction(point.minor) for point in inside]
    centre, low, high = (_quantile(amounts, Fraction(part, 4)) for part in (2, 1, 3))
    spread = _median([abs(amount - centre) for amount in amounts])
    confidence = _confidence(inside, basis, (high - low) / centre)
    return Valuation(
        unit, basis, round(centre), round(low), round(high), round(spread), confidence, tuple(inside), tuple(outside),
        left_out,
    )  # fmt: skip


def _commonest(points: Sequence[Priced]) -> str | None:
    """The currency of most sold prices, then of most prices, then the first of the alphabet."""
    sold = Counter(point.currency for point in points if point.price_type == "sold")
    every = Counter(point.currency for point in points)
    return min(every, key=lambda unit: (-sold[unit], -every[unit], unit), default=None)


def _order(point: Priced) -> tuple[int, str, str]:
    return (point.minor, point.source_id, point.dedupe_key)


def _split(points: list[Priced]) -> tuple[list[Priced], list[Priced]]:
    """The points that count, and those that lie too far out."""
    if len(points) < FEWEST_FOR_OUTLIERS:
        return points, []
    centre = _median([Fraction(point.minor) for point in points])
    spread = _median(sorted(abs(point.minor - centre) for point in points))
    reach = FARTHEST * max(spread, centre * LEAST_SPREAD)
    inside = [point for point in points if abs(point.minor - centre) <= reach]
    return inside, [point for point in points if abs(point.minor - centre) > reach]


def _median(amounts: list[Fraction]) -> Fraction:
    return _quantile(sorted(amounts), Fraction(1, 2))


def _quantile(amounts: list[Fraction], part: Fraction) -> Fraction:
    """The amount below which this part of them lies, by straight lines between those that there are."""
    place = part * (len(amounts) - 1)
    below = int(place)
    above = min(below + 1, len(amounts) - 1)
    return amounts[below] + (place - below) * (amounts[above] - amounts[below])


def _confidence(points: Sequence[Priced], basis: str, width: Fraction) -> int:
    many = Fraction(min(len(points), ENOUGH_POINTS), ENOUGH_POINTS)
    matched = Fraction(sum(point.strength for point in points), 100 * len(points))
    return round(100 * BELIEF[basis] * many * matched * max(Fraction(0), 1 - width))
