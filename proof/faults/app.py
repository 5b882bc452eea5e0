"""The app of the fault proofs, as a module that `haulwright worker -A` and its children find by name."""

from __future__ import annotations

from proof.faults.hazards import Hazards
from proof.support.company import note_groups
from proof.support.site import Site
from proof.support.workload import Workload

work = Workload(Site.from_environment())
hazards = Hazards(work)
note_groups(work.diary)
app = work.app
