"""`python -m penstock.apps.documents`: a worker for documents alone."""

from __future__ import annotations

from penstock.apps.documents.worker import main

main()
