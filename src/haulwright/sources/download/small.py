"""A file that is small enough to be taken into memory: one request, and nothing on disk before all of it is there."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from haulwright.engine.job import LeaseKey
from haulwright.errors import Retryable
from haulwright.sources.download.errors import disk_errors
from haulwright.sources.download.fetch import DownloadOrder
from haulwright.sources.download.look import Hint
from haulwright.sources.download.writer import off_loop
from haulwright.sources.http import Stream

_OK: Final = 200


@dataclass(frozen=True, slots=True)
class SmallFile:
    """A file that arrived whole, in memory."""

    body: bytes = field(repr=False)
    sha256: str
    hint: Hint
    """What its answer said of it."""


def is_small(answer: Stream, hint: Hint, most_bytes: int, expected_bytes: int | None = None) -> bool:
    """Whether an answer announces all of a file, and no more of it than this."""
    if answer.status != _OK or hint.bytes is None:
        return False
    return hint.bytes <= most_bytes and expected_bytes in {None, hint.bytes}


async def aread_small(  # noqa: PLR0913 - what is wanted, each part with its name
    answer: Stream, hint: Hint, url: str, folder: str | Path, *, owner: LeaseKey, expected_sha256: str | None = None
) -> SmallFile | None:
    """Read a small file to its end; None where it is not what it should be.

    What arrived of one that breaks off is kept in a part, so that the next run of the job goes on from there.
    """
    body, announced = bytearray(), hint.bytes or 0
    order = DownloadOrder(Path(folder), url, owner, expected_sha256, None)
    try:
        async for chunk in answer:
            body += chunk
    except Exception:
        await _keep(order, hint, body)
        raise
    if len(body) < announced:
        await _keep(order, hint, body)
        what = answer.url.partition("?")[0]
        raise Retryable(f"{what}: {len(body)} of {announced} bytes arrived. The next run goes on from there.")
    small_file = SmallFile(bytes(body), hashlib.sha256(body).hexdigest(), hint)
    is_right = len(body) == announced and expected_sha256 in {None, small_file.sha256}
    return small_file if is_right else None


async def _keep(order: DownloadOrder, hint: Hint, body: bytearray) -> None:
    """Put the beginning of a file where a run that goes on looks for it, if one can."""
    if body and hint.validator is not None:
        with disk_errors():
            await off_loop(_write_part, order, hint, bytes(body))


def _write_part(order: DownloadOrder, hint: Hint, body: bytes) -> None:
    part = order.take()
    try:
        part.restart(replace(order.record(), validator=hint.validator, total=hint.bytes))
        part.write(body)
        part.sync()
    finally:
        part.close()
