"""`python -m penstock.apps.brief`: a worker for the brief alone."""

from __future__ import annotations

from penstock.apps.brief.worker import main

main()
