"""Versions of the code as folders of sources: this one, the one before the newest migration, and one with one more."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from proof.support.site import ROOT

MIGRATIONS = "src/haulwright/stores/{dialect}/migrations"
DIALECTS = ("sqlite", "postgres")
STOPS_CLAIMING = "haulwright/runtime/schema_watch.py"
"""The file of the rule: a version that has it stops claiming when the schema becomes newer."""
MORE = """
alter table haulwright_jobs add column proof_note text;
alter table haulwright_jobs add column proof_rank integer not null default 0;
alter table haulwright_history add column proof_note text;
alter table haulwright_workers add column proof_rank integer not null default 0;
create table haulwright_proof_notes (job_id text primary key, note text not null);
create index haulwright_proof_rank on haulwright_jobs (proof_rank, id);
"""
"""What a later release may add, by the rule for migrations."""


class NoSuchVersion(Exception):
    """It cannot be had here; the message is the reason to skip with."""


@dataclass(frozen=True)
class Version:
    """The sources of one version."""

    name: str
    sources: Path

    @property
    def stops_claiming(self) -> bool:
        """Whether its workers notice a schema that becomes newer."""
        return (self.sources / STOPS_CLAIMING).exists()

    @property
    def environment(self) -> dict[str, str]:
        """What makes a process run this version, with the tasks of the proofs."""
        return {"PYTHONPATH": os.pathsep.join([str(self.sources), str(ROOT)])}

    def migrate(self, url: str) -> None:
        """Bring a database to this version's schema, by the command that an operator types."""
        command = [sys.executable, "-m", "haulwright", "--database", url, "db", "migrate"]
        subprocess.run(command, cwd=ROOT, env={**os.environ, **self.environment}, check=True, capture_output=True)


def this_version() -> Version:
    """The code as it stands here."""
    return Version("this tree", ROOT / "src")


def version_before(folder: Path) -> Version:
    """The commit before the one that brought the newest migration, as git has it."""
    newest = max((ROOT / MIGRATIONS.format(dialect="sqlite")).glob("*.sql"))
    if int(newest.name[:4]) == 1:
        raise NoSuchVersion(f"there is one migration only, {newest.name}, and no schema before it")
    brought = _git("log", "--diff-filter=A", "--format=%H", "--", str(newest.relative_to(ROOT))).split()
    if not brought:
        raise NoSuchVersion(f"git knows no commit that brought {newest.name}")
    before = _git("rev-parse", "--short", f"{brought[-1]}^").strip()
    tree = folder / "tree.tar"
    _git("archive", "--output", str(tree), before, "src")
    subprocess.run(["tar", "-xf", tree, "-C", folder], check=True)  # noqa: S607 - found on the path
    return Version(f"commit {before}", folder / "src")


def version_after(folder: Path) -> Version:
    """This tree with one more migration, such as a later release may bring."""
    sources = folder / "src"
    shutil.copytree(ROOT / "src", sources, ignore=shutil.ignore_patterns("__pycache__"))
    for dialect in DIALECTS:
        home = folder / MIGRATIONS.format(dialect=dialect)
        number = len(list(home.glob("*.sql"))) + 1
        (home / f"{number:04}_proof.sql").write_text(MORE, "utf-8")
    return Version("this tree and one more migration", sources)


def _git(*words: str) -> str:
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True, text=True)  # noqa: S607 - found on the path
    except (OSError, subprocess.CalledProcessError) as reason:
        raise NoSuchVersion(f"this is no clone: {reason}") from reason
    return done.stdout
