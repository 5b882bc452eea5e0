"""The programs of a cluster, as this machine has them."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from tests.support.binaries import Account, machine_binaries

NEEDED = ("pg_basebackup", "pg_ctl", "pg_rewind", "pg_controldata")
"""What Patroni calls beside the server itself; the test wheel does not bring it."""


class ClusterUnavailable(Exception):
    """No cluster can be had here; the message is the reason to skip with."""


@dataclass(frozen=True)
class Programs:
    """Where everything is."""

    etcd: str
    patroni: str
    patronictl: str
    postgres: Path
    """The folder of the server's binaries."""

    @classmethod
    def find(cls, account: Account) -> Self:
        """Those on the path, or a refusal that says what is missing."""
        programs = {name: shutil.which(name) for name in ("etcd", "patroni", "patronictl")}
        missing = [name for name, path in programs.items() if path is None]
        binaries = machine_binaries(account)
        if binaries is None:
            missing.append("postgres")
        else:
            missing += [name for name in NEEDED if not (binaries / name).exists()]
        if missing or binaries is None:
            hint = "on Debian: apt-get install postgresql etcd-server patroni, or patroni[etcd3,psycopg3] from PyPI"
            raise ClusterUnavailable(f"this machine has no {', '.join(missing)} ({hint})")
        return cls(**{name: str(path) for name, path in programs.items()}, postgres=binaries)
