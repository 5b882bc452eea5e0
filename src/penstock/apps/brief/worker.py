"""The app of a worker for the brief alone: `python -m penstock.apps.brief`.

The command line finds it as well: `penstock worker -A penstock.apps.brief.worker:app --queues brief`.
"""

from __future__ import annotations

from penstock.apps.brief.application import QUEUE, Brief
from penstock.client.app import Penstock

app = Penstock()
brief = Brief.on(app)


def main() -> None:
    """Work until a signal says stop."""
    app.run_worker(queues=(QUEUE,), signals=True)
