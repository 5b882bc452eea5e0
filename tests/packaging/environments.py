"""Environments as a user makes them: the wheel and what it requires, and nothing of this tree.

Tests run without a network, so what pip would fetch is taken from the running environment: exactly the distributions in
the closure of the requirements, each by a link.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from importlib.metadata import Distribution, distribution
from pathlib import Path
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parent.parent.parent
NAME = "haulwright"


@dataclass(frozen=True)
class Environment:
    """A virtual environment outside the tree."""

    folder: Path
    packages: frozenset[str]
    """What was brought beside the wheel itself."""

    def run(self, *command: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run one of its programs, with nothing of ours in the environment."""
        return subprocess.run(
            [self.program(command[0]), *command[1:]], cwd=cwd, env=_clean(variables), capture_output=True, text=True,
            timeout=60, check=False,
        )  # fmt: skip

    def start(self, *command: str, cwd: Path) -> subprocess.Popen[bytes]:
        """Start one of its programs."""
        return subprocess.Popen(
            [self.program(command[0]), *command[1:]],
            cwd=cwd,
            env=_clean({}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def extended(self, folder: Path, packages: Iterable[str]) -> Environment:
        """The same with more packages, in another folder: run its programs by `python -m`."""
        _make(folder)
        for path in _site_packages(self.folder).iterdir():
            (_site_packages(folder) / path.name).symlink_to(path.resolve())
        return Environment(folder, self.packages).add(packages)

    def add(self, packages: Iterable[str]) -> Environment:
        """Bring more packages."""
        brought = frozenset(packages)
        for name in brought - self.packages:
            _link(distribution(name), _site_packages(self.folder))
        return Environment(self.folder, self.packages | brought)

    def program(self, name: str) -> str:
        """Where a program of it stands."""
        return str(self.folder / "bin" / name)


def build(kind: str, folder: Path) -> Path:
    """The distribution of this tree, by the build backend of the lock."""
    command = [sys.executable, "-m", "hatchling", "build", "--target", kind, "--directory", str(folder)]
    subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    (built,) = folder.glob("*.whl" if kind == "wheel" else "*.tar.gz")
    return built


def install(wheel: Path, folder: Path) -> Environment:
    """An empty environment with the wheel and what it requires."""
    _make(folder)
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(folder / "bin" / "python"),
        "install",
        "--quiet",
        "--no-compile",
    ]
    subprocess.run([*pip, "--no-deps", "--no-index", str(wheel)], check=True, env=_clean({}))
    return Environment(folder, frozenset()).add(required(metadata(wheel)))


def metadata(wheel: Path) -> Message:
    """What a wheel says about itself."""
    with ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return Parser().parsestr(archive.read(name).decode())


def required(wheel: Message, *extras: str) -> set[str]:
    """The distributions that pip would bring for a wheel with these extras, by name."""
    seen: set[tuple[str, frozenset[str]]] = set()
    _collect(wheel.get_all("Requires-Dist", []), frozenset(extras), wheel, seen)
    return {name for name, _ in seen} - {NAME}


def _collect(lines: list[str], extras: frozenset[str], wheel: Message, seen: set[tuple[str, frozenset[str]]]) -> None:
    for requirement in _applicable(lines, extras):
        name, asked = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, asked) in seen:
            continue
        seen.add((name, asked))
        further = wheel.get_all("Requires-Dist", []) if name == NAME else distribution(name).requires or []
        _collect(further, asked, wheel, seen)


def _applicable(lines: list[str], extras: frozenset[str]) -> Iterator[Requirement]:
    for requirement in map(Requirement, lines):
        marker = requirement.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras or {""}):
            yield requirement


def _make(folder: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)


def _site_packages(folder: Path) -> Path:
    (found,) = folder.glob("lib/python*/site-packages")
    return found


def _link(distributed: Distribution, site_packages: Path) -> None:
    """Make a distribution importable from another environment, with what it says about itself."""
    tops = {path.parts[0] for path in distributed.files or [] if path.parts[0] not in {"..", "__pycache__"}}
    for top in tops:
        (site_packages / top).symlink_to(Path(str(distributed.locate_file(top))).resolve())


def _clean(variables: dict[str, str]) -> dict[str, str]:
    ours = ("HAULWRIGHT", "DATABASE_URL", "PYTHON", "COVERAGE", "VIRTUAL_ENV", "PIP_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return {**kept, "PATH": sysconfig.get_path("scripts"), **variables}
