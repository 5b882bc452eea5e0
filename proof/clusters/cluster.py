"""A cluster on loopback: one etcd, several nodes, and what can happen to them. It is gone when we are."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import psycopg

from proof.clusters.node import SCOPE, Node, child_options
from proof.clusters.programs import Programs
from tests.support.binaries import Account, unprivileged_account
from tests.support.postgres import SUPERUSER, free_port, private_folder

NODES = 3
START_SECONDS = 240.0
FAILOVER_SECONDS = 120.0
HEAL_SECONDS = 240.0
"""How long things may take on a machine that has other work: far more than they do."""
PATRONI_SECONDS = 90.0
"""After that the leader's Patroni is started anew: 3.0 may lose sight of a key of its own when its node stood still."""
_LOOK_SECONDS = 0.2
_REPLAYED = "select count(*) > 0 and bool_and(replay_lsn >= pg_current_wal_lsn()) from pg_stat_replication"
_STREAMING = "select pid from pg_stat_replication where state = 'streaming'"
HEALTHY = {"running", "streaming"}

# Reads until the pipe closes, by close() or by the death of our process, even by -9. Then nothing may be left.
WATCHDOG = """
cat >/dev/null
end() { grep -q "$folder" "/proc/$1/cmdline" 2>/dev/null && kill -KILL "$1"; }  # its number may be another's by now
folder=$1
for pid in $(cat "$1"/*/patroni.pid "$1"/etcd.pid 2>/dev/null); do end "$pid"; done
for file in "$1"/*/data/postmaster.pid; do end "$(head -n 1 "$file" 2>/dev/null)"; done
sleep 1
rm -rf "$1"
"""


class Cluster:
    """The nodes, and the etcd in which they agree who leads."""

    def __init__(self, *, synchronous: bool, nodes: int = NODES) -> None:
        self.synchronous = synchronous
        self._account: Account = unprivileged_account()
        self._programs = Programs.find(self._account)
        self._folder = private_folder(self._account)
        self._etcd: subprocess.Popen[bytes] | None = None
        self._etcd_port = free_port()
        self._watchdog = subprocess.Popen(
            ["/bin/sh", "-c", WATCHDOG, "watchdog", self._folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            cwd="/",
            start_new_session=True,
            **self._account.options(),
        )
        self.nodes = [
            Node(f"n{number}", self._folder / f"n{number}", self._account, self._programs)
            for number in range(1, nodes + 1)
        ]

    def __enter__(self) -> Self:
        try:
            self._start_etcd()
            for node in self.nodes:
                node.prepare(self._etcd_port, synchronous=self.synchronous)
                node.start()
            self.wait("the cluster is whole", self.is_whole, START_SECONDS)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End everything, and remove its folder."""
        for node in self.nodes:
            node.kill()
        if self._etcd is not None:
            self._etcd.kill()
            self._etcd.wait()
        self._watchdog.communicate()
        shutil.rmtree(self._folder, ignore_errors=True)

    def url(self, database: str = "postgres", *, search_path: str = "", nodes: list[Node] | None = None) -> str:
        """An address of all nodes that leads to the one that takes writes; of a few, to whichever answers."""
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in nodes or self.nodes)
        options = {} if nodes else {"target_session_attrs": "read-write"}
        if search_path:
            options["options"] = quote(f"-c search_path={search_path}")
        query = "&".join(f"{name}={value}" for name, value in options.items())
        return f"postgresql://{SUPERUSER}@{hosts}/{database}{f'?{query}' if query else ''}"

    def leader(self) -> Node | None:
        """The node that leads, as etcd has it; None where nobody does."""
        names = {member["name"] for member in self._members() if member["role"] == "leader"}
        return next((node for node in self.nodes if node.name in names), None)

    def is_whole(self) -> bool:
        """Whether one leads, all others follow on its timeline, one of them synchronously where that is asked."""
        members = self._members()
        roles = [member["role"] for member in members]
        return (
            len(members) == len(self.nodes)
            and all(member["state"] in HEALTHY for member in members)
            and len({member.get("timeline") for member in members}) == 1
            and roles.count("leader") == 1
            and (not self.synchronous or "sync_standby" in roles)
            and self._streams_to() == len(self.nodes) - 1
        )

    def _streams_to(self) -> int:
        """To how many nodes the leader sends what it writes; an old Patroni does not tell."""
        try:
            with psycopg.connect(self.url(), connect_timeout=3, autocommit=True) as connection:
                return len(connection.execute(_STREAMING).fetchall())
        except psycopg.Error:
            return -1

    def wait_until_replayed(self) -> None:
        """Wait until all nodes have what was written so far."""
        self.wait("all nodes have it", self._is_replayed, HEAL_SECONDS)

    def _is_replayed(self) -> bool:
        with psycopg.connect(self.url(), autocommit=True) as connection:
            return connection.execute(_REPLAYED).fetchone() == (True,)

    def takes_writes(self) -> bool:
        """Whether a client gets through to a node that takes writes."""
        try:
            with psycopg.connect(self.url(), connect_timeout=3, autocommit=True) as connection:
                connection.execute("select pg_current_wal_insert_lsn()")
        except psycopg.Error:
            return False
        return True

    def kill_leader(self, *, behind_seconds: float = 0.0) -> Node:
        """Kill whoever leads, and return when another one does, to whom nothing of the last seconds was sent."""
        leader = self.require_leader()
        with self.sending_nothing(leader):
            time.sleep(behind_seconds)
            leader.kill()
        self.wait_for_another(leader)
        return leader

    @contextmanager
    def sending_nothing(self, node: Node) -> Iterator[None]:
        """Keep a node from sending what it writes to the others; it is to be killed before it may go on."""
        with psycopg.connect(self.url(nodes=[node]), autocommit=True) as connection:
            senders = [pid for (pid,) in connection.execute("select pid from pg_stat_replication").fetchall()]
        for sender in senders:
            os.kill(sender, signal.SIGSTOP)
        try:
            yield
        finally:
            for sender in senders:
                os.kill(sender, signal.SIGKILL)

    def freeze_leader(self) -> Node:
        """Let the whole node of the leader stand still until another one leads, and then go on as if nothing was."""
        leader = self.require_leader()
        with leader.frozen():
            self.wait_for_another(leader)
        return leader

    def switch_over(self, to: Node | None = None) -> Node:
        """Let another node lead, as an operator does who wants to work on the first."""
        leader = self.require_leader()
        command: list[str | Path] = [self._programs.patronictl, "-c", leader.config, "switchover", SCOPE, "--force"]
        command += ["--candidate", to.name if to else self._candidate()]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, **child_options(self._folder, self._account)
        )
        assert "Successfully switched over" in done.stdout, done.stdout + done.stderr
        self.wait_for_another(leader)
        return leader

    def heal(self) -> None:
        """Start what is down, and wait until the cluster is whole again."""
        for node in self.nodes:
            if not node.is_up:
                node.start()
        if not self._is_whole_within(PATRONI_SECONDS) and (leader := self.leader()) is not None:
            leader.restart_patroni()
        self.wait("the cluster is whole again", self.is_whole, HEAL_SECONDS)

    def _is_whole_within(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while not self.is_whole():
            if time.monotonic() > end:
                return False
            time.sleep(_LOOK_SECONDS)
        return True

    def wait(self, what: str, happened: Callable[[], bool], seconds: float) -> None:
        """Wait for what Patroni brings about; its logs are told where it does not."""
        end = time.monotonic() + seconds
        while not happened():
            logs = "\n".join(f"{node.name}: {node.last_words()}" for node in self.nodes)
            assert time.monotonic() < end, f"waited {seconds:g} s in vain until {what}: {self._members()}\n{logs}"
            time.sleep(_LOOK_SECONDS)

    def wait_for_another(self, leader: Node) -> None:
        """Wait until another node leads than this one, and takes writes."""
        self.wait("another node leads", lambda: self.leader() not in {None, leader}, FAILOVER_SECONDS)
        self.wait("it takes writes", self.takes_writes, FAILOVER_SECONDS)

    def require_leader(self) -> Node:
        """The node that leads; somebody must."""
        leader = self.leader()
        assert leader is not None, "nobody leads"
        return leader

    def _candidate(self) -> str:
        """Who may take over: the synchronous standby where there is one."""
        followers = [member for member in self._members() if member["role"] != "leader"]
        followers.sort(key=lambda member: (member["role"] != "sync_standby", member["name"]))
        return str(followers[0]["name"])

    def _members(self) -> list[dict[str, Any]]:
        for node in self.nodes:
            if node.is_up and (answer := node.ask("/cluster")) is not None:
                members: list[dict[str, Any]] = answer["members"]
                return members
        return []

    def _start_etcd(self) -> None:
        client, peer = f"http://127.0.0.1:{self._etcd_port}", f"http://127.0.0.1:{free_port()}"
        options = {
            "--name": "etcd",
            "--data-dir": str(self._folder / "etcd"),
            "--listen-client-urls": client,
            "--advertise-client-urls": client,
            "--listen-peer-urls": peer,
            "--initial-advertise-peer-urls": peer,
            "--initial-cluster": f"etcd={peer}",
        }
        words = [word for option in options.items() for word in option]
        with (self._folder / "etcd.log").open("ab") as log:
            self._etcd = subprocess.Popen(
                [self._programs.etcd, *words],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **child_options(self._folder, self._account),
            )
        Path(self._folder / "etcd.pid").write_text(f"{self._etcd.pid}\n", "utf-8")
