"""A frame of `haulwright top` for people: one line about the whole, and its tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haulwright.cli.kit.times import utc_seconds
from haulwright.operations.views.overview import FRAME_WORKER_COLUMNS, TROUBLE_COLUMNS, frame_queue_columns, frame_words

if TYPE_CHECKING:
    from haulwright.cli.kit.output import Out, Table
    from haulwright.operations.overview import Frame


def headline(frame: Frame) -> str:
    """The whole in a line."""
    return f"{utc_seconds(frame.at)}  {frame_words(frame)}"


def frame_tables(frame: Frame, out: Out) -> list[Table]:
    """Queues, workers, the last failures."""
    return [
        out.table(frame_queue_columns(frame), frame.queues, now=frame.at, empty="No queues."),
        out.table(FRAME_WORKER_COLUMNS, frame.workers, now=frame.at, empty="No live workers."),
        out.table(TROUBLE_COLUMNS, frame.troubles, now=frame.at, empty="No failures lately."),
    ]
