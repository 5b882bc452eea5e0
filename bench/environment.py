"""The environment of the peers: packages of their own lock file, so that they never mix with ours."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from bench.processes import ROOT, BenchError

FOLDER = ROOT / ".venv-peers"
LOCK = ROOT / "bench" / "requirements-peers.lock"
PYTHON = FOLDER / "bin" / "python"
_QUIET = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "PIP_NO_CACHE_DIR": "1", "PIP_USER": "0"}


def is_ready() -> bool:
    """Whether the environment holds what the lock file says."""
    mark = FOLDER / "installed"
    return PYTHON.exists() and mark.exists() and mark.read_text() == _wanted()


def make() -> None:
    """Make it hold that, checked by the hashes of the lock file. When nothing has changed this does nothing."""
    if is_ready():
        return
    _run([sys.executable, "-m", "venv", "--clear", str(FOLDER)])
    (FOLDER / ".gitignore").write_text("*\n")
    # The lock names all that is needed: asked for extras of a package, pip would look for a newer one without a hash.
    _run([str(PYTHON), "-m", "pip", "install", "--quiet", "--no-deps", "--require-hashes", "--requirement", str(LOCK)])
    (FOLDER / "installed").write_text(_wanted())


def _wanted() -> str:
    return hashlib.sha256(LOCK.read_bytes()).hexdigest() + f" {ROOT}\n"


def _run(command: list[str]) -> None:
    done = subprocess.run(command, env={**os.environ, **_QUIET}, capture_output=True, text=True, check=False)
    if done.returncode:
        reason = (done.stderr or done.stdout).strip().splitlines()[-1:]
        raise BenchError(f"the peers' environment could not be made: {' '.join(reason)}")


def python_of(*, peer: bool) -> Path:
    """The interpreter that a contender runs under."""
    return PYTHON if peer else Path(sys.executable)
