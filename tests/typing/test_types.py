"""Types hold from end to end: a wrong call is found before anything runs."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.xdist_group("mypy")  # one run for both samples

HERE = Path(__file__).parent
FOUND = re.compile(r"^(?P<file>\w+\.py):(?P<line>\d+): error: .*\[(?P<code>[\w-]+)\]$", re.MULTILINE)
EXPECTED = re.compile(r"# expect: (?P<code>[\w-]+)$")


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[tuple[int, str]]]:
    """What mypy has to say about each of the two samples, in one run."""
    cache = tmp_path_factory.mktemp("mypy")
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        f"--cache-dir={cache}",
        "right.py",
        "wrong.py",
    ]
    told = subprocess.run(command, cwd=HERE, capture_output=True, text=True, check=False).stdout
    found: dict[str, set[tuple[int, str]]] = {"right.py": set(), "wrong.py": set()}
    for match in FOUND.finditer(told):
        found[match["file"]].add((int(match["line"]), match["code"]))
    assert "error" in told, told
    return found


def test_a_type_checker_has_nothing_to_say_about_right_calls(found):
    assert found["right.py"] == set()


def test_a_type_checker_finds_every_wrong_call(found):
    lines = (HERE / "wrong.py").read_text("utf-8").splitlines()
    expected = {(number, match["code"]) for number, line in enumerate(lines, 1) if (match := EXPECTED.search(line))}

    assert found["wrong.py"] == expected
    assert len(expected) > 20
