"""The app of a worker for documents alone: `haulwright worker -A haulwright.apps.documents.worker:app`."""

from __future__ import annotations

from haulwright.application import app_with
from haulwright.apps.documents import SPEC

app = app_with(SPEC)
