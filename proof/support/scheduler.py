"""A scheduler process of a proof: it opens whatever is due, as fast as it can, until it is told to stop.

python -m proof.support.scheduler NAME
"""

from __future__ import annotations

import sys
import time
from contextlib import closing

from proof.support.site import BARRIER, STOP, Site

_NAP_SECONDS = 0.001


def main() -> int:
    """Race with the others for every slot."""
    site = Site.from_environment()
    with closing(site.open_store()) as store, closing(site.diary()) as diary:
        diary.write("scheduler.ready")
        while not site.has_flag(BARRIER):
            time.sleep(_NAP_SECONDS)
        while not site.has_flag(STOP):
            names = store.schedules.due()
            for name in names:
                opened = store.schedules.open_due(name, sys.argv[1])
                diary.write("opened", schedule=name, slots=opened.slots, jobs=len(opened.jobs))
            if not names:
                time.sleep(_NAP_SECONDS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
