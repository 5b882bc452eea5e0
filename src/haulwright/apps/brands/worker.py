"""The app of a worker for brands alone: `haulwright worker -A haulwright.apps.brands.worker:app`."""

from __future__ import annotations

from haulwright.application import app_with
from haulwright.apps.brands import SPEC

app = app_with(SPEC)
