"""What a commit hands to its function: the database, inside the one fenced transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ParamSpec

from haulwright.errors import Refused

if TYPE_CHECKING:
    from haulwright.client.context import Context
    from haulwright.client.task import Task
    from haulwright.engine.stages import StageMachine
    from haulwright.stores.connection import Connection, Row
    from haulwright.stores.store import Store

P = ParamSpec("P")


class Tx:
    """An open transaction that holds the job. Do no I/O here: the database waits, and may ask for it again."""

    def __init__(self, connection: Connection, context: Context) -> None:
        self.connection = connection
        """For the books of an application."""
        self._context = context

    @property
    def dialect(self) -> str:
        """`sqlite` or `postgres`, for SQL that differs."""
        return self.connection.dialect

    @property
    def store(self) -> Store:
        """The memory that this transaction belongs to."""
        return self._context.store

    @property
    def job_key(self) -> str:
        """The key of the job that this transaction holds: what the ledger keeps its effects under."""
        return self._context.job.job_key

    def execute(self, sql: str, params: Any = None) -> list[Row]:
        """Run a statement of your own and return its rows, with the parameter style of the driver."""
        if params and self._has_places_of_the_other(sql):
            message = f"The statement has no place for its parameters as {self.dialect} writes them."
            raise Refused(message, hint="Write %s for each on PostgreSQL and ? on SQLite: tx.dialect says which it is.")
        return self.connection.execute(sql, params)

    def _has_places_of_the_other(self, sql: str) -> bool:
        """Whether a statement was written for the other kind of database: no parameter would find its place here."""
        if self.dialect == "postgres":
            return "?" in sql and "%" not in sql
        return "%s" in sql and not any(mark in sql for mark in "?:@$")

    def enqueue(self, task: Task[P, Any], *args: P.args, **kwargs: P.kwargs) -> str:
        """Enqueue a job that exists if and only if this transaction commits, and return its id."""
        lease = self._context.job
        correlation_id = lease.correlation_id or lease.id
        call = task.using(tenant=lease.tenant, correlation_id=correlation_id, headers=self._context.headers)
        (enqueued,) = self._context.store.jobs.enqueue_on(self.connection, [call.build(args, kwargs)])
        return enqueued.id

    def stage(self, to: str, machine: StageMachine) -> str:
        """Move the stage of the job's object, with the rows that make it true."""
        return self._context.store.effects.move_on(self.connection, self._context.job, machine, to)
