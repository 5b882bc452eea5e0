"""The menu: everything that users may rely on, each name explained, and nothing fetched before it is asked for."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import haulwright

MENU = Path(haulwright.__file__)
PROMISED = {
    "ApplicationSpec",
    "AuthFailed", "Bury", "Cancel", "Cancelled", "Concurrency", "Context", "Done", "Handle", "Job", "JobFailed",
    "JobOutcome", "LeaseLost", "Haulwright", "HaulwrightError", "Observer", "Permanent", "Policy", "Principal", "Retry",
    "Retryable", "Skip",
    "Snooze", "Source", "StageMachine", "State", "Task", "Throttled", "Tx", "UniqueBy", "__version__",
}  # fmt: skip


def imported_by(statement: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after a statement."""
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_the_menu_has_every_name_that_was_promised():
    assert set(haulwright.__all__) >= PROMISED
    assert haulwright.__all__ == sorted(set(haulwright.__all__))


@pytest.mark.parametrize("name", [name for name in haulwright.__all__ if not name.startswith("__")])
def test_every_name_of_the_menu_can_be_had_and_is_explained(name):
    thing = getattr(haulwright, name)

    assert thing.__name__ == name
    assert inspect.getdoc(thing)
    for verb, member in inspect.getmembers(thing, inspect.isfunction):
        assert verb.startswith("_") or inspect.getdoc(member), f"{name}.{verb} is not explained"


def test_a_type_checker_is_told_of_the_same_names():
    tree = ast.parse(MENU.read_text("utf-8"))
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    told = {alias.name for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names}

    assert told | {"__version__"} == set(haulwright.__all__)


def test_a_name_that_is_not_on_the_menu_is_refused_as_python_does():
    with pytest.raises(AttributeError, match="module 'haulwright' has no attribute 'Worker'"):
        _ = haulwright.Worker


def test_importing_the_package_loads_nothing_heavy():
    loaded = imported_by("import haulwright; haulwright.__version__")

    assert loaded.isdisjoint({"pydantic", "psycopg", "sqlite3", "asyncio", "click", "rich", "cronsim"})
    assert {name for name in loaded if name.startswith("haulwright")} == {"haulwright", "haulwright.__about__"}


def test_errors_and_policies_can_be_had_without_a_database_driver():
    assert imported_by("from haulwright import Retry, Permanent").isdisjoint({"pydantic", "psycopg"})


def test_an_app_is_made_without_opening_anything(tmp_path):
    code = "from haulwright import Haulwright; app = Haulwright('sqlite:///x.db')"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)

    assert list(tmp_path.iterdir()) == []
