"""How a worker works: what a person may say about it, checked before anything is claimed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from haulwright.engine.names import check_name
from haulwright.errors import InvalidValue


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    """How a worker works."""

    queues: Sequence[str] = ("default",)
    concurrency: int = 8
    poll_interval: float = 5.0
    grace: float = 25.0
    once: bool = False
    """One job to its end, with the jobs that it waits for, then stop; stop at once where none is due."""
    max_jobs: int = 0
    """Stop when so many jobs have ended here; 0 is no limit. One that is put off or tried again has not."""
    until_empty: bool = False
    """Stop when nothing is due and nothing runs here."""
    exclusive: bool = False
    """Refuse to start beside another live worker."""
    name: str | None = None
    schedules: bool = True

    def __post_init__(self) -> None:
        """Refuse what makes no sense, before anything is claimed."""
        if not self.queues or isinstance(self.queues, str):
            raise InvalidValue("queues", self.queues, "is not a list of names", hint="Write queues=('default',).")
        for queue in self.queues:
            check_name("queue", queue)
        if not 1 <= self.concurrency <= 10_000:  # noqa: PLR2004 - a sane bound
            raise InvalidValue("concurrency", self.concurrency, "is not between 1 and 10000")
        for what, value in (("poll_interval", self.poll_interval), ("grace", self.grace)):
            if not 0 <= value <= 86400:  # noqa: PLR2004 - a day
                raise InvalidValue(what, value, "is not between 0 and 86400 seconds")

    @property
    def limit(self) -> int:
        """How many jobs it may bring to their ends; 0 is no limit."""
        return 1 if self.once else max(0, self.max_jobs)

    @property
    def ends_by_itself(self) -> bool:
        """Whether it is started for what is there now: nobody may come after it."""
        return self.once or self.until_empty
