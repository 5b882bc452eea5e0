"""The figures of documents: where, how much, how fast. They are settings, with `documents_` before their names."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Self

from penstock.engine.words import rate
from penstock.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What can be set. `PENSTOCK_DOCUMENTS_FOLDER` sets `folder`, and so on."""

    folder: str
    """Where the files are."""
    staging: str | None
    """Where they are until they are whole; without a word, `.staging` in that folder."""
    private_hosts: str
    """Hosts and networks that need not be public, comma separated. All others must be."""
    host_rate: str
    """Requests to one host, in the whole fleet."""
    host_burst: int
    """How many of them may go at once after a quiet time."""
    host_concurrency: int
    """How many of them may be under way."""
    attempts: int
    """How often a document is tried."""
    lease_seconds: float
    """For how long a worker has a document before it must say that it lives."""
    largest_bytes: int
    """A file that is larger is refused."""
    cron: str
    """When it is looked whether there is a reason to reconcile."""
    reconcile_seconds: float
    """After so long there is."""
    stale_part_seconds: float
    """For so long nothing is written to what counts as left behind."""
    reading_seconds: float
    """How long the text of a PDF may take to be read."""
    reading_bytes: int
    """How much memory it may take."""

    def __post_init__(self) -> None:
        rate(self.host_rate, what="documents_host_rate")

    @classmethod
    def load(cls, settings: Settings | None = None, **said: Any) -> Self:
        """The figures of the settings, with what is said here in their place."""
        known = settings or Settings.load()
        return cls(**{one.name: said.get(one.name, known[f"documents_{one.name}"]) for one in fields(cls)})
