"""The app of the restore drill, as a module that `haulwright worker -A` finds by name."""

from __future__ import annotations

from proof.backups.held import Held
from proof.support.site import Site
from proof.support.workload import Workload

work = Workload(Site.from_environment())
held = Held(work)
app = work.app
