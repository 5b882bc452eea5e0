"""The chart of an intake: its prices over time and what they say it is worth, as one SVG that needs nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from html import escape
from typing import Final

from haulwright.apps.prices.amounts import amount_text
from haulwright.apps.prices.points import Point
from haulwright.apps.prices.valuation import Valuation

WIDTH: Final = 900
HEIGHT: Final = 480
LEFT: Final = 130
RIGHT: Final = 60
"""Room for half of the last date."""
TOP: Final = 84
BOTTOM: Final = 60
MOST_DRAWN: Final = 2_000
TITLE_CHARS: Final = 70
TICKS: Final = 5
_STYLE: Final = """
  .prices { font: 13px system-ui, sans-serif; background: #ffffff; --ink: #1f2328; --faint: #d0d7de; --quiet: #59636e;
        --sold: #0b6bcb; --ask: #b35900; --bid: #6f42c1; --band: #0b6bcb }
  @media (prefers-color-scheme: dark) {
    .prices { background: #0d1117; --ink: #f0f6fc; --faint: #30363d; --quiet: #9198a1; --sold: #58a6ff; --ask: #e3924b;
          --bid: #bc8cff; --band: #58a6ff } }
  .prices text { fill: var(--ink) } .prices .quiet { fill: var(--quiet) }
  .prices .title { font-size: 18px; font-weight: 600 } .prices .grid { stroke: var(--faint) }
  .prices .axis { stroke: var(--quiet) } .prices .band { fill: var(--band); opacity: .12 }
  .prices .centre { stroke: var(--band); stroke-width: 2; stroke-dasharray: 6 4 }
  .prices .sold { fill: var(--sold); stroke: var(--sold) } .prices .ask { fill: var(--ask); stroke: var(--ask) }
  .prices .bid { fill: var(--bid); stroke: var(--bid) } .prices .out { fill: none; stroke-width: 1.5 }
  .prices .weak { opacity: .45 }
"""
_KINDS: Final = {"sold": "sold", "ask": "asked", "bid": "bid"}


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where a day and an amount lie on the paper."""

    first: date
    last: date
    lowest: int
    highest: int

    def x(self, day: date) -> float:
        width = max(1, (self.last - self.first).days)
        return round(LEFT + (WIDTH - LEFT - RIGHT) * (day - self.first).days / width, 1)

    def y(self, minor: int) -> float:
        part = (minor - self.lowest) / max(1, self.highest - self.lowest)
        return round(HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * part, 1)


def chart(title: str, points: Sequence[Point], valuation: Valuation) -> str:
    """The prices of one currency as SVG: each kind with a shape of its own, the valuation as a line in its range."""
    unit = valuation.currency or next((point.currency for point in points), None)
    visible = [point for point in points if point.currency == unit][:MOST_DRAWN]
    parts = [*_head(title, valuation, len(visible))]
    if visible and unit is not None:
        frame = _frame(visible, valuation)
        counts = {(price.source_id, price.dedupe_key) for price in valuation.points}
        outside = {(price.source_id, price.dedupe_key) for price in valuation.outliers}
        parts += _amount_axis(frame, unit)
        parts += _day_axis(frame)
        parts += _worth(frame, valuation)
        parts += [_mark(frame, point, counts, outside) for point in reversed(visible)]
        parts += _legend()
    return "\n".join([*parts, "</svg>", ""])


def _head(title: str, valuation: Valuation, count: int) -> Iterator[str]:
    heading = escape(title if len(title) <= TITLE_CHARS else f"{title[: TITLE_CHARS - 1]}…")
    summary = escape(_sentence(valuation, count))
    yield (
        f'<svg class="prices" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="chart-title chart-told">'
    )
    yield f'<title id="chart-title">{heading}</title>\n<desc id="chart-told">{summary}</desc>\n<style>{_STYLE}</style>'
    yield f'<text class="title" x="{LEFT}" y="30">{heading}</text>'
    yield f'<text class="quiet" x="{LEFT}" y="52">{summary}</text>'


def _sentence(valuation: Valuation, count: int) -> str:
    """The chart in one sentence, for those who do not see it too."""
    if valuation.centre is None:
        return f"No valuation: none of {count} prices compares." if count else "No prices yet."
    worth = amount_text(valuation.centre, valuation.currency)
    reach = f"{amount_text(valuation.low, valuation.currency)} to {amount_text(valuation.high, valuation.currency)}"
    kind = _KINDS[valuation.basis or "ask"]
    return f"{worth} ({reach}) by {len(valuation.points)} prices {kind}, confidence {valuation.confidence} of 100"


def _frame(points: Sequence[Point], valuation: Valuation) -> _Frame:
    days = [date.fromisoformat(point.day) for point in points]
    amounts = [point.minor for point in points] + [end for end in (valuation.low, valuation.high) if end is not None]
    first, last = min(days), max(days)
    if first == last:
        first, last = first - timedelta(days=1), last + timedelta(days=1)
    air = max(1, (max(amounts) - min(amounts)) // 20)
    return _Frame(first, last, max(0, min(amounts) - air), max(amounts) + air)


def _amount_axis(frame: _Frame, unit: str) -> Iterator[str]:
    step = _step(frame.highest - frame.lowest)
    for minor in range(-(-frame.lowest // step) * step, frame.highest + 1, step):
        y = frame.y(minor)
        yield f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y}" y2="{y}"/>'
        yield f'<text class="quiet" x="{LEFT - 10}" y="{y + 4}" text-anchor="end">{amount_text(minor, unit)}</text>'


def _step(width: int) -> int:
    """A round distance of which a few make the width: 1, 2 or 5, with as many zeros as it takes."""
    rough, ten = max(1, width // TICKS), 1
    while ten * 10 <= rough:
        ten *= 10
    return next((ten * part for part in (1, 2, 5) if ten * part >= rough), ten * 10)


def _day_axis(frame: _Frame) -> Iterator[str]:
    floor, length = HEIGHT - BOTTOM, (frame.last - frame.first).days
    yield f'<line class="axis" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{floor}" y2="{floor}"/>'
    for number in sorted({length * part // (TICKS - 1) for part in range(TICKS)}):
        day = frame.first + timedelta(days=number)
        x = frame.x(day)
        yield f'<line class="axis" x1="{x}" x2="{x}" y1="{floor}" y2="{floor + 5}"/>'
        yield f'<text class="quiet" x="{x}" y="{floor + 20}" text-anchor="middle">{day.isoformat()}</text>'


def _worth(frame: _Frame, valuation: Valuation) -> Iterator[str]:
    """The range and the centre of the valuation, over the whole width."""
    if valuation.centre is None or valuation.low is None or valuation.high is None:
        return
    top, bottom, centre = frame.y(valuation.high), frame.y(valuation.low), frame.y(valuation.centre)
    width = WIDTH - LEFT - RIGHT
    yield f'<rect class="band" x="{LEFT}" y="{top}" width="{width}" height="{round(max(1.0, bottom - top), 1)}"/>'
    yield f'<line class="centre" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{centre}" y2="{centre}"/>'


def _mark(frame: _Frame, point: Point, counts: set[tuple[str, str]], outside: set[tuple[str, str]]) -> str:
    """A point: filled where it counts, hollow where it lies out, pale where it is neither."""
    key = (point.source_id, point.dedupe_key)
    how = point.price_type + (" out" if key in outside else "" if key in counts else " weak")
    label = f"{point.day}: {amount_text(point.minor, point.currency)} {_KINDS[point.price_type]}, {point.title}"
    x, y = frame.x(date.fromisoformat(point.day)), frame.y(point.minor)
    return f'<g class="{how}"><title>{escape(label[:200])}</title>{_shape(point.price_type, x, y)}</g>'


def _shape(kind: str, x: float, y: float) -> str:
    """A shape for each kind, so that colour is not the only thing that tells them apart."""
    if kind == "sold":
        return f'<circle cx="{x}" cy="{y}" r="5"/>'
    if kind == "ask":
        return f'<rect x="{x - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9"/>'
    return f'<path d="M{x} {y - 6:.1f}L{x + 5.5:.1f} {y + 4:.1f}L{x - 5.5:.1f} {y + 4:.1f}Z"/>'


def _legend() -> Iterator[str]:
    y, x = HEIGHT - 14, float(LEFT + 6)
    for kind, word in _KINDS.items():
        yield f'<g class="{kind}">{_shape(kind, x, y - 4)}</g><text x="{x + 12}" y="{y}">{word}</text>'
        x += 80
    yield f'<g class="sold out">{_shape("sold", x, y - 4)}</g><text x="{x + 12}" y="{y}">too far out</text>'
    x += 110
    yield f'<g class="sold weak">{_shape("sold", x, y - 4)}</g><text x="{x + 12}" y="{y}">does not count</text>'
    x += 130
    yield f'<line class="centre" x1="{x}" x2="{x + 24}" y1="{y - 4}" y2="{y - 4}"/>'
    yield f'<text x="{x + 32}" y="{y}">valuation and its range</text>'
