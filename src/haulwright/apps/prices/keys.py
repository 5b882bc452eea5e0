"""Keys of price points: which two observations are the same, by a rule with a number that is kept beside the key.

    ext_TYPE_DAY_CURRENCY_EXTERNALID      where the source names its listings
    hash_SHA256                           else: of the canonical JSON below, in full

The list is `[2, url, title, minor units, currency, day, type]`: the address without what only says who sent the
visitor, the title in lower case with single spaces. Type, day and currency stand before the external id, whose form is
the source's own business, so that no two different points run together into one text. A sale that does not say when
it was has no day: `undated` stands in its place, so that it is one point on whatever day it is read again. Number 1 is
the document's rule; see `haulwright.apps.prices.compat.document_key`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from haulwright.engine.keys import digest
from haulwright.engine.payload import canonical

if TYPE_CHECKING:
    from haulwright.apps.prices.offers import Offer

KEY_VERSION: Final = 2
"""Of the rule above. It grows when the rule changes; keys written under another one stay as they are."""


UNDATED: Final = "undated"
"""In the place of the day of a sale that does not say when it was."""


def dedupe_key(offer: Offer, day: str) -> str:
    """The key of one observation: a listing, at a kind of price, on the day of its sale or reading, in a currency."""
    day = offer.sold_on or (UNDATED if offer.price_type == "sold" else day)
    if offer.external_id is not None:
        return f"ext_{offer.price_type}_{day}_{offer.currency}_{offer.external_id}"
    title = normalized_title(offer.title)
    return _hash(KEY_VERSION, offer.url, title, offer.minor, offer.currency, day, offer.price_type)


def listing_key(offer: Offer) -> str:
    """The key of the listing itself, whatever it costs and whenever it was seen."""
    if offer.external_id is not None:
        return f"ext_{offer.external_id}"
    return _hash(KEY_VERSION, offer.url, normalized_title(offer.title))


def normalized_title(title: str) -> str:
    """A title in lower case with single spaces."""
    return " ".join(title.lower().split())


def _hash(*parts: object) -> str:
    return f"hash_{digest(canonical(list(parts)))}"
