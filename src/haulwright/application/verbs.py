"""The verbs of an application: what its doors call, each asked of the one table of roles before anything is done."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar, cast

from haulwright.operations.access import require

if TYPE_CHECKING:
    from haulwright.application.application import Application
    from haulwright.operations.principal import Principal

P = ParamSpec("P")
R = TypeVar("R")
A = TypeVar("A", bound="Application")
Verb = Callable[Concatenate[A, "Principal", P], R]


def verb(name: str) -> Callable[[Verb[A, P, R]], Verb[A, P, R]]:
    """Mark a method whose first argument is a principal with its verb. Who may not do it is refused, and an event.

    The class has the verb in its table `verbs`. Whose rows they are is said by the principal: `principal.tenant` for
    what may be asked about all tenants, `principal.acting_tenant` for what belongs to one.
    """

    def decorate(method: Verb[A, P, R]) -> Verb[A, P, R]:
        @wraps(method)
        def guarded(self: A, principal: Principal, *args: P.args, **kwargs: P.kwargs) -> R:
            require(self.app.store, principal, name)
            return method(self, principal, *args, **kwargs)

        setattr(guarded, "verb", name)  # noqa: B010 - read by `verb_of`
        return cast("Verb[A, P, R]", guarded)

    return decorate
