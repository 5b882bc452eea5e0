"""The app of a worker for syncs alone: `haulwright worker -A haulwright.apps.syncs.worker:app`."""

from __future__ import annotations

from haulwright.application import app_with
from haulwright.apps.syncs import SPEC

app = app_with(SPEC)
