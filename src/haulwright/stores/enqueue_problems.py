"""What an enqueue says that broke off: what is known to be written, what is not, and what is safe to do."""

from __future__ import annotations

from collections.abc import Sequence

from haulwright.engine.job import NewJob
from haulwright.errors import DatabaseProblem, DatabaseUnavailable
from haulwright.stores.routing import has_lasting_key

LASTING = "a job_key or a unique key that outlives it"


def unknown_enqueue(jobs: Sequence[NewJob], trouble: DatabaseProblem) -> DatabaseUnavailable:
    """Nobody knows whether these jobs were written: which they are, how to look, and whether to try again is safe."""
    first_id = jobs[0].id
    which = f"job {first_id} was" if len(jobs) == 1 else f"{len(jobs)} jobs, the first of them {first_id}, were"
    if all(has_lasting_key(job) for job in jobs):
        again = "Enqueueing again is safe: its key makes it the same job."
    else:
        again = f"Look before you enqueue again: without {LASTING} the job may be made twice."
    message = f"Whether {which} written is not known: {trouble.message}"
    problem = DatabaseUnavailable(message, hint=f"Look with: haulwright job show {first_id}. {again}")
    problem.outcome_unknown = True
    problem.job_ids = tuple(job.id for job in jobs)
    return problem


def is_in_doubt(trouble: DatabaseProblem) -> bool:
    """Whether it may have been written all the same, so that it has to be looked for."""
    return isinstance(trouble, DatabaseUnavailable) and trouble.outcome_unknown


def not_tried(trouble: DatabaseProblem) -> DatabaseUnavailable:
    """Told to those behind one that met an outage. Of its job they learn nothing: it may be another tenant's."""
    message = "The database could not be used for a job before this one, so this one was not tried."
    problem = DatabaseUnavailable(message, hint="Nothing of it was written. Try again.")
    problem.__cause__ = trouble
    return problem


def hint_after_chunks(trouble: DatabaseUnavailable, written: int, count: int) -> str:
    """What to do after some chunks of an enqueue were written, and one was not."""
    share = f"Of all {count} jobs {written} were written."
    if trouble.outcome_unknown:
        return f"{share} {trouble.hint}"
    return f"{share} Enqueueing them all again is safe only for those with {LASTING}."
