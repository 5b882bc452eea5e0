"""What a command stands on: the settings, the app or the bare database, and the way to tell what it found."""

from __future__ import annotations

import getpass
import os
from contextlib import ExitStack, closing
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from penstock.cli.output import Out

if TYPE_CHECKING:
    from penstock.client.app import Penstock
    from penstock.client.desk import Desk
    from penstock.client.principal import Principal
    from penstock.settings import Settings
    from penstock.stores.store import Store

_SQLITE_MAGIC = b"SQLite format 3\0"
_WAL = 2
"""What byte 18 of an SQLite file says once it is in WAL mode, as all of ours are."""


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
        from penstock.settings import Settings  # noqa: PLC0415 - most of a short command's time are imports

        flags = Settings.load().with_flag("database_url", self.said_database, "--database")
        return flags.with_flag("app", self._said_app, "--app")

    @cached_property
    def app(self) -> Penstock:
        """The app that was named, on the database that was named. Refused where there is none."""
        from penstock.cli.app_finding import find_app  # noqa: PLC0415 - as above

        setting = self.settings.setting("app")
        origin = Path(setting.origin)
        app = find_app(setting.value, folder=origin.parent if origin.name == "pyproject.toml" else None)
        self._opened.callback(app.close)
        if self.said_database:
            self._opened.enter_context(app.moved_to(self.said_database))
        return app

    @cached_property
    def penstock(self) -> Penstock:
        """Whatever gives a database: the app, or a bare one where only the database was named, or neither."""
        from penstock.client.app import Penstock  # noqa: PLC0415 - as above

        if self._said_app or (self.settings["app"] and not self.said_database):
            return self.app
        return self._opened.enter_context(closing(Penstock(str(self.settings["database_url"]))))

    def application(self, name: str) -> Any:
        """An application by its name: the one that the named app has, else one on the bare database."""
        from penstock.apps.application import application  # noqa: PLC0415 - as above

        return application(name, self.penstock)

    @property
    def database_url(self) -> str:
        """Where the jobs are."""
        return self.penstock.database_url

    @cached_property
    def store(self) -> Store:
        """The store with its schema in place. On SQLite the first use makes the file, and says so."""
        missing = self._missing_file()
        store = self.penstock.store
        if missing is not None:
            self.out.note(f"A new database was made: {missing}")
        return store

    @cached_property
    def untouched(self) -> Store | None:
        """The store as it stands: nothing is made and nothing migrated. None where there is no database yet."""
        from penstock.stores.opening import open_database  # noqa: PLC0415 - as above
        from penstock.stores.store import Store  # noqa: PLC0415 - as above

        database = open_database(self.database_url)
        path: Path | None = getattr(database, "path", None)
        if path is not None and not _is_in_use(path):
            return None
        return Store(self._opened.enter_context(closing(database)))

    def principal(self, reason: str = "") -> Principal:
        """The person at this terminal, who runs the installation."""
        from penstock.client.principal import Principal  # noqa: PLC0415 - as above

        return Principal.admin(f"cli:{_user()}", reason)

    def desk(self, principal: Principal | None = None) -> Desk:
        """What the person at this terminal, or somebody they act as, may see and do."""
        from penstock.client.desk import Desk  # noqa: PLC0415 - as above

        return Desk(self.store, principal or self.principal())

    def _missing_file(self) -> Path | None:
        """The SQLite file that the first use is going to make."""
        from penstock.stores.opening import open_database  # noqa: PLC0415 - as above

        path: Path | None = getattr(open_database(self.database_url), "path", None)
        return path if path is not None and not path.exists() else None


def _is_in_use(path: Path) -> bool:
    """Whether a file may hold a Penstock database. Looked at as bytes: opening it could already change it."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        header = file.read(20)
    return bool(header) and (not header.startswith(_SQLITE_MAGIC) or header[18] == _WAL)


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # an account without a name, as in some containers
        return f"uid-{os.getuid()}" if hasattr(os, "getuid") else "somebody"
