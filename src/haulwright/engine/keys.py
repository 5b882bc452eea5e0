"""Keys: the same inputs give the same key, on every machine, in every run, for good.

A key is the SHA-256, in hex, of this UTF-8 text:

    haulwright-key-1 LF canonical JSON of a list

where the list is

    ["job", work_id, artifact_id, canonical_url]      for a job
    ["op", kind, job key, {context}]                  for an operation of a job
    ["effect", job key, name, arguments]              for an effect

The list keeps the parts apart, so that no two different inputs run together into one text. The recipe never changes;
a better one gets another number in the first line, and keys written under this one stay valid.
"""

from __future__ import annotations

import hashlib
from typing import Final, NewType

from haulwright.engine.payload import canonical
from haulwright.errors import InvalidValue

RECIPE: Final = "haulwright-key-1"

JobKey = NewType("JobKey", str)
"""The deterministic key of a job. A type of its own, so that a job's id is not given in its place."""


def job_key(work_id: str, artifact_id: str, canonical_url: str) -> JobKey:
    """Return the key of the job that fetches this artefact of this work from this address."""
    for name, value in (("work_id", work_id), ("artifact_id", artifact_id), ("canonical_url", canonical_url)):
        _require_text(name, value)
    return JobKey(_key("job", work_id, artifact_id, canonical_url))


def op_key(kind: str, job: JobKey, /, **context: object) -> str:
    """Return the key of one operation of a job, told from its others by the context."""
    _require_text("kind", kind)
    _require_text("job key", job)
    return _key("op", kind, job, context)


def effect_key(job: JobKey, name: str, args: object) -> str:
    """Return the key of an effect of a job; raises InvalidPayload where the arguments have no canonical JSON."""
    _require_text("job key", job)
    _require_text("name", name)
    return _key("effect", job, name, args)


def digest(text: str) -> str:
    """Return the SHA-256 of a text in hex, to compare large texts by."""
    return hashlib.sha256(text.encode()).hexdigest()


def _key(*parts: object) -> str:
    return digest(f"{RECIPE}\n{canonical(list(parts), root='key')}")


def _require_text(name: str, value: object) -> None:
    if not isinstance(value, str) or not value:
        raise InvalidValue(name, value, "is not a text with something in it", hint="It would merge different keys.")
