"""The app of a worker for prices alone: `haulwright worker -A haulwright.apps.prices.worker:app`."""

from __future__ import annotations

from haulwright.application import app_with
from haulwright.apps.prices import SPEC

app = app_with(SPEC)
