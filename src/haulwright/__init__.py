"""Haulwright: jobs that survive crashes, effects that happen once, sources that are never hammered.

This is the menu. A name is fetched when it is first asked for, so that `haulwright --version` need not wait for all.
"""

from __future__ import annotations

from importlib import import_module

from haulwright.__about__ import __version__

TYPE_CHECKING = False  # as checkers know it; to import `typing` takes longer than all of the rest here
if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.client.context import Context
    from haulwright.client.handle import Handle
    from haulwright.client.join import JobOutcome
    from haulwright.client.task import Task
    from haulwright.client.transaction import Tx
    from haulwright.discovery import ApplicationSpec
    from haulwright.engine.job import Job
    from haulwright.engine.outcome import Bury, Cancel, Done, Skip, Snooze
    from haulwright.engine.retry import Retry
    from haulwright.engine.stages import StageMachine
    from haulwright.engine.task import Concurrency, UniqueBy
    from haulwright.engine.transitions import State
    from haulwright.errors import (
        AuthFailed,
        Cancelled,
        HaulwrightError,
        JobFailed,
        LeaseLost,
        Permanent,
        Retryable,
        Throttled,
    )
    from haulwright.operations.principal import Principal
    from haulwright.runtime.observer import Observer
    from haulwright.sources.http.policy import Policy
    from haulwright.sources.source import Source

_WHERE = {
    "ApplicationSpec": "haulwright.discovery",
    "Haulwright": "haulwright.client.app",
    "Context": "haulwright.client.context",
    "Handle": "haulwright.client.handle",
    "JobOutcome": "haulwright.client.join",
    "Principal": "haulwright.operations.principal",
    "Task": "haulwright.client.task",
    "Tx": "haulwright.client.transaction",
    "Job": "haulwright.engine.job",
    "Bury": "haulwright.engine.outcome",
    "Cancel": "haulwright.engine.outcome",
    "Done": "haulwright.engine.outcome",
    "Skip": "haulwright.engine.outcome",
    "Snooze": "haulwright.engine.outcome",
    "Retry": "haulwright.engine.retry",
    "StageMachine": "haulwright.engine.stages",
    "Concurrency": "haulwright.engine.task",
    "UniqueBy": "haulwright.engine.task",
    "State": "haulwright.engine.transitions",
    "Observer": "haulwright.runtime.observer",
    "AuthFailed": "haulwright.errors",
    "Cancelled": "haulwright.errors",
    "JobFailed": "haulwright.errors",
    "LeaseLost": "haulwright.errors",
    "HaulwrightError": "haulwright.errors",
    "Permanent": "haulwright.errors",
    "Retryable": "haulwright.errors",
    "Throttled": "haulwright.errors",
    "Policy": "haulwright.sources.http.policy",
    "Source": "haulwright.sources.source",
}

__all__ = [
    "ApplicationSpec",
    "AuthFailed",
    "Bury",
    "Cancel",
    "Cancelled",
    "Concurrency",
    "Context",
    "Done",
    "Handle",
    "Haulwright",
    "HaulwrightError",
    "Job",
    "JobFailed",
    "JobOutcome",
    "LeaseLost",
    "Observer",
    "Permanent",
    "Policy",
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


def __getattr__(name: str) -> object:
    """Fetch a name of the menu."""
    if name not in _WHERE:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    value: object = getattr(import_module(_WHERE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The menu, for those who look at it in a REPL."""
    return __all__
