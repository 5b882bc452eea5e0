"""The app of the chaos, as a module that `haulwright worker -A` and its children find by name."""

from __future__ import annotations

from proof.chaos.load import Load
from proof.support.site import Site

load = Load(Site.from_environment())
app = load.app
