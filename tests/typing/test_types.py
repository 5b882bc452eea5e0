"""Types hold from end to end: a wrong call is found before anything runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
FOUND = re.compile(r"^(?P<file>\w+\.py):(?P<line>\d+): error: .*\[(?P<code>[\w-]+)\]$", re.MULTILINE)
EXPECTED = re.compile(r"# expect: (?P<codes>[\w-]+(?:, [\w-]+)*)$")


def test_a_type_checker_finds_every_wrong_call_and_no_fault_in_the_right_ones(tmp_path):
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", f"--cache-dir={tmp_path}"]
    told = subprocess.run([*command, "right.py", "wrong.py"], cwd=HERE, capture_output=True, text=True, check=False)

    found = {(match["file"], int(match["line"]), match["code"]) for match in FOUND.finditer(told.stdout)}
    assert found == expected("wrong.py"), told.stdout + told.stderr
    assert len(found) > 20


def expected(sample: str) -> set[tuple[str, int, str]]:
    """What the comments of a sample say that a type checker should find."""
    lines = (HERE / sample).read_text("utf-8").splitlines()
    return {
        (sample, number, code)
        for number, line in enumerate(lines, 1)
        if (match := EXPECTED.search(line))
        for code in match["codes"].split(", ")
    }
