"""The figures of documents: where, how much, how fast. They are settings, with `documents_` before their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

from haulwright.application import ApplicationSettings, setting
from haulwright.apps.documents.retry import FETCH_RETRY
from haulwright.engine.durations import rate
from haulwright.settings import DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentSettings(ApplicationSettings):
    """What can be set. `HAULWRIGHT_DOCUMENTS_FOLDER` sets `folder`, and so on."""

    prefix: ClassVar[str] = "documents_"

    folder: str = setting("runs/content", "where the files of documents are")
    staging: str | None = setting(None, "where they are until they are whole; else .staging in that folder")
    private_hosts: str = setting("", "hosts and networks of documents that need not be public, comma separated")
    host_rate: str = setting("120/min", "requests to one host of documents")
    host_burst: int = setting(10, "how many of them may go at once", minimum=1, maximum=10_000)
    host_concurrency: int = setting(4, "how many of them may be under way", minimum=1, maximum=10_000)
    attempts: int = setting(FETCH_RETRY.attempts, "how often a document is tried", minimum=1, maximum=1000)
    lease_seconds: float = setting(120.0, "the lease of a document", minimum=1, maximum=DAY)
    largest_bytes: int = setting(2 * 1024**3, "a larger document is refused", minimum=1, maximum=64 * 1024**3)
    small_bytes: int = setting(
        1024**2, "up to this size the steps of a document are recorded at once", maximum=16 * 1024**2
    )
    cron: str = setting("*/5 * * * *", "when it is looked whether documents should be reconciled")
    reconcile_seconds: float = setting(3600.0, "after so long they are, whatever happened", minimum=60)
    stale_part_seconds: float = setting(3600.0, "how long a part without a job is left alone")
    reading_seconds: float = setting(30.0, "how long the text of a PDF may take to read", minimum=1, maximum=3600)
    reading_bytes: int = setting(1024**3, "how much memory that may take", minimum=256 * 1024**2, maximum=2**40)

    def __post_init__(self) -> None:
        rate(self.host_rate, what="documents_host_rate")


FIGURES: Final = DocumentSettings.figures()
