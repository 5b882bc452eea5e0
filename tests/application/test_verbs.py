"""What an application's doors call takes a principal, and is asked of the one table of roles."""

from __future__ import annotations

import inspect
import re
from contextlib import closing
from importlib.resources import files
from pathlib import Path
from typing import ClassVar

import pytest

from haulwright import ApplicationSpec, Haulwright, Principal, events
from haulwright.application.application import Application
from haulwright.application.verbs import verb
from haulwright.discovery import installed_applications
from haulwright.errors import Forbidden, Refused
from haulwright.operations.access import ADMIN, EVERYBODY, SUPPORT, VERBS, verb_of

WHO = {
    "tenant": Principal.of_tenant("acme"),
    "support": Principal.support("sam", tenant="acme", reason="ticket 7"),
    "admin": Principal.admin("root"),
    "system": Principal.system(),
}


ROLES = {"weather.read": EVERYBODY, "weather.repair": SUPPORT, "weather.burn": ADMIN}


@pytest.fixture
def weather(sqlite_url):
    """An application with a verb for each kind of principal; the table forgets it afterwards."""

    class Weather(Application):
        spec = ApplicationSpec(name="weather", package="haulwright.apps.brief", summary="Weather.")
        verbs: ClassVar = ROLES

        @verb("weather.read")
        def read(self, principal, *places, units="C"):
            return principal.tenant, places, units

        @verb("weather.repair")
        def repair(self, principal):
            return principal.acting_tenant

        @verb("weather.burn")
        def burn(self, principal):
            return principal.actor

    with closing(Haulwright(sqlite_url)) as app:
        yield Weather(app)
    for name in ROLES:
        del VERBS[name]


@pytest.mark.parametrize("role", WHO)
@pytest.mark.parametrize("name", ["read", "repair", "burn"])
def test_a_verb_is_allowed_by_role_and_a_refusal_is_an_event(weather, name, role):
    who = WHO[role] if role != "admin" else WHO[role].for_tenant("acme")
    if role in ROLES[f"weather.{name}"]:
        getattr(weather, name)(who)
        assert not weather.app.store.events.latest()
        return

    with pytest.raises(Forbidden, match=f"A {role} may not do 'weather.{name}'"):
        getattr(weather, name)(who)
    (refusal,) = weather.app.store.events.latest()
    assert (refusal.name, refusal.actor, refusal.data["verb"]) == (
        events.REQUEST_REFUSED, who.actor, f"weather.{name}",
    )  # fmt: skip


def test_arguments_and_answers_pass_through(weather):
    assert weather.read(WHO["admin"], "oslo", "rome", units="F") == (None, ("oslo", "rome"), "F")


def test_who_runs_the_installation_names_the_tenant_it_acts_for(weather):
    assert weather.repair(WHO["admin"].for_tenant("globex")) == "globex"
    with pytest.raises(Refused, match="admin:root acts for no tenant") as refusal:
        weather.repair(WHO["admin"])
    assert "for_tenant('acme')" in refusal.value.hint


@pytest.mark.parametrize("role", ["tenant", "support"])
def test_who_is_bound_to_a_tenant_can_name_no_other(role):
    assert WHO[role].for_tenant("acme").tenant == "acme"
    with pytest.raises(Forbidden):
        WHO[role].for_tenant("globex")


def test_a_verb_that_is_not_in_the_table_of_its_class_is_an_error_of_whoever_wrote_it():
    with pytest.raises(TypeError, match=r"Storms\.watch does 'storms\.watch', which is not in Storms\.verbs"):

        class Storms(Application):
            @verb("storms.watch")
            def watch(self, principal):
                pass


NAMES = list(installed_applications().specs)


@pytest.mark.parametrize("name", NAMES)
def test_every_public_method_of_an_application_is_a_verb(name):
    with closing(Haulwright("sqlite:///never-opened.db")) as app:
        kind = type(installed_applications().get(name).install(app))
    methods = {word: method for word, method in vars(kind).items() if inspect.isfunction(method) and word[0] != "_"}

    assert [word for word, method in methods.items() if verb_of(method) is None] == []
    assert {verb_of(method) for method in methods.values()} == set(kind.verbs)
    assert all(each.startswith(f"{name}.") for each in kind.verbs)
    assert kind.verbs.items() <= VERBS.items()


@pytest.mark.parametrize("name", NAMES)
def test_the_commands_of_an_application_go_through_its_verbs(name):
    with closing(Haulwright("sqlite:///never-opened.db")) as app:
        application = installed_applications().get(name).install(app)
        inside = [word for word in vars(application) if word != "app"]
    folder = Path(str(files(installed_applications().get(name).package)))
    texts = {path.name: path.read_text("utf-8") for path in folder.glob("cli*.py")}

    reached = re.compile(rf"(?:(?<!apps\.)\b{name}|\(\"{name}\"\)|{name}_of\(site\))\.({'|'.join(inside)})\b(?!\()")

    assert {path: reached.findall(text) for path, text in texts.items() if reached.search(text)} == {}
