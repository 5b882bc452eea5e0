"""One node of a cluster: a Patroni, and the PostgreSQL that it starts, stops and follows the leader with."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from proof.clusters.programs import Programs
from proof.faults.server import children_of, stopped
from tests.support.binaries import Account
from tests.support.postgres import SUPERUSER, free_port

SCOPE = "haulwright"
TTL_SECONDS = 10
"""How long a leader that says nothing stays the leader. Newer Patronis take 20 instead."""
LOOP_SECONDS = 2
RETRY_SECONDS = 4
_ASK_SECONDS = 3.0
_TRUST = ["local all all trust", "host all all 127.0.0.1/32 trust", "host replication all 127.0.0.1/32 trust"]
_PARAMETERS = {
    "max_connections": 60,
    "shared_buffers": "32MB",
    "wal_keep_size": "512MB",  # a node that was away finds what it missed, and need not be copied anew
    "jit": "off",
}


@dataclass(eq=False)
class Node:
    """Its addresses, its folder, and its Patroni while that runs."""

    name: str
    folder: Path
    account: Account
    programs: Programs
    port: int = field(default_factory=free_port)
    api_port: int = field(default_factory=free_port)
    _patroni: subprocess.Popen[bytes] | None = None

    @property
    def config(self) -> Path:
        """The file that Patroni reads."""
        return self.folder / "patroni.yml"

    @property
    def is_up(self) -> bool:
        """Whether its Patroni runs."""
        return self._patroni is not None and self._patroni.poll() is None

    def prepare(self, etcd_port: int, *, synchronous: bool) -> None:
        """Make its folder and write its settings. JSON is YAML."""
        self.folder.mkdir(mode=0o700)
        self.config.write_text(json.dumps(self._settings(etcd_port, synchronous=synchronous), indent=1), "utf-8")
        self.account.owns(self.folder)

    def start(self) -> None:
        """Start Patroni, which starts PostgreSQL, makes a cluster or joins one."""
        with (self.folder / "log").open("ab") as log:
            self._patroni = subprocess.Popen(
                [self.programs.patroni, self.config],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **child_options(self.folder, self.account),
            )
        (self.folder / "patroni.pid").write_text(f"{self._patroni.pid}\n", "utf-8")  # for the watchdog

    def kill(self) -> None:
        """Kill Patroni and then the postmaster with -9. The server's other processes see it, and end."""
        if self._patroni is not None:
            self._patroni.kill()
            self._patroni.wait()
        if (postmaster := self._postmaster()) is not None:
            with suppress(ProcessLookupError):
                os.kill(postmaster, signal.SIGKILL)

    def restart_patroni(self) -> None:
        """Start Patroni anew, while its PostgreSQL goes on."""
        if self._patroni is not None:
            self._patroni.kill()
            self._patroni.wait()
        self.start()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop Patroni and the whole server where they stand; then let them go on."""
        postmaster = self._postmaster()
        assert self._patroni is not None
        assert postmaster is not None
        with stopped([self._patroni.pid, postmaster]), stopped(children_of(postmaster)):
            yield

    def ask(self, path: str) -> dict[str, Any] | None:
        """What the API of its Patroni says; None where it says nothing."""
        connection = http.client.HTTPConnection("127.0.0.1", self.api_port, timeout=_ASK_SECONDS)
        try:
            connection.request("GET", path)
            answer: dict[str, Any] = json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError):
            return None
        finally:
            connection.close()
        return answer

    def last_words(self, lines: int = 15) -> str:
        """The end of Patroni's log, for whoever has to find out why."""
        return "\n".join((self.folder / "log").read_text("utf-8", errors="replace").splitlines()[-lines:])

    def _postmaster(self) -> int | None:
        """The process of the server, if it is there: the number in the file of a dead one may be another's by now."""
        try:
            pid = int((self.folder / "data" / "postmaster.pid").read_text("utf-8").split("\n", 1)[0])
            command = Path(f"/proc/{pid}/cmdline").read_text("utf-8")
        except (FileNotFoundError, ProcessLookupError, ValueError):
            return None
        return pid if str(self.folder) in command else None

    def _settings(self, etcd_port: int, *, synchronous: bool) -> dict[str, Any]:
        api, address = f"127.0.0.1:{self.api_port}", f"127.0.0.1:{self.port}"
        shared = {
            "ttl": TTL_SECONDS,
            "loop_wait": LOOP_SECONDS,
            "retry_timeout": RETRY_SECONDS,
            "synchronous_mode": synchronous,
            "maximum_lag_on_failover": 64 * 1024 * 1024,  # who is behind may lead: that is what some proofs are about
            "postgresql": {"use_pg_rewind": True, "use_slots": True, "parameters": _PARAMETERS},
        }
        users = {"superuser": SUPERUSER, "replication": "replicator", "rewind": SUPERUSER}
        return {
            "scope": SCOPE,
            "name": self.name,
            "restapi": {"listen": api, "connect_address": api},
            "etcd3": {"host": f"127.0.0.1:{etcd_port}"},
            "bootstrap": {"dcs": shared, "initdb": [{"auth": "trust"}, {"encoding": "UTF8"}, {"locale": "C"}]},
            "postgresql": {
                "listen": address,
                "connect_address": address,
                "data_dir": str(self.folder / "data"),
                "bin_dir": str(self.programs.postgres),
                "pgpass": str(self.folder / "pgpass"),
                "pg_hba": _TRUST,
                "parameters": {"unix_socket_directories": str(self.folder)},
                "authentication": {kind: {"username": name, "password": "trusted"} for kind, name in users.items()},
                "remove_data_directory_on_rewind_failure": True,
                "remove_data_directory_on_diverged_timelines": True,
            },
            "watchdog": {"mode": "off"},
        }


def child_options(folder: Path, account: Account) -> dict[str, Any]:
    """What a child is started with: an account that PostgreSQL accepts, and no setting of ours for its clients."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PG", "PATRONI"))}
    return {"cwd": folder, "env": environment | {"LC_ALL": "C", "HOME": str(folder)}, **account.options()}
