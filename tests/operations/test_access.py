"""One table says who may do what: every public method of every noun asks it, and no line of it is for nothing."""

from __future__ import annotations

import inspect
from functools import cached_property
from itertools import chain, product

import pytest

from haulwright import Haulwright, Principal
from haulwright.errors import Forbidden
from haulwright.operations import Operations
from haulwright.operations.access import ENGINE_VERBS, ROLES, VERBS, Noun, declare_verbs, verb_of

app = Haulwright()
PRINCIPALS = {
    "tenant": Principal.of_tenant("acme"),
    "support": Principal.support("ann", tenant="acme", reason="ticket 7"),
    "admin": Principal.admin("root"),
    "system": Principal.system(tenant="acme"),
    "monitor": Principal.monitor("prometheus"),
}
NOUNS = sorted(name for name, value in vars(Operations).items() if isinstance(value, cached_property))
WORKER_NEEDS = {"job.read", "job.enqueue", "job.cancel", "job.retry", "dead.read", "effect.read", "event.read"}
"""What the tasks of a worker do on behalf of the tenant of their job."""


def methods(noun):
    """The public methods of a noun, by name."""
    kind = type(getattr(Operations(app, PRINCIPALS["admin"]), noun))
    found = inspect.getmembers(kind, callable)
    return {name: method for name, method in found if not name.startswith("_") and not isinstance(method, type)}


EVERY = [(noun, name) for noun in NOUNS for name in methods(noun)]


def test_every_noun_is_one():
    assert {"jobs", "dead_letters", "effects", "events"} <= set(NOUNS)
    assert all(isinstance(getattr(Operations(app, PRINCIPALS["admin"]), noun), Noun) for noun in NOUNS)


@pytest.mark.parametrize(("noun", "name"), EVERY)
def test_every_method_has_a_verb_that_the_table_has(noun, name):
    assert verb_of(methods(noun)[name]) in VERBS


def test_every_verb_of_the_engine_belongs_to_a_method():
    assert {verb_of(methods(noun)[name]) for noun, name in EVERY} == ENGINE_VERBS


@pytest.mark.parametrize(("noun", "name"), EVERY)
def test_a_call_is_allowed_or_refused_as_the_table_says_and_a_refusal_is_an_event(bench, noun, name):
    bench.use(app)
    verb = verb_of(methods(noun)[name])

    refused = {role for role in ROLES if is_refused(role, noun, name)}

    assert refused == set(ROLES) - VERBS[verb]
    events = bench.store.events.latest(name="request.refused")
    assert [(event.actor, event.data["verb"]) for event in events] == [
        (PRINCIPALS[role].actor, verb) for role in ROLES if role in refused
    ]
    assert {event.tenant for event in events} <= {"acme", "default"}


def is_refused(role, noun, name):
    """Whether the table stops a call. One that it lets through has no arguments, and gets no further."""
    try:
        getattr(getattr(app.operations(PRINCIPALS[role]), noun), name)(*[Missing] * 20)
    except Forbidden:
        return True
    except TypeError:
        return False
    raise AssertionError(f"{noun}.{name} takes twenty arguments")


class Missing:
    """No argument of any method."""


@pytest.mark.parametrize(("verb", "role"), sorted(product(ENGINE_VERBS, ("support", "admin"))))
def test_what_a_tenant_may_do_its_support_and_an_admin_may_do_too(verb, role):
    assert role in VERBS[verb] or "tenant" not in VERBS[verb]
    assert "admin" in VERBS[verb]


@pytest.mark.parametrize("verb", sorted(WORKER_NEEDS))
def test_a_worker_is_not_locked_out_of_what_its_tasks_need(verb):
    assert "system" in VERBS[verb]


def test_an_application_adds_its_verbs_once_and_changes_none():
    declare_verbs({"test.stroke": frozenset({"admin"})})
    try:
        declare_verbs({"test.stroke": frozenset({"admin"})})
        with pytest.raises(ValueError, match="declared twice"):
            declare_verbs({"test.stroke": frozenset({"tenant"})})
        with pytest.raises(ValueError, match="declared twice"):
            declare_verbs({"dead.requeue": frozenset({"tenant"})})
        assert "test.stroke" not in ENGINE_VERBS
    finally:
        del VERBS["test.stroke"]
    assert set(chain.from_iterable(VERBS.values())) <= set(ROLES)
