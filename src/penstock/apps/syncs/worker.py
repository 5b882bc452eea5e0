"""The app of a worker for syncs alone: `python -m penstock.apps.syncs`.

The command line finds it as well: `penstock worker -A penstock.apps.syncs.worker:app --queues syncs`.
"""

from __future__ import annotations

from penstock.apps.syncs.application import QUEUE, Syncs
from penstock.client.app import Penstock

app = Penstock()
syncs = Syncs.on(app)


def main() -> None:
    """Work until a signal says stop."""
    app.run_worker(queues=(QUEUE,), signals=True)
