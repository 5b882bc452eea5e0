"""What the repository promises about itself."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from tools.mutants import read_trials
from tools.requirements import read_proofs, read_requirements, report, unknown_ids

ROOT = Path(__file__).resolve().parent.parent
LOCKS = ("requirements.lock", "requirements-dev.lock")
PINNED = re.compile(r"^(?P<name>[\w.-]+)==(?P<version>\S+)")
# A home, a checkout or a scratch folder on somebody's machine. System folders such as /usr/lib are the same everywhere.
MACHINE_PATH = re.compile(r"(?<![\w.<*/-])/(?:work|root|home|tmp|Users|mnt|workspace)/[\w.-]+|[A-Z]:\\Users\\")


def tracked_files() -> list[Path]:
    """What a clone contains, and what it would contain if everything here were added."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as reason:
        pytest.skip(f"not a git checkout that this user can read: {reason}")
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def pins(lock: str) -> dict[str, str]:
    found = (PINNED.match(line) for line in (ROOT / lock).read_text().splitlines())
    return {match["name"]: match["version"] for match in found if match}


@pytest.mark.parametrize("lock", LOCKS)
def test_lock_files_name_no_address(lock):
    text = (ROOT / lock).read_text()

    assert not re.search(r"://|--index-url|--find-links|@ ", text)


@pytest.mark.parametrize("lock", LOCKS)
def test_every_locked_package_has_a_hash(lock):
    lines = [line for line in (ROOT / lock).read_text().splitlines() if line and not line.startswith("#")]
    unhashed = [line for line, after in pairwise([*lines, ""]) if PINNED.match(line) and "--hash=sha256:" not in after]

    assert lines
    assert unhashed == []


def test_the_development_lock_contains_the_other_in_the_same_versions():
    assert pins("requirements.lock").items() <= pins("requirements-dev.lock").items()


def test_no_file_names_a_path_of_somebodys_machine():
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in tracked_files()
        for number, line in enumerate(path.read_text(errors="ignore").splitlines(), 1)
        if MACHINE_PATH.search(line)
    ]

    assert found == []


def test_every_proven_requirement_is_listed():
    assert unknown_ids(read_requirements(), read_proofs()) == []


def test_requirement_ids_are_unique_and_ordered_within_their_group():
    ids = [requirement.id for requirement in read_requirements()]

    assert len(ids) == len(set(ids))
    for one, next_one in pairwise(ids):
        group, number = one.split("-")
        assert next_one in {f"{group}-{int(number) + 1:02}", next_one.split("-")[0] + "-01"}


def test_a_proof_of_an_unlisted_requirement_is_reported(tmp_path):
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_it.py").write_text('@pytest.mark.proves("CLM-01", "XXX-99")\ndef test_it(): ...\n')

    proofs = read_proofs(tmp_path)

    assert [line.rpartition(": ")[2] for line in unknown_ids(read_requirements(), proofs)] == ["XXX-99 is not listed"]
    assert "CLM-01 (1)" in report(read_requirements(), proofs)


def test_users_get_our_types():
    assert (ROOT / "src" / "haulwright" / "py.typed").is_file()


def test_continuous_integration_runs_what_a_person_runs():
    script = ROOT / ".ci" / "run"

    assert os.access(script, os.X_OK)
    assert script.read_text().splitlines()[-1] == "make test"


def test_every_make_target_explains_itself():
    makefile = (ROOT / "Makefile").read_text()
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))

    explained = set(re.findall(r"^([a-z-]+):.*## \S", makefile, re.MULTILINE))

    assert targets == explained


SOURCE = ROOT / "src" / "haulwright"
FOLDERS = ("src", "tests", "proof", "bench", "tools")
"""Where a file that is too long, or a function, turns this red."""
LONGEST_FILE = 400
LONGEST_FUNCTION = 50
LARGEST_COMMAND_LINE = 3_300
STORE = re.compile(r"\bsite\.store\b|\.store\.|\bstores\.store\b")
STATEMENT = re.compile(r"\b(select\b.+\bfrom|insert\s+into|update\b.+\bset|delete\s+from)\b", re.IGNORECASE)


def modules(folder: Path = SOURCE) -> dict[str, str]:
    """The text of every module below a folder, by its name within the package."""
    return {str(path.relative_to(SOURCE)): path.read_text() for path in sorted(folder.rglob("*.py"))}


def texts_in(source: str) -> list[str]:
    """Every text that the code has, the explanations left out."""
    tree = ast.parse(source)
    explained = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return [str(text.value) for text in texts if id(text) not in explained]


def command_modules() -> dict[str, str]:
    """The command line, and the commands of the applications."""
    own = {name: text for name, text in modules(SOURCE / "apps").items() if Path(name).stem.startswith("cli")}
    return modules(SOURCE / "cli") | own


def test_commands_of_the_engine_and_of_applications_stand_on_operations_and_never_on_the_store():
    lines = [
        f"{name}:{number}: {line.strip()}"
        for name, text in command_modules().items()
        for number, line in enumerate(text.splitlines(), 1)
        if STORE.search(line)
    ]

    assert {name.split("/")[1] for name in command_modules()} >= {"brands", "brief", "documents", "prices", "syncs"}
    assert lines == []


def test_the_command_line_shows_the_json_of_operations_and_writes_none_of_its_own():
    """The sandbox excepted: its addresses are of its own process, and no other door could give them."""
    literals = [
        f"{name}:{node.lineno}"
        for name, text in modules(SOURCE / "cli").items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in {"show", "line"}
        and isinstance(node.args[0] if node.args else None, ast.Dict)
    ]

    assert [literal for literal in literals if not literal.startswith("cli/sandbox.py")] == []


def test_there_is_no_sql_in_commands():
    assert list((SOURCE / "cli").rglob("*.sql")) == []
    assert [
        (name, text) for name, source in command_modules().items() for text in texts_in(source)
        if STATEMENT.search(text)
    ] == []  # fmt: skip


def test_the_command_line_stays_a_door():
    assert sum(len(text.splitlines()) for text in modules(SOURCE / "cli").values()) < LARGEST_COMMAND_LINE


def sources() -> dict[str, str]:
    """The text of every module of the repository: what users get, and what proves, measures and writes it."""
    paths = [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    return {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths}


def test_no_file_is_too_long_to_be_read_at_once():
    assert {name.partition("/")[0] for name in sources()} == set(FOLDERS)
    assert {name: lines for name, text in sources().items() if (lines := len(text.splitlines())) > LONGEST_FILE} == {}


def test_no_function_is_longer_than_a_screen():
    functions = {
        f"{name}:{node.name}": (node.end_lineno or 0) - node.lineno + 1
        for name, text in sources().items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }

    assert {name: lines for name, lines in functions.items() if lines > LONGEST_FUNCTION} == {}


PARTICIPLES = frozenset({"told", "said", "asked", "made", "wanted", "found", "known", "given", "gone", "one"})


def variables_of(source: str) -> set[tuple[int, str]]:
    """The parameters and variables of every function, with their lines."""
    functions = [
        node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    nodes = [node for function in functions for node in ast.walk(function)]
    names = {(node.lineno, node.id) for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return names | {(node.lineno, node.arg) for node in nodes if isinstance(node, ast.arg)}


@pytest.mark.parametrize("room", ["cli", "operations", "testing"])
def test_a_variable_says_what_it_is_and_not_what_became_of_it(room):
    assert [
        f"{name}:{line}: {variable}"
        for name, text in modules(SOURCE / room).items()
        for line, variable in sorted(variables_of(text))
        if PARTICIPLES & set(variable.split("_"))
    ] == []


def test_no_two_public_classes_have_one_name():
    homes = defaultdict(list)
    for name, text in modules().items():
        for node in ast.parse(text).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(name)

    assert {name: files for name, files in homes.items() if len(files) > 1} == {}


def test_every_guard_that_is_to_be_removed_stands_where_its_list_says():
    """A line that was written anew leaves its mutant behind, and nobody sees a missing guard from then on."""
    for trial in read_trials():
        assert trial.mutated()
