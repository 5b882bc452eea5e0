"""Somebody else's application, written as the how-to says, is installed and works like our own."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from haulwright.stores.connect import open_database

EXAMPLE = Path(__file__).parent / "example"
ROOT = Path(__file__).parents[2]
HOW_TO = ROOT / "docs" / "how-to" / "write-an-application.md"
SHOWN = re.compile(r"^`([\w/.]+)`:?\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The example as a wheel, installed into a folder of its own."""
    source = shutil.copytree(EXAMPLE, tmp_path_factory.mktemp("source") / "example")
    target = tmp_path_factory.mktemp("installed")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-deps"]
    words = [*pip, "--no-build-isolation", "--target", str(target), str(source)]
    subprocess.run(words, check=True, capture_output=True, text=True)
    return target


@pytest.fixture
def run(installed, database_url, tmp_path):
    """A command where the example is installed, on each database in turn."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HAULWRIGHT_")}
    environment = kept | {"PYTHONPATH": str(installed), "DATABASE_URL": database_url, "HAULWRIGHT_WEATHER_UNIT": "F"}

    def run(*words):
        command = [sys.executable, "-P", "-m", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + (done.stderr if words[0] == "weather" else "")

    return run


def test_its_command_is_listed_its_settings_are_told_and_its_migration_is_applied(run):
    listed = run("haulwright", "--help")
    migrated = run("haulwright", "db", "migrate", "weather")
    settings = json.loads(run("haulwright", "settings", "--json"))["settings"]

    assert "weather Weather: what stations measured, each reading once." in " ".join(listed.split())
    assert "applied weather 0001 readings" in migrated
    (unit,) = [each for each in settings if each["name"] == "weather_unit"]
    assert (unit["value"], unit["owner"], unit["origin"]) == ("F", "weather", "HAULWRIGHT_WEATHER_UNIT")


def test_its_task_runs_and_what_it_wrote_is_seen_by_its_tenant_alone(run, database_url):
    run("haulwright", "db", "migrate", "weather")

    run("haulwright", "weather", "record", "oslo", "21", "--tenant", "acme")
    log = run("weather", "--until-empty")
    own = json.loads(run("haulwright", "weather", "list", "--tenant", "acme", "--json"))
    foreign = json.loads(run("haulwright", "weather", "list", "--tenant", "globex", "--json"))

    assert "worker stopped" in log
    assert own["readings"] == [{"tenant": "acme", "station": "oslo", "degrees": 21.0, "unit": "F"}]
    assert foreign["readings"] == []
    with closing(open_database(database_url)) as database:
        ((count,),) = database.read(lambda connection: connection.execute("select count(*) from weather_readings"))
    assert count == 1


SHOW_PAGE = """
import json, weather
from haulwright import Haulwright
from tests.support.dashboard import Person, people

app = Haulwright()
weather.install(app)
with people(app) as served:
    acme, globex = (Person(served).log_in("tenant", tenant) for tenant in ("acme", "globex"))
    texts = [person.open("/ui/weather").text for person in (acme, globex)]
    document = acme.open("/ui/weather.json").answer.json()
    refused = acme.send("/ui/weather/forget", {"station": "oslo"}).answer.status_code
    admin = Person(served).log_in("admin")
    after = admin.submit(admin.open("/ui/weather"), "/ui/weather/forget?tenant=acme", station="oslo")
    forgotten = after.tree.css_first(".notice").text()
    print(json.dumps([*texts, document, refused, forgotten]))
"""


def test_its_page_is_in_the_dashboard_with_its_template_from_the_wheel(run, installed, database_url, tmp_path):
    run("haulwright", "db", "migrate", "weather")
    run("haulwright", "weather", "record", "oslo", "21", "--tenant", "acme")
    run("weather", "--until-empty")
    environment = os.environ | {"PYTHONPATH": f"{installed}{os.pathsep}{ROOT}", "DATABASE_URL": database_url}

    command = [sys.executable, "-P", "-c", SHOW_PAGE]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)

    assert done.returncode == 0, done.stderr
    own, foreign, document, refused, forgotten = json.loads(done.stdout)
    assert "osloacme21 F" in own
    assert "haulwright weather record STATION DEGREES" in foreign
    assert document == {"readings": [{"tenant": "acme", "station": "oslo", "degrees": 21.0, "unit": "F"}]}
    assert refused == 403
    assert "1 readings of oslo are removed." in forgotten


def test_the_how_to_shows_the_files_of_the_example_as_they_are():
    shown = dict(SHOWN.findall(HOW_TO.read_text("utf-8")))

    assert {
        "pyproject.toml",
        "weather/__init__.py",
        "weather/application.py",
        "weather/cli.py",
        "weather/dashboard.py",
    } <= set(shown)
    assert [path for path, text in shown.items() if (EXAMPLE / path).read_text("utf-8") != text] == []
