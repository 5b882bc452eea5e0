"""All applications on one app, for a worker of the whole house: `haulwright worker -A haulwright.apps.everything`."""

from __future__ import annotations

from haulwright.application.application import install_all
from haulwright.client.app import Haulwright

app = Haulwright()
install_all(app)
