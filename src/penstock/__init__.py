"""Penstock: jobs that survive crashes, effects that happen once, sources that are never hammered.

This is the menu. A name is fetched when it is first asked for, so that `penstock --version` need not wait for all.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from penstock.__about__ import __version__

if TYPE_CHECKING:
    from penstock.client.app import Penstock
    from penstock.client.context import Context
    from penstock.client.handle import Handle
    from penstock.client.principal import Principal
    from penstock.client.task import Task
    from penstock.client.transaction import Tx
    from penstock.engine.job import Job
    from penstock.engine.outcome import Bury, Cancel, Done, Skip, Snooze
    from penstock.engine.retry import Retry
    from penstock.engine.stages import StageMachine
    from penstock.engine.task import Concurrency, UniqueBy
    from penstock.engine.transitions import State
    from penstock.errors import (
        AuthFailed,
        Cancelled,
        JobFailed,
        LeaseLost,
        PenstockError,
        Permanent,
        Retryable,
        Throttled,
    )
    from penstock.sources.source import Source

_WHERE = {
    "Penstock": "penstock.client.app",
    "Context": "penstock.client.context",
    "Handle": "penstock.client.handle",
    "Principal": "penstock.client.principal",
    "Task": "penstock.client.task",
    "Tx": "penstock.client.transaction",
    "Job": "penstock.engine.job",
    "Bury": "penstock.engine.outcome",
    "Cancel": "penstock.engine.outcome",
    "Done": "penstock.engine.outcome",
    "Skip": "penstock.engine.outcome",
    "Snooze": "penstock.engine.outcome",
    "Retry": "penstock.engine.retry",
    "StageMachine": "penstock.engine.stages",
    "Concurrency": "penstock.engine.task",
    "UniqueBy": "penstock.engine.task",
    "State": "penstock.engine.transitions",
    "AuthFailed": "penstock.errors",
    "Cancelled": "penstock.errors",
    "JobFailed": "penstock.errors",
    "LeaseLost": "penstock.errors",
    "PenstockError": "penstock.errors",
    "Permanent": "penstock.errors",
    "Retryable": "penstock.errors",
    "Throttled": "penstock.errors",
    "Source": "penstock.sources.source",
}

__all__ = [
    "AuthFailed",
    "Bury",
    "Cancel",
    "Cancelled",
    "Concurrency",
    "Context",
    "Done",
    "Handle",
    "Job",
    "JobFailed",
    "LeaseLost",
    "Penstock",
    "PenstockError",
    "Permanent",
    "Principal",
    "Retry",
    "Retryable",
    "Skip",
    "Snooze",
    "Source",
    "StageMachine",
    "State",
    "Task",
    "Throttled",
    "Tx",
    "UniqueBy",
    "__version__",
]


def __getattr__(name: str) -> Any:
    """Fetch a name of the menu."""
    if name not in _WHERE:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value = getattr(import_module(_WHERE[name]), name)
    globals()[name] = value
    return value
