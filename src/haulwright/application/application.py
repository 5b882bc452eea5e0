"""What all applications have in common: a name, an app that they stand on, and tables of their own."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Self, Unpack

from haulwright.application.tables import Tables
from haulwright.client.app import Haulwright
from haulwright.discovery import BrokenApplication, installed_applications
from haulwright.errors import MissingExtra
from haulwright.operations.access import declare_verbs, verb_of

if TYPE_CHECKING:
    from haulwright.client.task import Decorator
    from haulwright.client.task_options import TaskKeywords
    from haulwright.discovery import ApplicationSpec
    from haulwright.operations.principal import Role

log = logging.getLogger("haulwright.application")


class Application:
    """One application on an app. Making it declares its tasks, sources and schedules there; nothing is opened yet."""

    spec: ClassVar[ApplicationSpec]
    """What its entry point says of it."""
    verbs: ClassVar[Mapping[str, frozenset[Role]]] = {}
    """Its part of the table of roles: every verb that its methods are marked with, `name.verb`, and who may do it."""

    def __init_subclass__(cls) -> None:
        """Add the verbs to the one table. A method whose verb is not among them is an error of whoever wrote it."""
        super().__init_subclass__()
        marked = {name: verb for name, method in vars(cls).items() if (verb := verb_of(method)) is not None}
        for name, verb in marked.items():
            if verb not in cls.verbs:
                message = f"{cls.__name__}.{name} does {verb!r}, which is not in {cls.__name__}.verbs."
                raise TypeError(message)
        declare_verbs(cls.verbs)

    def __init__(self, app: Haulwright) -> None:
        self.app = app
        self.tables = Tables(app, self.spec.package)
        app.applications[self.spec.name] = self

    def task(self, **options: Unpack[TaskKeywords]) -> Decorator:
        """Declare a task of this application. Every event of its jobs is written when it happens."""
        options.setdefault("audit", True)
        return self.app.task(**options)

    @classmethod
    def on(cls, app: Haulwright) -> Self:
        """This application on an app: the one that is there already, or a new one."""
        present = app.applications.get(cls.spec.name)
        return present if isinstance(present, cls) else cls(app)


def application(name: str, app: Haulwright) -> Application:
    """The application of this name on an app: `install` of its package puts it there."""
    present: Application | None = app.applications.get(name)
    if present is not None:
        return present
    applications = installed_applications()
    spec = applications.get(name)
    try:
        installed: Application = spec.install(app)
    except MissingExtra:
        raise  # it says what to install
    except ImportError as error:
        raise applications.broken_by(spec, error).refusal() from error
    return installed


def app_with(spec: ApplicationSpec) -> Haulwright:
    """An app of its own for one application, for a module that workers name as `package.worker:app`."""
    app = Haulwright()
    spec.install(app)
    return app


def install_all(app: Haulwright) -> list[BrokenApplication]:
    """Put every installed application on an app; one that cannot be imported is logged, and left out."""
    applications = installed_applications()
    broken = list(applications.broken)
    for spec in applications.specs.values():
        try:
            spec.install(app)
        except ImportError as error:
            broken.append(applications.broken_by(spec, error))
    for left_out in broken:
        log.warning("%s", left_out)
    return broken
