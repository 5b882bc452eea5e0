"""The workload of this process, as a module: a job that once lost its lease runs in a child process that imports it."""

from __future__ import annotations

from proof.support.crashing import Death
from proof.support.site import Site
from proof.support.workload import Workload

death = Death.from_environment()
work = Workload(Site.from_environment(), death.reach)
app = work.app
