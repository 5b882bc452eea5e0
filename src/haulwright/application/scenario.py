"""What an act is: work that is enqueued, a look at how far it is, and what must be true afterwards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from haulwright.client.app import Haulwright
from haulwright.engine.job import Job
from haulwright.engine.transitions import FINAL, State
from haulwright.operations.principal import Principal
from haulwright.sandbox import Sandbox
from haulwright.stores.listing import JobFilter
from haulwright.stores.paging import PAGE_LIMIT


@dataclass(frozen=True, slots=True)
class World:
    """Where the demo plays."""

    app: Haulwright
    sandbox: Sandbox
    folder: Path
    tenant: str

    @property
    def principal(self) -> Principal:
        """Who asks in the demo: its tenant."""
        return Principal.of_tenant(self.tenant, "demo")

    def ended(self, job_ids: Iterable[str]) -> int:
        """How many of these jobs are over."""
        return sum(self.app.store.listing.get(job_id).state in FINAL for job_id in job_ids)

    def succeeded(self, job_ids: Iterable[str]) -> int:
        """How many of these jobs succeeded."""
        return sum(self.app.store.listing.get(job_id).state is State.SUCCEEDED for job_id in job_ids)

    def jobs(self) -> list[Job]:
        """Every job of the demo's tenant."""
        jobs: list[Job] = []
        after: str | None = None
        while True:
            page = self.app.store.listing.page(JobFilter(tenant=self.tenant), after=after, limit=PAGE_LIMIT)
            jobs += page.jobs
            after = page.next
            if after is None:
                return jobs

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """Ask the tables; `{tenant}` stands for the demo's tenant."""
        mark = "?" if self.app.store.database.dialect == "sqlite" else "%s"
        sql = query.format(tenant=mark)
        return self.app.store.database.read(lambda connection: connection.execute(sql, (self.tenant,)))


class Reached(NamedTuple):
    """How far an act is."""

    done: int
    total: int

    @property
    def is_end(self) -> bool:
        """Whether nothing is left."""
        return self.done >= self.total


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at, its value, and whether it is what it must be."""

    what: str
    value: str
    good: bool


class Act(ABC):
    """One application at work."""

    name: ClassVar[str]
    promise: ClassVar[str]
    """What it is about to show."""

    def __init__(self, world: World) -> None:
        self.world = world

    @staticmethod
    def environment(sandbox: Sandbox, folder: Path) -> Mapping[str, str]:  # noqa: ARG004 - for those who set something
        """The settings of its application, as environment variables: the outside world is the sandbox."""
        return {}

    @abstractmethod
    def begin(self) -> None:
        """Put its work on disk."""

    @abstractmethod
    def look(self) -> Reached:
        """How far it is; what depends on the work so far is enqueued here."""

    @abstractmethod
    def checks(self) -> list[Check]:
        """What must be true at the end."""

    @abstractmethod
    def commands(self) -> list[str]:
        """Where to look, in words to type."""
