"""The app of the proof, as a module that `penstock worker -A` and its children find by name."""

from __future__ import annotations

from penstock import Penstock
from penstock.apps.documents import Documents
from proof.support.site import Site

site = Site.from_environment()
app = Penstock(site.url, clock=site.clock)
documents = Documents.on(app)
