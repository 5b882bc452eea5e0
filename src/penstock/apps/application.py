"""What all applications have in common: a name, an app that they stand on, and tables of their own."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Self

from penstock.apps import APPLICATIONS
from penstock.apps.tables import Tables
from penstock.errors import NotFound

if TYPE_CHECKING:
    from penstock.client.app import Penstock


class Application:
    """One application on an app. Making it declares its tasks, sources and schedules there; nothing is opened yet."""

    name: ClassVar[str]

    def __init__(self, app: Penstock) -> None:
        self.app = app
        self.tables = Tables(app, APPLICATIONS[self.name])
        app.applications[self.name] = self

    @classmethod
    def on(cls, app: Penstock) -> Self:
        """This application on an app: the one that is there already, or a new one."""
        known = app.applications.get(cls.name)
        return known if isinstance(known, cls) else cls(app)


def application(name: str, app: Penstock) -> Application:
    """The application of this name on an app: `install` of its package puts it there."""
    if name not in APPLICATIONS:
        raise NotFound("application", name)
    known = app.applications.get(name)
    installed: Application = known or import_module(APPLICATIONS[name]).install(app)
    return installed
