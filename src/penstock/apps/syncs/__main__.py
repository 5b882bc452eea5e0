"""`python -m penstock.apps.syncs`: a worker for syncs alone."""

from __future__ import annotations

from penstock.apps.syncs.worker import main

main()
