"""Names that do not exist here, answered with the one that was probably meant; other engines' words are known too."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from functools import wraps
from types import MappingProxyType
from typing import Any, Final, TypeVar

from haulwright.errors import UnknownName

F = TypeVar("F", bound=Callable[..., Any])
C = TypeVar("C", bound=type)

SYNONYMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "countdown": ("delay",), "eta": ("run_at",), "at": ("run_at",), "schedule_at": ("run_at",),
        "schedule_in": ("delay",), "expires": ("deadline",), "max_age": ("deadline",), "ttl": ("deadline",),
        "max_retries": ("retry", "attempts"), "max_attempts": ("retry", "attempts"), "retries": ("retry", "attempts"),
        "default_retry_delay": ("retry", "base"), "retry_backoff": ("retry", "base"), "retry_delay": ("retry", "base"),
        "retry_policy": ("retry",), "backoff": ("retry", "base"), "min_backoff": ("retry", "base"),
        "wait": ("base", "result"),
        "retry_backoff_max": ("retry", "cap"), "max_backoff": ("retry", "cap"), "max_delay": ("cap",),
        "retry_jitter": ("retry", "jitter"), "multiplier": ("factor",), "exponential_wait": ("retry", "factor"),
        "time_limit": ("timeout",), "soft_time_limit": ("timeout",), "task_timeout": ("timeout",),
        "job_timeout": ("timeout",), "queue_name": ("queue",), "routing_key": ("queue",), "exchange": ("queue",),
        "queues": ("queue",), "actor_name": ("name",), "task_name": ("name",), "queueing_lock": ("unique",),
        "dedup_key": ("unique",), "unique_key": ("unique",), "lock": ("concurrency",), "limit": ("concurrency",),
        "rate_limit": ("source", "rate"), "idempotency_key": ("job_key",), "task_id": ("job_key",),
        "job_id": ("job_key",), "timezone": ("tz",), "zone": ("tz",), "kwargs": ("args",), "task_kwargs": ("args",),
        "max_jitter": ("jitter",), "max_instances": ("overlap",), "misfire_grace_time": ("misfire_grace",),
        "worker_count": ("concurrency",), "workers": ("concurrency",), "threads": ("concurrency",),
        "burst": ("until_empty",), "listen_notify": ("poll_interval",), "polling_interval": ("poll_interval",),
        "hostname": ("name",), "shutdown_timeout": ("grace",),
        "delay": ("enqueue",), "apply_async": ("using",), "send": ("enqueue",), "send_with_options": ("using",),
        "defer": ("enqueue",), "defer_async": ("aenqueue",), "configure": ("using",), "apply": ("__call__",),
        "kiq": ("aenqueue",), "push": ("enqueue",), "perform_async": ("enqueue",), "s": ("call",), "si": ("call",),
        "signature": ("call",), "message": ("call",), "options": ("using",), "get": ("result",), "ready": ("state",),
        "status": ("state",), "wait_for": ("result",), "add_periodic_task": ("schedule",),
        "periodic_task": ("schedule",), "periodic": ("schedule",), "cron": ("schedule",), "job": ("task",),
        "actor": ("task",), "worker_main": ("run_worker",), "work": ("run_worker",), "start": ("run_worker",),
        "run": ("run_worker",), "defer_many": ("enqueue_many",), "with_options": ("using",),
        "broker": ("database_url",), "backend": ("database_url",), "url": ("database_url",), "dsn": ("database_url",),
    }
)  # fmt: skip
"""The words of Celery, Dramatiq, Procrastinate, RQ, Huey and APScheduler, each with ours; the first that fits wins."""

EXPLAINED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "countdown": "Write: task.using(delay='10 s').enqueue(...)",
        "eta": "Write: task.using(run_at=datetime.now(UTC) + ...).enqueue(...)",
        "bind": "Nothing is bound here: annotate the first parameter, ctx: Context, and it is passed to each run.",
        "autoretry_for": "Every exception is tried again; raise Permanent where that is in vain.",
        "throws": "Raise Permanent where trying again is in vain.",
        "acks_late": "A job is always acknowledged after its run; a lost worker's jobs are run again.",
        "ignore_result": "Results are kept with their job, and pruned with it: see keep_succeeded_seconds.",
        "serializer": "Arguments are JSON, by the annotations of the function: dataclasses and pydantic models too.",
        "pass_context": "Annotate the first parameter, ctx: Context, and it is passed to each run.",
        "retry": "Raise Retryable, or any exception, and the job is tried again by its retry policy.",
        "chain": "Enqueue the next task at the end of this one, or wait for others with ctx.join(...).",
        "group": "Write: app.enqueue_many([task.call(...), ...])",
        "link": "Enqueue the next task at the end of this one: in the same transaction with ctx.commit and tx.enqueue.",
        "conf": "See what can be set with: haulwright settings",
        "enqueue": "A task is enqueued by itself: Write add.enqueue(1, 2), or app.find('add').enqueue(1, 2)",
        "send_task": "Write: app.find('add').enqueue(1, 2)",
        "blocking": "enqueue never waits for a run; handle.result() does.",
    }
)
"""Words that are no option and no method under any name."""


def check_options(what: str, *also: str) -> Callable[[F], F]:
    """Have a function refuse an option that it does not have, and say which was meant. `also` are in its **options."""

    def decorate(function: F) -> F:
        parameters = inspect.signature(function).parameters.values()
        known = frozenset([*(p.name for p in parameters if p.kind is not p.VAR_KEYWORD and p.name != "self"), *also])

        @wraps(function)
        def checked(*args: Any, **kwargs: Any) -> Any:
            if not known.issuperset(kwargs):
                refuse_options(what, kwargs, known)
            return function(*args, **kwargs)

        return checked  # type: ignore[return-value] # the same signature

    return decorate


def check_init_options(kind: C) -> C:
    """The same for a class."""
    kind.__init__ = check_options(kind.__name__)(kind.__init__)  # type: ignore[misc] # the same signature
    return kind


def refuse_options(what: str, options: Iterable[str], known: Collection[str]) -> None:
    """Refuse the first option that is not known here."""
    for name in options:
        if name not in known:
            meant = _meant(name, known, spelling="{}=")
            message = f"{what} has no option {name!r}."
            raise UnknownName(message, hint=meant or f"It has: {', '.join(sorted(known))}.")


def unknown_attribute(owner: object, name: str) -> AttributeError:
    """The error for an attribute that is not there. Python's own machinery, which tries many names, gets its own."""
    kind = type(owner).__name__
    if name.startswith("_"):
        return AttributeError(f"{kind!r} object has no attribute {name!r}", name=name, obj=owner)
    known = [member for member in dir(owner) if not member.startswith("_")] + ["__call__"]
    meant = _meant(name, known, spelling=".{}(...)").replace(".__call__(...)", "(...)")
    return UnknownName(f"{owner!r} has no {name!r}.", hint=meant)


def _meant(name: str, known: Collection[str], *, spelling: str) -> str:
    """What was probably meant by a name: the word of another engine, or a slip of the pen; '' where nobody knows."""
    for word in SYNONYMS.get(name, ()):
        if word in known:
            example = _EXAMPLES.get(word, "") if spelling.endswith("=") else ""
            return f"Write: {example or spelling.format(word)}"
    if name in EXPLAINED:
        return EXPLAINED[name]
    near = get_close_matches(name, known, n=1)
    return f"Did you mean {spelling.format(near[0])}?" if near else ""


_EXAMPLES: Final = {
    "retry": "retry=Retry(attempts=4, base='30 s'); attempts count the first run too",
    "attempts": "attempts=4; they count the first run too",
    "delay": "delay='10 s'",
    "database_url": "database_url='postgresql://host/name', or leave it out for ./haulwright.db",
    "run_at": "run_at=datetime.now(UTC) + timedelta(minutes=5)",
    "deadline": "deadline='1 h'",
    "timeout": "timeout='2 min'",
    "source": "source=app.source('shop.example', rate='30/min'), a limit that all workers share",
}
