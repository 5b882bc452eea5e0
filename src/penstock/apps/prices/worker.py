"""The app of a worker for prices alone: `python -m penstock.apps.prices`.

The command line finds it as well: `penstock worker -A penstock.apps.prices.worker:app --queues prices`.
"""

from __future__ import annotations

from penstock.apps.prices.application import QUEUE, Prices
from penstock.client.app import Penstock

app = Penstock()
prices = Prices.on(app)


def main() -> None:
    """Work until a signal says stop."""
    app.run_worker(queues=(QUEUE,), signals=True)
