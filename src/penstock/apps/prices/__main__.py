"""`python -m penstock.apps.prices`: a worker for prices alone."""

from __future__ import annotations

from penstock.apps.prices.worker import main

main()
