"""What a user installs: a light wheel that works by itself, and extras that bring the rest."""

from __future__ import annotations

import json
import re
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.packaging.environments import ROOT, Environment, build, install, metadata, required

pytestmark = pytest.mark.xdist_group("wheel")  # built once, for one process

MOST_PACKAGES = 12
LONGEST_WAIT_SECONDS = 30.0
SHIPPED = ("sql", "html", "css", "js", "svg")
"""What is read from the package beside its modules."""
EXTRAS = ("postgres", "http", "apps", "web", "all")
# Imports each module of the rooms named, and says which could not be, and why.
IMPORT_ALL = """
import importlib, json, pkgutil, sys
import haulwright
problems = {}
for found in pkgutil.walk_packages(haulwright.__path__, "haulwright.", onerror=lambda name: None):
    started_by_name = found.name.endswith(("__main__", "pdf_child", "testing.plugin"))
    if found.name.startswith(tuple(sys.argv[1:])) and not started_by_name:
        try:
            importlib.import_module(found.name)
        except ImportError as error:
            problems[found.name] = [type(error).__name__, str(error)]
print(json.dumps(problems))
"""
CORE = tuple(
    f"haulwright.{room}"
    for room in (
        "errors", "extras", "discovery", "events", "clock", "redaction", "visible", "settings", "engine", "stores.s",
        "stores.m", "client", "runtime", "operations", "application", "cli", "testing", "sandbox", "sources.governor",
        "sources.source", "sources.http.client",
    )
)  # fmt: skip


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    return build("wheel", tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def bare(wheel, tmp_path_factory) -> Environment:
    return install(wheel, tmp_path_factory.mktemp("bare") / "venv")


@pytest.fixture
def with_extra(bare, wheel, tmp_path) -> Callable[[str], Environment]:
    """The bare environment with one extra."""
    return lambda extra: bare.extended(tmp_path / "venv", required(metadata(wheel), extra))


def python(environment: Environment, folder: Path, code: str, *arguments: str) -> str:
    done = environment.run("python", "-c", code, *arguments, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_brings_at_most_twelve_packages(bare):
    assert bare.packages == {
        "annotated-types", "click", "cronsim", "markdown-it-py", "mdurl", "pydantic", "pydantic-core", "pygments",
        "rich", "typing-extensions", "typing-inspection", "tzdata",
    }  # fmt: skip
    assert len(bare.packages) <= MOST_PACKAGES


def test_the_wheel_contains_every_statement_and_page_and_no_tests(wheel):
    tree = {str(path.relative_to(ROOT / "src")) for kind in SHIPPED for path in (ROOT / "src").rglob(f"*.{kind}")}

    names = set(ZipFile(wheel).namelist())

    assert tree
    assert tree <= names
    assert "haulwright/py.typed" in names
    assert {name.partition("/")[0] for name in names} == {"haulwright", _info(names)}


def test_the_source_distribution_contains_every_statement_and_page_and_no_tests(tmp_path):
    tree = {str(path.relative_to(ROOT)) for kind in SHIPPED for path in (ROOT / "src").rglob(f"*.{kind}")}

    with tarfile.open(build("sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}

    assert tree <= names
    assert {"LICENSE", "NOTICE", "README.md", "docs/index.md"} <= names
    assert [name for name in names if name.startswith(("tests/", "proof/", "bench/"))] == []


def test_the_extras_are_those_that_are_documented(wheel):
    said = metadata(wheel)

    assert set(said.get_all("Provides-Extra", [])) == set(EXTRAS)
    assert required(said, "all") == set().union(*(required(said, extra) for extra in EXTRAS))


def test_the_bare_wheel_says_its_version(bare, tmp_path):
    said = bare.run("haulwright", "--version", cwd=tmp_path)

    assert said.returncode == 0, said.stderr
    assert re.fullmatch(r"haulwright \d+\.\d+\S*\n", said.stdout)


def test_the_tutorial_works_with_the_bare_wheel(bare, tmp_path):
    """A worker is killed after it asked the shop; the next one goes on, and the shop is asked once."""
    _write_shop(tmp_path)
    enqueued = bare.run("python", "shop.py", cwd=tmp_path)
    (job_id,) = re.findall(r"<Handle (\S+) created>", enqueued.stdout)
    assert "price" in bare.run("haulwright", "job", "list", cwd=tmp_path).stdout
    assert "no live worker" in bare.run("haulwright", "job", "why", job_id, cwd=tmp_path).stdout

    first = bare.start("haulwright", "worker", "-A", "shop:app", cwd=tmp_path)
    try:
        _wait_for_the_effect(bare, tmp_path, job_id)
    finally:
        first.kill()
        first.wait()
    (tmp_path / "killed").touch()
    second = bare.run("haulwright", "worker", "-A", "shop:app", "--until-empty", cwd=tmp_path)

    assert second.returncode == 0, second.stderr
    assert (tmp_path / "outside.txt").read_text() == "asked for A1\n"
    shown = json.loads(bare.run("haulwright", "job", "show", job_id, "--json", cwd=tmp_path).stdout)
    assert "succeeded" in json.dumps(shown)


def test_the_engine_and_the_command_line_import_nothing_but_what_is_mandatory(bare, tmp_path):
    assert json.loads(python(bare, tmp_path, IMPORT_ALL, *CORE)) == {}


def test_what_needs_more_is_refused_with_the_line_to_type(bare, tmp_path):
    """Whatever is imported, a missing package is never told as a bare ModuleNotFoundError."""
    problems = json.loads(python(bare, tmp_path, IMPORT_ALL, "haulwright.sources."))

    assert "haulwright.sources.feeds" in problems
    assert {kind for kind, _ in problems.values()} == {"MissingExtra"}
    assert all("pip install 'haulwright[http]'" in said for _, said in problems.values())


def test_a_source_is_a_gate_without_an_extra_and_refuses_a_request(bare, tmp_path):
    code = """
from haulwright import Haulwright
from haulwright.errors import MissingExtra
app = Haulwright("sqlite:///h.db")
shop = app.source("shop", rate="10/s")
with shop.enter():
    print("passed")
for request in (lambda: shop.get("http://127.0.0.1:9/"), lambda: app.source("polite", robots=True)):
    try:
        request()
    except MissingExtra as refusal:
        print(refusal.code, refusal.extra, refusal.hint)
"""

    assert python(bare, tmp_path, code).splitlines() == [
        "passed", *["missing_extra http Run: pip install 'haulwright[http]'"] * 2
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("command", "extra"),
    [
        (("demo",), "apps"),
        (("brand", "list"), "apps"),
        (("doc", "--help"), "apps"),
        (("job", "list", "--database", "postgresql://127.0.0.1:9/none"), "postgres"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else value,
)
def test_a_command_that_needs_an_extra_says_which(bare, tmp_path, command, extra):
    refused = bare.run("haulwright", *command, cwd=tmp_path)

    assert refused.returncode == 69, refused.stderr
    assert f"pip install 'haulwright[{extra}]'" in refused.stderr
    assert "Traceback" not in refused.stderr


@pytest.mark.parametrize(
    ("command", "answer"),
    [(("--help",), "brand"), (("settings",), "airbyte_client_id"), (("db", "migrate", "brands"), "applied brands")],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_names_settings_and_tables_of_applications_need_no_extra(bare, tmp_path, command, answer):
    done = bare.run("haulwright", *command, cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert answer in done.stdout


def test_with_http_a_request_is_answered_and_a_feed_is_read(with_extra, tmp_path):
    code = """
from haulwright import Haulwright
from haulwright.sandbox import Sandbox
from haulwright.sources.feeds import parse_feed
from haulwright.sources.http import Policy
with Sandbox() as outside:
    source = Haulwright("sqlite:///h.db").source("feeds", policy=Policy(allow=("127.0.0.1",)))
    reply = source.get(outside.url + "/feeds/harbour-times.xml")
print(reply.status, len(parse_feed(reply.body).entries) > 0)
"""
    environment = with_extra("http")

    assert python(environment, tmp_path, code) == "200 True\n"
    assert json.loads(python(environment, tmp_path, IMPORT_ALL, "haulwright.sources")) == {}


def test_with_postgres_the_driver_is_there(with_extra, tmp_path):
    environment = with_extra("postgres")
    job_list = ("-m", "haulwright", "job", "list", "--database", "postgresql://127.0.0.1:9/none")

    refused = environment.run("python", *job_list, cwd=tmp_path)

    assert refused.returncode == 69
    assert "pip install" not in refused.stderr
    assert json.loads(python(environment, tmp_path, IMPORT_ALL, "haulwright.stores")) == {}


def test_with_apps_every_application_answers(with_extra, tmp_path):
    environment = with_extra("apps")

    answered = {
        name: environment.run("python", "-m", "haulwright", name, "--help", cwd=tmp_path).returncode
        for name in ("brand", "brief", "sync", "doc", "price", "demo")
    }

    assert set(answered.values()) == {0}, answered
    failed = json.loads(python(environment, tmp_path, IMPORT_ALL, "haulwright.apps", "haulwright.demo"))
    assert [name for name in failed if not name.endswith((".routes", ".dashboard"))] == []  # these come with `web`


def test_with_web_the_api_is_there_and_no_application(wheel):
    brought = required(metadata(wheel), "web") - required(metadata(wheel))

    assert {"fastapi", "uvicorn", "pyjwt"} <= brought
    assert not brought & {"feedparser", "httpx2", "pypdf", "psycopg"}


def test_with_all_every_module_can_be_imported(with_extra, tmp_path):
    environment = with_extra("all")

    assert json.loads(python(environment, tmp_path, IMPORT_ALL, "haulwright")) == {}


def _info(names: set[str]) -> str:
    (info,) = {top for name in names if (top := name.partition("/")[0]).endswith(".dist-info")}
    return info


def _write_shop(folder: Path) -> None:
    """The program of the tutorial, whose pause is over as soon as the plug was pulled."""
    (program,) = re.findall(r"```python\n(.+?)```", (ROOT / "docs/tutorial/first-job.md").read_text(), re.DOTALL)
    assert "time.sleep(20)" in program
    (folder / "shop.py").write_text(
        program.replace("time.sleep(20)", "time.sleep(0 if Path('killed').exists() else 60)")
    )


def _wait_for_the_effect(environment: Environment, folder: Path, job_id: str) -> None:
    until = time.monotonic() + LONGEST_WAIT_SECONDS
    while time.monotonic() < until:
        listed = environment.run("haulwright", "effect", "list", job_id, "--json", cwd=folder).stdout
        if '"succeeded"' in listed or '"done"' in listed:
            return
    pytest.fail("the worker never asked the shop")
