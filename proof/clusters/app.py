"""The app of the claims, as a module that `haulwright worker -A` finds by name."""

from __future__ import annotations

from proof.clusters.claims import Claims
from proof.support.site import Site
from proof.support.workload import Workload

work = Workload(Site.from_environment())
claims = Claims(work)
app = work.app
