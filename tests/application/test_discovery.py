"""Applications are found by their entry points: light, told apart, and one that is broken harms no other."""

from __future__ import annotations

import subprocess
import sys
from contextlib import closing
from importlib.metadata import Distribution, EntryPoint

import pytest
from click.testing import CliRunner

from haulwright import ApplicationSpec, Haulwright
from haulwright.application.application import application, install_all
from haulwright.cli.kit import root as root_module
from haulwright.cli.kit.root import root
from haulwright.discovery import GROUP, Applications, installed_applications, load_applications
from haulwright.errors import NotFound, Refused

WEATHER = ApplicationSpec(name="weather", package="weather", summary="Weather.", command="sky", commands="weather.cli")
SAME_NAME = ApplicationSpec(name="weather", package="other", summary="Weather.")
SAME_COMMAND = ApplicationSpec(name="stars", package="stars", summary="Stars.", command="sky", commands="stars.cli")
ENGINE_COMMAND = ApplicationSpec(name="stars", package="stars", summary="Stars.", command="job", commands="stars.cli")
NO_SPEC = "a text"


class Package(Distribution):
    """A distribution of which only the name matters."""

    def __init__(self, name):
        self._name = name

    def read_text(self, filename):
        return f"Name: {self._name}\n" if filename == "METADATA" else None

    def locate_file(self, path):
        raise NotImplementedError(path)


def entry(name, value, distribution="somebodys"):
    point = EntryPoint(name, value, GROUP)
    vars(point)["dist"] = Package(distribution)
    return point


def here(name):
    return f"{__name__}:{name}"


@pytest.fixture
def installed(monkeypatch):
    """Commands and applications as if these entry points were all that is installed."""

    def install(*entry_points):
        applications = load_applications(entry_points)
        for module in ("haulwright.discovery", "haulwright.application.application"):
            monkeypatch.setattr(f"{module}.installed_applications", lambda: applications)
        return applications

    return install


def modules_after(*words):
    """What a command has imported by its end."""
    program = (
        "import sys\nfrom haulwright.cli import main\ntry: main()\nexcept SystemExit: print('\\n', *sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_the_five_applications_of_the_house_are_installed_as_anybody_elses():
    applications = installed_applications()

    assert list(applications.specs) == ["brands", "brief", "documents", "prices", "syncs"]
    assert set(applications.distributions.values()) == {"haulwright"}
    assert applications.broken == ()


def test_the_list_of_commands_names_applications_without_importing_them():
    loaded = modules_after("--help")

    assert "haulwright.apps.brands" in loaded
    assert {name for name in loaded if name.startswith("haulwright.apps.") and name.count(".") > 2} == set()
    assert loaded.isdisjoint({"haulwright.client", "haulwright.stores", "haulwright.settings", "pydantic"})


@pytest.mark.parametrize("words", [("--version",), ("job", "--help")])
def test_who_needs_no_application_does_not_look_for_one(words):
    assert modules_after(*words).isdisjoint({"haulwright.apps", "importlib.metadata"})


def test_two_applications_of_one_name_are_refused_with_both_their_distributions():
    with pytest.raises(Refused, match="are called 'weather': weather of alpha, and weather of beta") as refusal:
        load_applications([entry("weather", here("WEATHER"), "alpha"), entry("weather", here("SAME_NAME"), "beta")])

    assert refusal.value.hint == "Uninstall one of them: pip uninstall beta"


def test_two_applications_with_one_command_are_refused():
    with pytest.raises(Refused, match="have the command 'sky': stars of somebodys, and weather of somebodys"):
        load_applications([entry("weather", here("WEATHER")), entry("stars", here("SAME_COMMAND"))])


def test_an_application_with_a_command_of_the_engine_is_refused(installed):
    installed(entry("stars", here("ENGINE_COMMAND")))

    answer = CliRunner().invoke(root, ["--help"])

    assert answer.exit_code == 2
    assert "The application stars has the command 'job', which is one of the engine's." in answer.stderr
    assert "pip uninstall somebodys" in answer.stderr


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("no_such_module:SPEC", "ModuleNotFoundError: No module named 'no_such_module'"),
        (here("ABSENT"), "AttributeError"),
        (here("NO_SPEC"), "is a str, no ApplicationSpec"),
        (here("SAME_COMMAND"), "its entry point is called 'broken', and its spec 'stars'"),
    ],
)
def test_one_that_cannot_be_loaded_is_told_with_its_name_and_distribution_and_the_others_work(installed, value, reason):
    applications = installed(entry("broken", value, "gamma"), entry("weather", here("WEATHER")))

    shown = CliRunner().invoke(root, ["--help"]).stdout
    mistyped = CliRunner().invoke(root, ["broken"])

    assert list(applications.specs) == ["weather"]
    told = " ".join(shown.split())
    assert "sky Weather." in told
    assert "The application broken (of gamma) cannot be imported:" in told
    assert mistyped.exit_code == 2
    assert reason in mistyped.stderr
    with pytest.raises(Refused, match="broken \\(of gamma\\)"):
        applications.get("broken")


def test_one_whose_inside_cannot_be_imported_is_told_when_it_is_used(installed, tmp_path):
    installed(entry("weather", here("WEATHER")))

    answer = CliRunner().invoke(root, ["sky", "--help"])

    assert answer.exit_code == 2
    assert "The application weather (of somebodys) cannot be imported: ModuleNotFoundError" in answer.stderr
    with closing(Haulwright(f"sqlite:///{tmp_path}/x.db")) as app, pytest.raises(Refused, match="weather"):
        application("weather", app)


def test_a_worker_for_all_runs_without_the_one_that_is_broken(installed, tmp_path, caplog):
    installed(entry("weather", here("WEATHER")), entry("syncs", "haulwright.apps.syncs:SPEC", "haulwright"))

    with closing(Haulwright(f"sqlite:///{tmp_path}/x.db")) as app:
        broken = install_all(app)

        assert list(app.applications) == ["syncs"]
    assert [left_out.name for left_out in broken] == ["weather"]
    assert "The application weather (of somebodys) cannot be imported" in caplog.text


def test_a_mistyped_name_is_guessed_and_where_there_is_none_near_all_are_told():
    applications = installed_applications()

    with pytest.raises(NotFound) as near:
        applications.get("breif")
    with pytest.raises(NotFound) as far:
        applications.get("weather")

    assert near.value.hint == "Did you mean 'brief'?"
    assert far.value.hint == "Installed are: brands, brief, documents, prices, syncs."


def test_without_applications_the_engine_works_alone(installed):
    assert installed() == Applications({}, {})
    answer = CliRunner().invoke(root, ["--help"])

    assert (answer.exit_code, "Applications:" in answer.stdout) == (0, False)
    assert root_module.COMMANDS.keys() >= {"worker", "job", "db"}
