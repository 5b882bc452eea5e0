"""The app of a worker for the weather: `haulwright worker -A weather.worker:app --queues weather`."""

from __future__ import annotations

from haulwright.application import app_with
from weather import SPEC

app = app_with(SPEC)
