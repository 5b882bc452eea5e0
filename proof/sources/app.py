"""The app of these proofs, as a module that `haulwright worker -A` and its children find by name."""

from __future__ import annotations

from proof.sources.fetching import Fetching
from proof.support.site import Site

fetching = Fetching(Site.from_environment())
app = fetching.app
