"""The figures of applications: declared once, found by name, listed with their owner, and no burden to anybody else."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from types import ModuleType
from typing import ClassVar

import pytest
from click.testing import CliRunner

from haulwright import ApplicationSpec
from haulwright.application.settings import ApplicationSettings, setting
from haulwright.cli.kit.root import root
from haulwright.discovery import Applications
from haulwright.errors import InvalidValue, Refused
from haulwright.settings import FIGURES, Settings, figure


@dataclass(frozen=True, slots=True, kw_only=True)
class WeatherSettings(ApplicationSettings):
    prefix: ClassVar[str] = "weather_"

    cron: str = setting("0 * * * *", "when the weather is asked for")
    stations: int = setting(3, "how many are asked", "STATIONS", minimum=1, maximum=9)
    price: float | None = setting(None, "what an answer may cost", kind=float)
    key: str | None = setting(None, "who pays", secret=True)


@pytest.fixture
def installed(monkeypatch):
    """Settings as if these applications, each with its figures, were all that is installed; None is a broken one."""

    def install(**figures):
        specs = {}
        for name, declared in figures.items():
            module = f"settings_of_{name}"
            specs[name] = ApplicationSpec(name=name, package=name, summary=name, settings=module)
            if declared is not None:
                monkeypatch.setitem(sys.modules, module, ModuleType(module))
                sys.modules[module].FIGURES = declared
        applications = Applications(specs, dict.fromkeys(specs, "somebodys"))
        for module in ("haulwright.settings", "haulwright.discovery"):
            monkeypatch.setattr(f"{module}.installed_applications", lambda: applications)

    return install


def project(folder, text):
    (folder / "pyproject.toml").write_text(f"[tool.haulwright]\n{text}\n")
    return folder


def test_a_default_stands_once_and_each_figure_has_its_name_variables_and_limits():
    cron, stations, price, key = WeatherSettings.figures()

    assert (cron.name, cron.default, cron.variables) == ("weather_cron", "0 * * * *", ("HAULWRIGHT_WEATHER_CRON",))
    assert (stations.variables, stations.kind) == (("HAULWRIGHT_WEATHER_STATIONS", "STATIONS"), int)
    assert (price.kind, key.kind, key.secret) == (float, str, True)
    assert WeatherSettings().stations == 3


def test_values_come_from_the_environment_the_project_file_and_the_caller(installed, tmp_path):
    installed(weather=WeatherSettings.figures())
    folder = project(tmp_path, 'weather_cron = "5 * * * *"')

    weather = WeatherSettings.load(Settings.load({"STATIONS": "7"}, folder), price=1.5)

    assert (weather.cron, weather.stations, weather.price, weather.key) == ("5 * * * *", 7, 1.5, None)


@pytest.mark.parametrize("value", ["many", "0", "10"])
def test_a_value_that_makes_no_sense_is_refused_with_its_variable(value):
    with pytest.raises(InvalidValue, match="weather_stations \\(STATIONS\\)"):
        WeatherSettings.load(Settings.load({"STATIONS": value}))


def test_a_figure_can_be_had_by_its_name_and_tells_its_owner(installed):
    installed(weather=WeatherSettings.figures())

    found = Settings.load({"STATIONS": "4"}).setting("weather_stations")

    assert (found.value, found.origin, found.figure.owner) == (4, "STATIONS", "weather")


def test_an_unknown_name_in_the_project_file_is_refused_with_the_nearest_of_all_applications(installed, tmp_path):
    installed(weather=WeatherSettings.figures())

    with pytest.raises(InvalidValue, match="'weather_statoins' is not a setting") as refusal:
        Settings.load({}, project(tmp_path, "weather_statoins = 4"))
    assert refusal.value.hint == "Did you mean 'weather_stations'?"
    with pytest.raises(InvalidValue) as refusal:
        Settings.load({}, project(tmp_path, "qqq = 4"))
    assert refusal.value.hint == "See all of them with: haulwright settings"


def test_what_belongs_to_an_application_that_cannot_be_imported_is_not_judged_and_stops_nobody(installed, tmp_path):
    installed(broken=None, weather=WeatherSettings.figures())

    settings = Settings.load({}, project(tmp_path, "broken_figure = 1\nweather_stations = 2"))

    assert settings["weather_stations"] == 2
    answer = CliRunner().invoke(root, ["settings"])
    assert answer.exit_code == 0
    assert "weather_stations" in answer.stdout
    assert "The application broken (of somebodys) cannot be imported" in answer.stderr


@pytest.mark.parametrize("name", ["concurrency", "weather_cron"])
def test_a_figure_of_two_owners_is_refused(installed, name):
    installed(storms=(figure(name, 1, "twice"),), weather=WeatherSettings.figures())

    with pytest.raises(Refused, match=f"The setting {name} belongs to"):
        Settings.load({}).all()


def test_the_engine_has_no_figure_of_an_application():
    assert all(each.owner == "engine" for each in FIGURES)
    assert {each.owner for each in Settings.figures()} == {"engine", "brands", "brief", "documents", "prices", "syncs"}


def test_the_settings_of_the_engine_are_read_without_importing_an_application(tmp_path):
    code = "import sys, haulwright; haulwright.Haulwright().database_url; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)

    assert not [name for name in done.stdout.split() if name.startswith("haulwright.apps")]
