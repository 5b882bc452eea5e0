"""The app of a worker for brief alone: `haulwright worker -A haulwright.apps.brief.worker:app`."""

from __future__ import annotations

from haulwright.application import app_with
from haulwright.apps.brief import SPEC

app = app_with(SPEC)
