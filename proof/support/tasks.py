"""The workload of this process, as a module: a job that once lost its lease runs in a child process that imports it."""

from __future__ import annotations

import os

from proof.support.company import note_groups
from proof.support.crashing import Death, Halt, watch
from proof.support.site import HALT_VARIABLE, TRACE_VARIABLE, Site
from proof.support.workload import Workload

site = Site.from_environment()
death = Halt.at(site) if HALT_VARIABLE in os.environ else Death.from_environment()
reached: set[str] = set()
"""The points that this process came to, where it was asked to remember them."""
if death.is_planned:
    watch(death.reach)
elif TRACE_VARIABLE in os.environ:
    watch(reached.add)

work = Workload(site, death.reach)
note_groups(work.diary)
app = work.app
