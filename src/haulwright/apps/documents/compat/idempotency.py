"""Keys: the same inputs give the same key, in every process and every retry."""

from __future__ import annotations

from typing import Final

from haulwright.engine import keys
from haulwright.engine.ids import is_id
from haulwright.engine.keys import JobKey
from haulwright.errors import InvalidValue

MOST_REMEMBERED: Final = 100_000
_keys_of_jobs: dict[str, JobKey] = {}
"""The keys of the jobs that this process planned or leased, so that an id may be given where a key is meant."""


def job_key(work_id: str, artifact_id: str, canonical_url: str) -> str:
    """The key of the job that fetches this artefact of this work from this address."""
    return keys.job_key(work_id, artifact_id, canonical_url)


def op_key(kind: str, jkey: str, **context: object) -> str:
    """The key of one operation of a job. The id of a job that this process knows stands for its key."""
    key = _keys_of_jobs.get(jkey)
    if key is None and is_id(jkey):
        hint = "Give its key: job_key(work_id, artifact_id, canonical_url)"
        raise InvalidValue("job key", jkey, "is the id of a job that was neither planned nor leased here", hint=hint)
    return keys.op_key(kind, key or JobKey(jkey), **context)


def remember(job_id: str, key: str) -> None:
    """Know the key of a job by its id from now on."""
    if len(_keys_of_jobs) >= MOST_REMEMBERED:
        del _keys_of_jobs[next(iter(_keys_of_jobs))]
    _keys_of_jobs[job_id] = JobKey(key)
