"""What a command stands on: the settings, the app or the bare database, and the way to tell what it found."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from haulwright.cli.kit.hints import typable
from haulwright.cli.kit.output import Out

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.clock import Instant
    from haulwright.operations import Operations
    from haulwright.operations.principal import Principal
    from haulwright.operations.views.columns import Column
    from haulwright.settings import Settings


class Site:
    """Opens nothing before it is asked for, and closes what it opened."""

    def __init__(
        self, app_spec: str | None, database: str | None, *, as_json: bool, utc: bool, makes_database: bool = False
    ) -> None:
        self.database_flag = database
        self._makes_database = makes_database
        self._app_flag = app_spec
        self._resources = ExitStack()
        self._is_open = False
        self.out = Out(as_json=as_json, utc=utc, typable=self.typable)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close what was opened."""
        self._resources.close()

    @cached_property
    def settings(self) -> Settings:
        """Every figure, with the flags of this command above the rest."""
        from haulwright.settings import Settings  # noqa: PLC0415 - most of a short command's time are imports

        flags = Settings.load().with_flag("database_url", self.database_flag, "--database")
        return flags.with_flag("app", self._app_flag, "--app")

    @cached_property
    def app(self) -> Haulwright:
        """The app that was named, on the database that was named. Refused where there is none."""
        from haulwright.client.app_finding import find_app  # noqa: PLC0415 - as above

        setting = self.settings.setting("app")
        origin = Path(setting.origin)
        app = find_app(setting.value, folder=origin.parent if origin.name == "pyproject.toml" else None)
        self._resources.callback(app.close)
        if self.database_flag:
            self._resources.enter_context(app.moved_to(self.database_flag))
        return app

    @cached_property
    def haulwright(self) -> Haulwright:
        """Whatever gives a database: the app, or a bare one where only the database was named, or neither."""
        from haulwright.client.app import Haulwright  # noqa: PLC0415 - as above

        if self.names_app:
            return self.app
        return self._resources.enter_context(closing(Haulwright(str(self.settings["database_url"]))))

    @property
    def names_app(self) -> bool:
        """Whether the command is about an app, and not a database alone."""
        return bool(self._app_flag or (self.settings["app"] and not self.database_flag))

    def application(self, name: str, *, reads: bool = False) -> Any:
        """An application by its name, its database open: that of the named app, else one on the bare database.

        With `reads` this call only looks, and makes no database, whatever its command may do.
        """
        from haulwright.application.application import application  # noqa: PLC0415 - as above

        installed = application(name, self.haulwright)
        self._makes_database = self._makes_database and not reads
        self.open_database()
        return installed

    @property
    def database_url(self) -> str:
        """Where the jobs are."""
        return self.haulwright.database_url

    def typable(self, text: str) -> str:
        """A hint whose commands can be typed as they stand, for the same app and database."""
        return typable(
            text, app=self._app_flag, database=self.database_flag, names_app=lambda: bool(self.settings["app"])
        )

    def now(self) -> Instant:
        """The time by which the database decides."""
        return self.operations().now()

    def show_page(
        self, document: Any, columns: Sequence[Column[Any]], rows: Sequence[Any], following: str | None, *, empty: str
    ) -> None:
        """A page of a list: as JSON, or as a table with the word to type for the next one."""
        self.out.show(document, self.out.table(columns, rows, now=self.now(), empty=empty))
        self.out.more(following)

    def open_database(self) -> None:
        """Open what is there. A command that makes a database puts the schema in place on SQLite, and says so."""
        if not self._is_open:
            operations = self.haulwright.operations(self.principal())
            if not self._makes_database:
                operations.require_database()
            with self.mention_new_file():
                operations.open_database()
            self._is_open = True

    @contextmanager
    def mention_new_file(self) -> Iterator[None]:
        """Say so where this makes the SQLite file; not with JSON, whose errors stand alone on stderr."""
        path = self.haulwright.operations(self.principal()).missing_file()
        yield
        if path is not None and path.exists() and not self.out.as_json:
            self.out.note(f"A new database was made: {path}")

    def principal(self, reason: str = "") -> Principal:
        """The person at this terminal, who runs the installation."""
        from haulwright.operations.principal import Principal  # noqa: PLC0415 - as above

        return Principal.admin(f"cli:{self.user}", reason)

    @property
    def user(self) -> str:
        """The name of the account of this process."""
        return _user()

    def operations(self, principal: Principal | None = None, *, open_database: bool = True) -> Operations:
        """What the person at this terminal, or somebody they act as, may see and do.

        Without `open_database` the database is left as it is, for those who look at one that may be missing or behind.
        """
        if open_database:
            self.open_database()
        return self.haulwright.operations(principal or self.principal())


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError, ImportError):  # an account without a name, as in some containers
        return f"uid-{os.getuid()}" if hasattr(os, "getuid") else "somebody"
