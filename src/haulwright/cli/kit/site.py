"""What a command stands on: the settings, the app or the bare database, and the way to tell what it found."""

from __future__ import annotations

import getpass
import os
from contextlib import ExitStack, closing
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from haulwright.cli.kit.output import Out

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.operations import Operations
    from haulwright.operations.principal import Principal
    from haulwright.settings import Settings
    from haulwright.stores.store import Store


class Site:
    """Opens nothing before it is asked for, and closes what it opened."""

    def __init__(self, app_spec: str | None, database: str | None, *, as_json: bool, utc: bool) -> None:
        self.said_database = database
        self._said_app = app_spec
        self._opened = ExitStack()
        self.out = Out(as_json=as_json, utc=utc)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close what was opened."""
        self._opened.close()

    @cached_property
    def settings(self) -> Settings:
        """Every figure, with the flags of this command above the rest."""
        from haulwright.settings import Settings  # noqa: PLC0415 - most of a short command's time are imports

        flags = Settings.load().with_flag("database_url", self.said_database, "--database")
        return flags.with_flag("app", self._said_app, "--app")

    @cached_property
    def app(self) -> Haulwright:
        """The app that was named, on the database that was named. Refused where there is none."""
        from haulwright.cli.kit.app_finding import find_app  # noqa: PLC0415 - as above

        setting = self.settings.setting("app")
        origin = Path(setting.origin)
        app = find_app(setting.value, folder=origin.parent if origin.name == "pyproject.toml" else None)
        self._opened.callback(app.close)
        if self.said_database:
            self._opened.enter_context(app.moved_to(self.said_database))
        return app

    @cached_property
    def haulwright(self) -> Haulwright:
        """Whatever gives a database: the app, or a bare one where only the database was named, or neither."""
        from haulwright.client.app import Haulwright  # noqa: PLC0415 - as above

        if self._said_app or (self.settings["app"] and not self.said_database):
            return self.app
        return self._opened.enter_context(closing(Haulwright(str(self.settings["database_url"]))))

    def application(self, name: str) -> Any:
        """An application by its name: the one that the named app has, else one on the bare database."""
        from haulwright.application.application import application  # noqa: PLC0415 - as above

        return application(name, self.haulwright)

    @property
    def database_url(self) -> str:
        """Where the jobs are."""
        return self.haulwright.database_url

    @cached_property
    def store(self) -> Store:
        """The store with its schema in place. On SQLite the first use makes the file, and says so."""
        missing = self._missing_file()
        store = self.haulwright.store
        if missing is not None:
            self.out.note(f"A new database was made: {missing}")
        return store

    def principal(self, reason: str = "") -> Principal:
        """The person at this terminal, who runs the installation."""
        from haulwright.operations.principal import Principal  # noqa: PLC0415 - as above

        return Principal.admin(f"cli:{_user()}", reason)

    def operations(self, principal: Principal | None = None, *, opened: bool = True) -> Operations:
        """What the person at this terminal, or somebody they act as, may see and do.

        Without `opened` the database is left as it is, for those who look at one that may be missing or behind.
        """
        if opened:
            _ = self.store  # a file that is made is announced
        return self.haulwright.operations(principal or self.principal())

    def _missing_file(self) -> Path | None:
        """The SQLite file that the first use is going to make."""
        from haulwright.stores.connect import open_database  # noqa: PLC0415 - as above

        path: Path | None = getattr(open_database(self.database_url), "path", None)
        return path if path is not None and not path.exists() else None


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # an account without a name, as in some containers
        return f"uid-{os.getuid()}" if hasattr(os, "getuid") else "somebody"
