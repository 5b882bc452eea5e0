"""The app of the proof, as a module that `haulwright worker -A` and its children find by name."""

from __future__ import annotations

from haulwright import Haulwright
from haulwright.apps.documents import Documents
from proof.support.site import Site

site = Site.from_environment()
app = Haulwright(site.url, clock=site.clock)
documents = Documents.on(app)
