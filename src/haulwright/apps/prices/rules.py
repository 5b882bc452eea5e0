"""The rules of a source: where it answers, how its listings are read, and how often it may be asked."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from string import Formatter
from typing import Any, Final, Literal, get_args
from urllib.parse import quote

from haulwright.engine.durations import Duration
from haulwright.engine.source import SourceLimits, source_limits
from haulwright.errors import InvalidValue
from haulwright.sources.http.secret import shown_url
from haulwright.sources.scrape import FieldSpec, ListingSpec

PriceType = Literal["sold", "ask", "bid"]
PRICE_TYPES: Final[tuple[PriceType, ...]] = get_args(PriceType)
"""What was paid, what is asked, what is offered: in the order in which they are believed."""
WORDS: Final[Mapping[str, PriceType]] = {
    "sold": "sold", "realised": "sold", "realized": "sold", "hammer": "sold",
    "ask": "ask", "asking": "ask", "offer": "ask", "for_sale": "ask", "for sale": "ask", "listed": "ask",
    "bid": "bid", "bidding": "bid", "current bid": "bid",
}  # fmt: skip
"""What sources call them."""
REQUIRED: Final = ("title", "price")
"""Fields without which a listing is of no use."""
OWN_FIELDS: Final = ("id", "title", "price", "currency", "url", "price_type", "date")
"""Fields that mean something here; every other is an attribute to compare."""
MOST_PAGES: Final = 50

_ADDRESS: Final = re.compile(r"https?://[^/?#{}\s@]+[/?]")
_HINT: Final = "Write one such as https://shop.example/search?q={title}&year={year}."


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The rules of one source, checked."""

    url: str
    """With {title}, {year} and every other attribute of an intake; {words} is what one would type."""
    listing: ListingSpec
    price_type: PriceType = "ask"
    """Of listings that do not say it themselves."""
    price_types: Mapping[str, PriceType] = field(default_factory=dict)
    """What the words of this source mean, where they are not the usual ones."""
    rate: str | None = "30/min"
    concurrency: int | None = 2
    breaker: str | None = "5 failures / 5 min"
    cache: Duration | None = None
    """How long an answer is kept; None takes the setting, and 0 keeps none."""
    robots: bool = True
    """Ask robots.txt before each address, and obey it."""
    max_pages: int = 3
    drop_params: tuple[str, ...] = ()
    """Parameters that say nothing about a listing here, beside the usual trackers."""
    keep_params: tuple[str, ...] = ()
    """Parameters that tell listings apart here although they are usually trackers."""

    @classmethod
    def from_toml(cls, text: str) -> dict[str, Any]:
        """The mapping that a TOML document has, with its rules checked; refused saying what is wrong where."""
        try:
            options = tomllib.loads(text)
        except tomllib.TOMLDecodeError as fault:
            raise InvalidValue("rules", text[:60], f"are no TOML: {fault}") from fault
        cls.from_dict(options)
        return options

    @classmethod
    def from_dict(cls, options: Mapping[str, Any]) -> Rules:
        """The rules that a mapping describes, or refuse it saying what is wrong where."""
        options = dict(options)
        _require_known("rules", options, tuple(_CHECKS))
        for missing in ("url", "listing"):
            if missing not in options:
                raise InvalidValue("rules", sorted(options), f"lack {missing!r}")
        rules = cls(**{name: _CHECKS[name](name, value) for name, value in options.items()})
        rules.source_limits(0)
        return rules

    @property
    def version(self) -> int:
        """Of the parser: kept beside every point, and part of what is kept under which key."""
        return self.listing.version

    @property
    def money(self) -> FieldSpec:
        """How a price of this source is written."""
        return self.listing.fields["price"]

    @property
    def page(self) -> ListingSpec:
        """How a page is read: its prices as text, for what they mean may stand in another field."""
        fields = {**self.listing.fields, "price": replace(self.money, type="text", currency=None, decimal_mark=None)}
        return replace(self.listing, fields=fields)

    def source_limits(self, cache_seconds: float) -> SourceLimits:
        """What its gate allows."""
        cache = self.cache if self.cache is not None else cache_seconds
        return source_limits(rate=self.rate, concurrency=self.concurrency, breaker=self.breaker, cache=cache)

    def address(self, values: Mapping[str, str]) -> str:
        """Where to look for something: each value in its place, quoted, and nothing where there is none."""
        parts = Formatter().parse(self.url)
        return "".join(text + (quote(values.get(name, ""), safe="") if name else "") for text, name, _, _ in parts)

    def kind(self, word: str | None) -> PriceType | None:
        """What a word of this source means; None where that is not known."""
        if not word:
            return self.price_type
        return self.price_types.get(word) or WORDS.get(" ".join(word.lower().split()))


def _require_known(where: str, options: Mapping[str, Any], names: tuple[str, ...]) -> None:
    for word in options:
        if word not in names:
            near = get_close_matches(word, names, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Known are: {', '.join(names)}."
            raise InvalidValue(where, word, "is no option here", hint=hint)


def _template(name: str, value: Any) -> str:
    """An address with places for values, none of them in the name of the server."""
    safe_url = shown_url(str(value))
    if not isinstance(value, str) or not _ADDRESS.match(value):
        raise InvalidValue(name, safe_url, "is no address with a path", hint=_HINT)
    try:
        places = [(place, form, turned) for _, place, form, turned in Formatter().parse(value) if place is not None]
    except ValueError as fault:
        raise InvalidValue(name, safe_url, f"has a brace too many or too few: {fault}", hint=_HINT) from None
    for place, form, turned in places:
        if not place.isidentifier() or form or turned:
            raise InvalidValue(name, safe_url, f"has the place {place!r}, which is no attribute", hint=_HINT)
    return value


def _listing(name: str, value: Any) -> ListingSpec:
    spec = ListingSpec.from_dict(value if isinstance(value, Mapping) else {})
    for field_name in REQUIRED:
        if field_name not in spec.fields:
            raise InvalidValue(f"{name}.fields", sorted(spec.fields), f"lack {field_name!r}")
    if spec.fields["price"].type != "money":
        raise InvalidValue(f"{name}.fields.price.type", spec.fields["price"].type, "is not money")
    fields = {key: replace(how, required=how.required or key in REQUIRED) for key, how in spec.fields.items()}
    return replace(spec, fields=fields)


def _price_type(name: str, value: Any) -> PriceType:
    if value not in WORDS:
        raise InvalidValue(name, value, "is no kind of price", hint=f"It is one of: {', '.join(PRICE_TYPES)}.")
    return WORDS[value]


def _price_types(name: str, value: Any) -> dict[str, PriceType]:
    if not isinstance(value, Mapping):
        raise InvalidValue(name, value, "is no table", hint='Write, for example, {"Verkauft" = "sold"}.')
    return {str(word): _price_type(f"{name}.{word}", kind) for word, kind in value.items()}


def _names(name: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(entry, str) for entry in value):
        raise InvalidValue(name, value, "is no list of names")
    return tuple(value)


def _switch(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InvalidValue(name, value, "is neither true nor false")
    return value


def _pages(name: str, value: Any) -> int:
    if type(value) is not int or not 1 <= value <= MOST_PAGES:
        raise InvalidValue(name, value, f"is not a whole number from 1 to {MOST_PAGES}")
    return value


def _limit(_: str, value: Any) -> Any:
    """A figure that the gate checks. False is none; 0 is not, for nobody means by it that all may pass."""
    return None if value is False or value == "" else value


def _cache(name: str, value: Any) -> Any:
    """A time that the gate checks; with false, as with 0, nothing is kept."""
    return 0 if value is False else _limit(name, value)


_CHECKS: Final[Mapping[str, Callable[[str, Any], Any]]] = {
    "url": _template,
    "listing": _listing,
    "price_type": _price_type,
    "price_types": _price_types,
    "rate": _limit,
    "concurrency": _limit,
    "breaker": _limit,
    "cache": _cache,
    "robots": _switch,
    "max_pages": _pages,
    "drop_params": _names,
    "keep_params": _names,
}
"""Every option, and who checks it."""
