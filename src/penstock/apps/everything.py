"""All applications on one app, for a worker of the whole house: `penstock worker -A penstock.apps.everything`."""

from __future__ import annotations

from penstock.apps import APPLICATIONS
from penstock.apps.application import application
from penstock.client.app import Penstock

app = Penstock()
for _name in APPLICATIONS:
    application(_name, app)
