"""How often the jobs of syncs run, and how long they wait in between."""

from __future__ import annotations

from typing import Final

from haulwright.apps.syncs.settings import SyncSettings

SYNC_RETRY: Final = SyncSettings().retry
"""A connector's sync as the document has it, where no setting says otherwise: 60 s doubling, five retries."""
