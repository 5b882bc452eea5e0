"""Which requirement is proven by which tests.

Reads the ids of docs/requirements.md and every `@pytest.mark.proves(...)` under tests/ and proof/, without importing
anything. Ends with 1 when a test claims to prove an id that is not listed.

    python tools/requirements.py            every group
    python tools/requirements.py --engine   without what waits for an application, the HTTP API or the sources
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / "docs" / "requirements.md"
TEST_FOLDERS = ("tests", "proof")
LATER = frozenset({"api", "brands", "brief", "syncs", "prices", "documents", "sources"})
LINE = re.compile(r"^- (?P<struck>~~)?\*\*(?P<id>[A-Z]+-\d+)\*\*(?P<text>.*)$")
TAG = re.compile(r"`\[(\w+)\]`")


@dataclass(frozen=True)
class Requirement:
    """One line of the list."""

    id: str
    tags: frozenset[str]
    overruled: bool

    @property
    def group(self) -> str:
        """The letters before the number."""
        return self.id.partition("-")[0]


@dataclass(frozen=True)
class Proof:
    """One mark on a test."""

    id: str
    path: Path
    line: int


def read_requirements(path: Path = LIST) -> list[Requirement]:
    """Every requirement of the list, in its order."""
    found = [match for line in path.read_text().splitlines() if (match := LINE.match(line))]
    return [
        Requirement(match["id"], frozenset(TAG.findall(match["text"])), overruled=bool(match["struck"]))
        for match in found
    ]


def read_proofs(root: Path = ROOT) -> list[Proof]:
    """Every `proves` mark of every test, on a function, a class, a parameter or a whole module."""
    files = sorted(path for folder in TEST_FOLDERS for path in (root / folder).rglob("*.py"))
    return [proof for path in files for proof in _proofs_in(path)]


def _proofs_in(path: Path) -> Iterator[Proof]:
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        match node:
            case ast.Call(func=ast.Attribute(attr="proves"), args=args):
                for arg in args:
                    if isinstance(arg, ast.Constant) and isinstance(arg.value, str):
                        yield Proof(arg.value, path, node.lineno)


def report(requirements: list[Requirement], proofs: list[Proof]) -> str:
    """A line of counts for each group, and below it the ids that nothing proves."""
    counts: dict[str, int] = defaultdict(int)
    for proof in proofs:
        counts[proof.id] += 1
    lines = []
    for group, members in groupby(requirements, key=lambda requirement: requirement.group):
        wanted = [member for member in members if not member.overruled]
        proven = [member.id for member in wanted if counts[member.id]]
        unproven = [_with_tags(member) for member in wanted if not counts[member.id]]
        lines.append(f"{group:4} {len(proven):3} of {len(wanted):3} proven")
        lines += [f"       proven    {', '.join(f'{name} ({counts[name]})' for name in proven)}"] if proven else []
        lines += [f"       unproven  {', '.join(unproven)}"] if unproven else []
    everything = [requirement for requirement in requirements if not requirement.overruled]
    done = sum(1 for requirement in everything if counts[requirement.id])
    return "\n".join([*lines, f"{done} of {len(everything)} requirements proven"])


def _with_tags(requirement: Requirement) -> str:
    return " ".join([requirement.id, *(f"[{tag}]" for tag in sorted(requirement.tags))])


def unknown_ids(requirements: list[Requirement], proofs: list[Proof]) -> list[str]:
    """What tests claim to prove and the list does not know, each with its place."""
    known = {requirement.id for requirement in requirements}
    return [f"{proof.path}:{proof.line}: {proof.id} is not listed" for proof in proofs if proof.id not in known]


def main() -> int:
    """Print the report and return the exit code."""
    parser = argparse.ArgumentParser(description="Which requirement is proven by which tests.")
    parser.add_argument("--engine", action="store_true", help="leave out what waits for an application or the API")
    parser.add_argument("--quiet", action="store_true", help="print unknown ids alone")
    options = parser.parse_args()
    listed, proofs = read_requirements(), read_proofs()
    shown = [one for one in listed if not (options.engine and one.tags & LATER)]
    if not options.quiet:
        print(report(shown, proofs))
    wrong = unknown_ids(listed, proofs)
    print(*wrong, sep="\n", end="\n" if wrong else "", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
