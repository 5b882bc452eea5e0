"""How long it takes to be polite: what the rate of their hosts alone means for many documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from haulwright.apps.documents.identity import host_of
from haulwright.engine.durations import rate, spell

if TYPE_CHECKING:
    from haulwright.apps.documents.settings import DocumentSettings

WORTH_SAYING_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Politeness:
    """What the rate of one host means for the documents that come from it."""

    host: str
    """The host that takes longest."""
    documents: int
    """New ones that come from it."""
    rate: str
    seconds: float
    """It takes no less, with one request for each, whatever the machine and the network can do."""

    @property
    def is_worth_saying(self) -> bool:
        """Whether anybody would notice."""
        return self.seconds >= WORTH_SAYING_SECONDS

    @property
    def text(self) -> str:
        """For people."""
        whole = f"{self.documents:,} document{'s' if self.documents != 1 else ''} of {self.host}"
        return f"Politeness: {whole} at {self.rate} take at least {spell(round(self.seconds))}."


def politeness_of(urls: Iterable[str], figures: DocumentSettings) -> Politeness | None:
    """The host that takes longest of those that these addresses are at; None where there is no address."""
    hosts = Counter(map(host_of, urls))
    if not hosts:
        return None
    ((host, documents),) = hosts.most_common(1)
    allowed = rate(figures.host_rate)
    waiting = max(0, documents - figures.host_burst)
    return Politeness(host, documents, figures.host_rate, round(waiting * allowed.per_seconds / allowed.count, 3))
