"""`python -m package` of an application: a worker for it alone, with the options of `haulwright worker`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

from haulwright.cli.kit.root import root

if TYPE_CHECKING:
    from haulwright.discovery import ApplicationSpec


def launch(spec: ApplicationSpec, words: list[str] | None = None) -> NoReturn:
    """Run a worker on the app of `package.worker`, for the queues of the application where no others are named."""
    arguments = sys.argv[1:] if words is None else words
    own = ["-A", f"{spec.package}.worker:app", "--queues", ",".join(spec.served_queues)]
    # What is typed stands behind our own words, and the last one that says something wins.
    root.main(["worker", *own, *arguments], prog_name=f"python -m {spec.package}")
