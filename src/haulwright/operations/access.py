"""Who may do what: one table from verbs to roles, asked by every operation. A refusal is an event."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, Final, NoReturn, ParamSpec, TypeVar, cast, get_args

from haulwright import events
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.errors import Forbidden
from haulwright.events import Event
from haulwright.operations.principal import Role

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.operations.principal import Principal
    from haulwright.stores.store import Store

P = ParamSpec("P")
R = TypeVar("R")
N = TypeVar("N", bound="Noun")

ROLES: Final = get_args(Role)
EVERYBODY: Final = frozenset[Role]({"tenant", "support", "admin", "system"})
STAFF: Final = frozenset[Role]({"support", "admin", "system"})
SUPPORT: Final = frozenset[Role]({"support", "admin"})
ADMIN: Final = frozenset[Role]({"admin"})
INSTALLATION: Final = frozenset[Role]({"admin", "system"})
MONITOR: Final = frozenset[Role]({"monitor"})

VERBS: Final[dict[str, frozenset[Role]]] = {
    "job.read": EVERYBODY,
    "job.cancel": EVERYBODY,
    "job.retry": EVERYBODY,
    "job.enqueue": EVERYBODY,
    "dead.read": EVERYBODY,
    "dead.requeue": SUPPORT,
    "bulk.preview": EVERYBODY,
    "bulk.start": EVERYBODY,
    "bulk.read": EVERYBODY,
    "bulk.stop": EVERYBODY,
    "effect.read": EVERYBODY,
    "effect.resolve": SUPPORT,
    "event.read": EVERYBODY,
    "queue.read": EVERYBODY | MONITOR,
    "queue.pause": ADMIN,
    "queue.resume": ADMIN,
    "schedule.read": EVERYBODY,
    "schedule.trigger": SUPPORT,
    "schedule.backfill": SUPPORT,
    "schedule.pause": SUPPORT,
    "schedule.resume": SUPPORT,
    "source.read": STAFF | MONITOR,
    "source.pause": ADMIN,
    "source.resume": ADMIN,
    "source.override": ADMIN,
    "task.read": EVERYBODY,
    "worker.read": STAFF | MONITOR,
    "worker.preview": INSTALLATION,
    "overview.read": EVERYBODY | MONITOR,
    "health.read": INSTALLATION | MONITOR,
    "settings.read": INSTALLATION,
    "metrics.read": ADMIN | MONITOR,
    "schema.read": INSTALLATION,
    "schema.migrate": ADMIN,
    "backup.create": ADMIN,
    "token.read": ADMIN,
    "token.create": ADMIN,
    "token.revoke": ADMIN,
}
"""Every verb of the engine with the roles that may do it. Applications add theirs with `declare_verbs`."""
ENGINE_VERBS: Final = frozenset(VERBS)
"""Those of the engine alone."""


def declare_verbs(verbs: Mapping[str, frozenset[Role]]) -> None:
    """Add the verbs of an application to the table. The same line again is no error; another one is."""
    for verb, roles in verbs.items():
        if VERBS.setdefault(verb, roles) != roles:
            message = f"The verb {verb!r} is declared twice, with different roles."
            raise ValueError(message)


class Noun:
    """What one principal may see and do with one kind of thing."""

    def __init__(self, app: Haulwright, principal: Principal) -> None:
        self._app = app
        self._principal = principal

    @property
    def _store(self) -> Store:
        return self._app.store

    @property
    def _tenant(self) -> str | None:
        """The tenant whose rows are seen; None is every tenant."""
        return self._principal.tenant

    def _require(self, verb: str) -> None:
        """Refuse a verb by role, and write the refusal down. Nothing is opened for one that is allowed."""
        if self._principal.kind not in VERBS[verb]:
            require(self._store, self._principal, verb)

    def _own_tenant(self, verb: str, tenant: str | None) -> str | None:
        """The tenant for whom something is made: the principal's own. Another one is refused, and that written down."""
        if self._tenant is not None and tenant not in {None, self._tenant}:
            refuse(self._store, self._principal, verb, f"{self._principal.actor} acts for {self._tenant!r} alone.")
        return self._tenant or tenant


def require(store: Store | None, principal: Principal, verb: str) -> None:
    """Refuse a verb to a principal whose role may not do it, and write the refusal down where there is a place."""
    roles = VERBS[verb]
    if principal.kind not in roles:
        allowed_roles = " or ".join(sorted(roles, key=ROLES.index))
        refuse(store, principal, verb, f"A {principal.kind} may not do {verb!r}; it takes {allowed_roles}.")


def refuse(store: Store | None, principal: Principal, verb: str, message: str) -> NoReturn:
    """Write a refusal down, and raise it."""
    data = {"verb": verb, "reason": message}
    refusal = Event(events.REQUEST_REFUSED, principal.tenant or DEFAULT_TENANT, actor=principal.actor, data=data)
    if store is not None:
        store.database.transact(lambda connection: store.events.record(connection, [refusal]))
    raise Forbidden(message, hint="Ask somebody who has that role to do it.")


def allowed(verb: str) -> Callable[[Callable[Concatenate[N, P], R]], Callable[Concatenate[N, P], R]]:
    """Mark a method of a noun with its verb: the table is asked before anything is read or done."""

    def decorate(method: Callable[Concatenate[N, P], R]) -> Callable[Concatenate[N, P], R]:
        @wraps(method)
        def guarded(self: N, *args: P.args, **kwargs: P.kwargs) -> R:
            self._require(verb)
            return method(self, *args, **kwargs)

        setattr(guarded, "verb", verb)  # noqa: B010 - read by `verb_of`
        return cast("Callable[Concatenate[N, P], R]", guarded)

    return decorate


def verb_of(method: Any) -> str | None:
    """The verb that a method of a noun was marked with."""
    return getattr(method, "verb", None)
