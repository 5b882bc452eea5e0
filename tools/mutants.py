"""Remove each guard in turn and see the tests that stand for it turn red.

The guards are listed in tools/mutants/*.toml. For each, the sources are copied to a scratch folder, one text is
replaced there, and the named tests are run against the copy. A guard whose tests stay green has no teeth: it is named,
and the exit code is 1. The table of all guards is written to docs/reference/mutants.md.

    python tools/mutants.py                 all of them
    python tools/mutants.py fence permit    those whose name has one of these words; the table is left alone
    python tools/mutants.py --state FILE    all whose file and tests are not as they were when they were last noticed
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ROOT / "src"
LISTS = ROOT / "tools" / "mutants"
PAGE = ROOT / "docs" / "reference" / "mutants.md"
AT_ONCE = 2
PATIENCE_SECONDS = 300
FIRST_PATIENCE_SECONDS = 1800
"""For all the tests at once, which must be green before a guard is removed."""
SIDE_BY_SIDE = ("-n", str(AT_ONCE), "--dist", "loadgroup")
RED, NONE_COLLECTED = 1, 5
FAILED = re.compile(r"^FAILED \S+::(test_\w+)", re.MULTILINE)
DIALECTS = ("sqlite", "postgres")


@dataclass(frozen=True)
class Trial:
    """One guard, removed on one database."""

    guard: str
    group: str
    dialect: str
    """The database whose tests are run; empty where no database is involved."""
    file: str
    entry: str
    """The named statement of a book that holds the guard; empty in other files."""
    was: str
    now: str
    tests: tuple[str, ...]
    pick: str

    def mutate(self, sources: Path) -> None:
        """Remove the guard from a copy of the sources."""
        (sources / "haulwright" / self.file).write_text(self.mutated(sources), "utf-8")

    def mutated(self, sources: Path = SOURCES) -> str:
        """Its file without the guard. A guard that is not there, or twice, is an error of the list."""
        before, part, after = _part((sources / "haulwright" / self.file).read_text("utf-8"), self.entry)
        if part.count(self.was) != 1:
            message = f"{self.guard}: {self.was!r} is {part.count(self.was)} times in {self.file} {self.entry}"
            raise LookupError(message)
        return before + part.replace(self.was, self.now) + after

    @property
    def digest(self) -> str:
        """Of what a verdict stands on: the change, the file that it is made in, and the tests that are asked."""
        files = [SOURCES / "haulwright" / self.file, *(ROOT / test.partition("::")[0] for test in self.tests)]
        texts = [str(self), *(path.read_text("utf-8") for path in files if path.is_file())]
        return hashlib.sha256("\0".join(texts).encode()).hexdigest()


@dataclass(frozen=True)
class Verdict:
    """What the tests said to a missing guard."""

    trial: Trial
    killer: str
    """The first test that turned red; empty where none did."""
    problem: str
    seconds: float


def read_trials(lists: Path = LISTS) -> list[Trial]:
    """Every guard of every list, once for each database that has it."""
    return [
        trial
        for path in sorted(lists.glob("*.toml"))
        for mutant in tomllib.loads(path.read_text("utf-8"))["mutant"]
        for trial in _trials(mutant, path.stem)
    ]


def _trials(mutant: dict[str, object], group: str) -> Iterator[Trial]:
    for dialect in (*DIALECTS, "any"):
        change = mutant.get(dialect)
        if not isinstance(change, dict):
            continue
        noun, _, entry = change.get("entry", "").partition(".")
        known = "" if dialect == "any" else dialect
        file = change.get("file") or f"stores/{dialect}/books/{noun}.sql"
        tests = change.get("tests", mutant.get("tests"))
        pick = change.get("pick", mutant.get("pick", ""))
        yield Trial(
            str(mutant["guard"]), group, known, file, entry, change["was"], change["now"], tuple(tests), str(pick)
        )


def _part(text: str, entry: str) -> tuple[str, str, str]:
    """What stands before an entry of a book, the entry, and what follows it; the whole text where none is named."""
    if not entry:
        return "", text, ""
    start = text.index(f"-- name: {entry}\n")
    end = text.find("-- name: ", start + 1)
    end = len(text) if end < 0 else end
    return text[:start], text[start:end], text[end:]


def run_tests(  # noqa: PLR0913 - a call of pytest has many words
    sources: Path,
    tests: tuple[str, ...],
    pick: str,
    address: str,
    *,
    patience_seconds: float = PATIENCE_SECONDS,
    options: tuple[str, ...] = (),
) -> tuple[int, str]:
    """Run tests against these sources; returns pytest's exit code and what it said."""
    environment = {**os.environ, "PYTHONPATH": str(sources), "HAULWRIGHT_TEST_DATABASE_URL": address, "CI": "true"}
    asked = "import haulwright, sys; sys.exit(haulwright.__file__)"
    found = subprocess.run(  # noqa: S603 - our own interpreter
        [sys.executable, "-c", asked], env=environment, cwd=ROOT, capture_output=True, text=True, check=False
    )
    if not found.stderr.startswith(str(sources)):
        message = f"the copy is not what is imported: {found.stderr.strip()}"
        raise RuntimeError(message)
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--timeout", "120"]
    done = subprocess.run(  # noqa: S603 - as above
        [*command, *options, "-m", "not crash", *(["-k", pick] if pick else []), *tests],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=patience_seconds,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def try_one(trial: Trial, address: str) -> Verdict:
    """Remove one guard and look for a test that misses it."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="haulwright-mutant-") as folder:
        sources = Path(folder) / "src"
        shutil.copytree(SOURCES, sources, ignore=shutil.ignore_patterns("__pycache__"))
        try:
            trial.mutate(sources)
            code, said = run_tests(sources, trial.tests, _pick(trial), address)
        except (LookupError, ValueError, subprocess.TimeoutExpired) as error:
            return Verdict(trial, "", str(error), time.monotonic() - began)
    killed = FAILED.search(said) if code == RED else None
    problem = "" if killed else f"survived (pytest ended with {code})"
    if code not in {0, RED, NONE_COLLECTED}:
        problem += f": {said.strip()[-400:]}"
    return Verdict(trial, killed[1] if killed else "", problem, time.monotonic() - began)


def _pick(trial: Trial) -> str:
    """The tests of one database among those that are named."""
    if not trial.dialect:
        return trial.pick
    return f"({trial.pick}) and {trial.dialect}" if trial.pick else trial.dialect


def page_of(verdicts: list[Verdict]) -> str:
    """The table of all guards, as the documentation has it."""
    lines = [
        "# Guards and the tests that miss them",
        "",
        "`make mutants` removes each guard of the engine in turn, in a copy of the sources, and runs the tests that",
        "stand for it. A guard is worth what its tests notice: every line below names the first test that turned red.",
        "This page is written by that command.",
    ]
    for group in dict.fromkeys(verdict.trial.group for verdict in verdicts):
        lines += ["", f"## {group.capitalize()}", "", "| guard removed | database | test that turned red |"]
        lines += ["|---|---|---|"]
        lines += [
            f"| {verdict.trial.guard} | {verdict.trial.dialect or 'either'} | `{verdict.killer}` |"
            for verdict in verdicts
            if verdict.trial.group == group
        ]
    return "\n".join([*lines, ""])


def main() -> int:
    """Try the guards that were asked for; the exit code says whether each was missed."""
    parser = argparse.ArgumentParser(description="Remove each guard in turn and see its tests turn red.")
    parser.add_argument("words", nargs="*", help="only guards whose name has one of these words")
    parser.add_argument("--state", type=Path, help="keep what was noticed here, and do not try it again")
    asked = parser.parse_args()
    words, state = asked.words, State(asked.state)
    trials = [trial for trial in read_trials() if not words or any(word in trial.guard for word in words)]
    left = [trial for trial in trials if not state.killer_of(trial)]
    sys.path.insert(0, str(ROOT))
    from tests.support.postgres import start  # noqa: PLC0415 - a script finds the tests only from here on

    with start(durable=True) as server, ThreadPoolExecutor(AT_ONCE) as hands:
        if left and not _is_green(left, server.url()):
            return 1
        verdicts = [Verdict(trial, killer, "", 0.0) for trial in trials if (killer := state.killer_of(trial))]
        for verdict in hands.map(lambda trial: try_one(trial, server.url()), left):
            verdicts.append(verdict)
            state.keep(verdict)
            where = verdict.trial.dialect or "either"
            told = f"red: {verdict.killer}" if verdict.killer else verdict.problem.upper()
            print(f"{verdict.seconds:5.1f} s  {where:8}  {verdict.trial.guard:60}  {told}", flush=True)
    verdicts.sort(key=lambda verdict: trials.index(verdict.trial))
    survivors = [verdict for verdict in verdicts if not verdict.killer]
    print(f"{len(verdicts) - len(survivors)} of {len(verdicts)} removed guards were noticed by their tests")
    if not survivors and not words:
        PAGE.write_text(page_of(verdicts), "utf-8")
    return 1 if survivors else 0


class State:
    """What was noticed in earlier runs, where somebody keeps it."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._killers: dict[str, str] = json.loads(path.read_text("utf-8")) if path and path.exists() else {}

    def killer_of(self, trial: Trial) -> str:
        """The test that turned red when this was tried, with the same file and the same tests; or nothing."""
        return self._killers.get(trial.digest, "")

    def keep(self, verdict: Verdict) -> None:
        """Remember a guard that was missed."""
        if self._path is not None and verdict.killer:
            self._killers[verdict.trial.digest] = verdict.killer
            self._path.write_text(json.dumps(self._killers, indent=1), "utf-8")


def _is_green(trials: list[Trial], address: str) -> bool:
    """A test that is red with all guards in place proves nothing about a missing one."""
    tests = tuple(sorted({test for trial in trials for test in trial.tests}))
    code, said = run_tests(SOURCES, tests, "", address, patience_seconds=FIRST_PATIENCE_SECONDS, options=SIDE_BY_SIDE)
    if code:
        print(said.strip()[-3000:])
        print("The tests are red with all guards in place; nothing was tried.")
    return code == 0


if __name__ == "__main__":
    sys.exit(main())
