"""The app of the proof, as a module that `haulwright worker -A` and its children find by name."""

from __future__ import annotations

from haulwright import Haulwright
from haulwright.apps.prices import Prices
from proof.support.site import Site

site = Site.from_environment()
app = Haulwright(site.url)
prices = Prices.on(app)
