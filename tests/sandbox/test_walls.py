"""The sandbox stands beside the house: it can be read, and trusted, alone."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import haulwright.sandbox

FILES = sorted(Path(haulwright.sandbox.__file__).parent.rglob("*.py"))


def imported(path):
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_it_imports_only_itself_and_the_standard_library():
    strangers = {
        (path.name, name)
        for path in FILES
        for name in imported(path)
        if not name.startswith("haulwright.sandbox") and name.partition(".")[0] not in sys.stdlib_module_names
    }

    assert FILES
    assert strangers == set()
