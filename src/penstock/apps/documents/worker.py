"""The app of a worker for documents alone: `python -m penstock.apps.documents`.

The command line finds it as well:

    penstock worker -A penstock.apps.documents.worker:app --queues documents,documents-upkeep
"""

from __future__ import annotations

from penstock.apps.documents.application import QUEUE, UPKEEP, Documents
from penstock.client.app import Penstock

app = Penstock()
documents = Documents.on(app)


def main() -> None:
    """Work until a signal says stop."""
    app.run_worker(queues=(UPKEEP, QUEUE), signals=True)
