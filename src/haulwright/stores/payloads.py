"""Arguments of some size: they stand beside the row of their job, and no step of it writes or reads them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from haulwright.engine.job import Lease, NewJob
from haulwright.engine.payload import ARGS_INLINE_LIMIT_CHARS
from haulwright.stores.batches import size_of_text
from haulwright.stores.books import book
from haulwright.stores.connection import Connection, Database, as_columns

STUB = "beside"
"""What stands in the row of the job instead. No JSON: a version that does not look beside the row cannot run it."""
LOST = ""
"""The arguments of a job that should be there and are not: no JSON, so that nobody runs it without them."""


def is_large(args: str) -> bool:
    """Whether arguments stand beside their job. It is asked for every job, so characters are counted, not bytes."""
    return len(args) > ARGS_INLINE_LIMIT_CHARS


def inline(args: str) -> str:
    """What of these arguments stands in the row of the job."""
    return STUB if is_large(args) else args


class Payloads:
    """The arguments that stand beside their jobs."""

    def __init__(self, database: Database) -> None:
        self._db = database
        self._book = book("haulwright.stores", database.dialect, "payloads")

    def put(self, connection: Connection, jobs: Iterable[NewJob]) -> None:
        """Write the arguments of the large ones of these jobs, in the transaction that wrote the jobs."""
        large = [job for job in jobs if is_large(job.args)]
        if not large:
            return
        connection.bulk_insert(self._book["load"], (((job.id, job.args), ()) for job in large))
        sizes = [{"id": job.id, "payload_bytes": size_of_text(job.args)} for job in large]
        connection.run_batch(self._book["mark"], as_columns(sizes), {})

    def copy(self, connection: Connection, job_id: str, successor: str, payload_bytes: int) -> None:
        """Give the successor of a job the same arguments."""
        params = {"id": job_id, "successor": successor, "payload_bytes": payload_bytes}
        connection.run(self._book["copy"], params)

    def get(self, connection: Connection, job_ids: Sequence[str]) -> dict[str, str]:
        """The arguments of some jobs, by their ids."""
        rows = connection.run(self._book["get"], {"ids": list(job_ids)})
        stored = {str(job_id): args for job_id, args in rows}
        return {job_id: stored.get(job_id, LOST) for job_id in job_ids}

    def filled(self, leases: list[Lease]) -> list[Lease]:
        """Leases with their arguments, wherever those stand."""
        large = [lease.id for lease in leases if lease.payload_bytes is not None]
        if not large:
            return leases
        args = self._db.read(lambda connection: self.get(connection, large))
        return [lease._replace(args=args[lease.id]) if lease.id in args else lease for lease in leases]

    def are_waiting(self, connection: Connection, queue: str) -> bool:
        """Whether jobs of a queue wait whose arguments are large."""
        return bool(connection.run(self._book["are_waiting"], {"queue": queue}))

    def prune(self, connection: Connection, job_ids: Sequence[str]) -> None:
        """Remove what only pruned jobs needed."""
        if job_ids:
            connection.run(self._book["prune"], {"ids": list(job_ids)})
