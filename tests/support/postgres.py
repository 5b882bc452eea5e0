"""A real PostgreSQL server for the tests: private, on a socket of its own, gone when we are.

A test that restarts or kills its server starts one for itself; the others share the fixtures' server.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Protocol, Self
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from tests.support.binaries import (
    Account,
    PostgresUnavailable,
    copy_wheel_binaries,
    machine_binaries,
    runnable,
    unprivileged_account,
    wheel_binaries,
)

ADDRESS_VARIABLE = "HAULWRIGHT_TEST_DATABASE_URL"
SUPERUSER = "haulwright"
START_SECONDS = 60
STOP_SECONDS = 20
FOLDER_LIMIT = 80  # a socket's path may have 100 characters or so, its name among them
COMMON = {"max_connections": "200", "max_prepared_transactions": "10", "jit": "off"}
FAST = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
SIGNALS = {"smart": signal.SIGTERM, "fast": signal.SIGINT, "immediate": signal.SIGQUIT}
Mode = Literal["smart", "fast", "immediate"]

# Reads until the pipe closes, by stop() or by the death of our process, even by -9. Then nothing may be left.
WATCHDOG = """
cat >/dev/null
running=$1/data/postmaster.pid
pid=$(head -n 1 "$running" 2>/dev/null) && kill -QUIT "$pid" 2>/dev/null
tries=0
while [ -e "$running" ] && [ $tries -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
rm -rf "$1"
"""


class Addressed(Protocol):
    """A server that tests can connect to."""

    def url(self, database: str = ..., *, search_path: str | None = ...) -> str:
        """Return a libpq address of one of its databases."""

    def stop(self) -> None:
        """End it, if it is ours to end."""


class GivenServer:
    """A server that somebody else runs, named by an address. Its database is the one in that address."""

    def __init__(self, address: str) -> None:
        self._address = address

    def url(self, database: str | None = None, *, search_path: str | None = None) -> str:
        """Return its address, with another database or search path where asked for."""
        parts = urlsplit(self._address)
        options = urlencode({"options": f"-c search_path={search_path}"}, quote_via=quote) if search_path else ""
        query = "&".join(filter(None, (parts.query, options)))
        return urlunsplit(parts._replace(path=f"/{database}" if database else parts.path, query=query))

    def stop(self) -> None:
        """Leave it running: it is not ours."""


class Server:
    """A server of ours, in a private folder that is removed with it."""

    def __init__(self, binaries: Path, folder: Path, account: Account, *, durable: bool, port: int | None) -> None:
        self._binaries, self._folder, self._account = binaries, folder, account
        self.encoding = "UTF8"
        self._port = port
        self._settings = COMMON | ({} if durable else FAST) | self._addresses()
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog = subprocess.Popen(
            ["/bin/sh", "-c", WATCHDOG, "watchdog", folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
            **account.options(),
        )

    @property
    def folder(self) -> Path:
        """Where its data, socket and log are."""
        return self._folder

    @property
    def pid(self) -> int:
        """The process id of the postmaster."""
        if self._process is None:
            raise RuntimeError("the server is stopped")
        return self._process.pid

    def url(self, database: str = "postgres", *, search_path: str | None = None) -> str:
        """Return a libpq address of one of its databases, through the socket or, where asked for, loopback."""
        query = {} if self._port else {"host": str(self._folder)}
        if search_path:
            query["options"] = f"-c search_path={search_path}"
        host = f"127.0.0.1:{self._port}" if self._port else ""
        return f"postgresql://{SUPERUSER}@{host}/{quote(database)}?{urlencode(query, quote_via=quote)}".rstrip("?")

    def initialise(self) -> None:
        """Make the data folder, with binaries copied beside it if its account cannot run them where they are."""
        if not runnable(self._binaries, self._account):
            self._binaries = copy_wheel_binaries(self._binaries, self._folder / "programs")
            self._account.owns(self._folder)
        command: list[str | Path] = [self._binaries / "initdb", "-D", self._data, "-U", SUPERUSER]
        command += ["--auth=trust", f"--encoding={self.encoding}", "--locale=C", "--no-sync"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, **self._child_options())
        if done.returncode:
            raise PostgresUnavailable(f"initdb failed: {done.stderr.strip() or done.stdout.strip()}")

    def launch(self) -> None:
        """Start it, and return when it accepts connections."""
        settings = [f"--{name}={value}" for name, value in self._settings.items()]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._binaries / "postgres", "-D", self._data, *settings],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # an interrupt at the keyboard is for the tests, which then stop the server
                **self._child_options(),
            )
        self._wait_until_ready(self._process)

    def halt(self, mode: Mode = "fast") -> None:
        """Stop it until it is launched again; `immediate` is a crash."""
        process, self._process = self._process, None
        if process is None:
            return
        for sign in (SIGNALS[mode], signal.SIGQUIT, signal.SIGKILL):
            process.send_signal(sign)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                continue
            return

    def replicate(self) -> Server:
        """Start a standby that follows this server by streaming, as an asynchronous replica does."""
        program = self._binaries / "pg_basebackup"
        if not program.exists():
            raise PostgresUnavailable("these PostgreSQL binaries have no pg_basebackup")
        standby = Server(self._binaries, private_folder(self._account), self._account, durable=False, port=None)
        try:
            standby._copy(["-h", str(self._folder), "-p", self._settings["port"], "-U", SUPERUSER], program)
            standby.launch()
        except BaseException:
            standby.stop()
            raise
        return standby

    def _copy(self, source: list[str], program: Path) -> None:
        command: list[str | Path] = [
            program,
            *source,
            "-D",
            self._data,
            "-R",
            "-X",
            "stream",
            "-c",
            "fast",
            "--no-sync",
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False, **self._child_options())
        if done.returncode:
            raise PostgresUnavailable(f"pg_basebackup failed: {done.stderr.strip()}")

    def restart(self, mode: Mode = "fast") -> None:
        """Stop and start it again; `immediate` is the crash from which it recovers."""
        self.halt(mode)
        self.launch()

    def stop(self) -> None:
        """End it and remove its folder; stopping twice is no error."""
        self.halt("fast")
        shutil.rmtree(self._folder, ignore_errors=True)
        self._watchdog.communicate()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _addresses(self) -> dict[str, str]:
        listen = "127.0.0.1" if self._port else ""
        port = str(self._port or 5432)
        return {"unix_socket_directories": str(self._folder), "listen_addresses": listen, "port": port}

    def _child_options(self) -> dict[str, Any]:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PG")}
        return {"cwd": self._folder, "env": environment | {"LC_ALL": "C"}, **self._account.options()}

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + START_SECONDS
        while process.poll() is None and time.monotonic() < deadline:
            if self._status() in ("ready", "standby"):
                return
            time.sleep(0.02)
        raise PostgresUnavailable(
            f"postgres did not start: {(self._folder / 'log').read_text(errors='replace')[-2000:]}"
        )

    def _status(self) -> str:
        """Return what the postmaster says of itself, in the eighth line of its pid file."""
        try:
            lines = (self._data / "postmaster.pid").read_text().splitlines()
        except FileNotFoundError:
            return "absent"
        return lines[7].strip() if len(lines) > 7 else "starting"


def obtain(*, durable: bool = False) -> Addressed:
    """Return the server named by HAULWRIGHT_TEST_DATABASE_URL, else start one."""
    if address := os.environ.get(ADDRESS_VARIABLE):
        return GivenServer(address)
    return start(durable=durable)


def start(*, durable: bool = False, tcp: bool = False, binaries: Path | None = None, encoding: str = "UTF8") -> Server:
    """Start a server of our own, or raise PostgresUnavailable with the reason. `durable` keeps fsync on."""
    account = unprivileged_account()
    binaries = binaries or machine_binaries(account) or wheel_binaries()
    if binaries is None:
        raise PostgresUnavailable("no PostgreSQL binaries on this machine, nor the test wheel's (make setup-dev)")
    server = Server(binaries, private_folder(account), account, durable=durable, port=free_port() if tcp else None)
    server.encoding = encoding
    try:
        server.initialise()
        server.launch()
    except BaseException:
        server.stop()
        raise
    return server


def private_folder(account: Account) -> Path:
    """Make a folder of the account's own, in a temporary folder that it can reach, short enough for a socket."""
    for base in dict.fromkeys((tempfile.gettempdir(), "/tmp")):  # noqa: S108 - mkdtemp makes it private
        folder = Path(tempfile.mkdtemp(prefix="haulwright-pg-", dir=base))
        account.owns(folder)
        writable = subprocess.run(
            ["/bin/sh", "-c", '[ -w "$1" ]', "test", folder], cwd="/", check=False, **account.options()
        )
        if writable.returncode == 0 and len(str(folder)) < FOLDER_LIMIT:
            return folder
        folder.rmdir()
    raise PostgresUnavailable(f"no temporary folder with a short path that the server's account can reach ({base})")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
