"""The figures of brands and syncs are settings like all others: in one list, with their old names."""

from __future__ import annotations

import re
from dataclasses import fields
from importlib.resources import files

import pytest
from click.testing import CliRunner

from haulwright.apps.brands.settings import BrandSettings
from haulwright.apps.syncs.settings import SyncSettings
from haulwright.cli.kit.root import root
from haulwright.settings import Settings

DOCUMENTED = {
    "brands_lease_seconds": 600.0,
    "brands_poll_interval_seconds": 5.0,
    "brands_poll_timeout_seconds": 300.0,
    "brands_request_seconds": 30.0,
    "brands_fresh_seconds": 86_400.0,
    "syncs_cron": "*/5 * * * *",
    "syncs_min_interval": "60 s",
    "stale_check_interval_seconds": 60.0,
    "poll_interval_seconds": 5.0,
    "cache_ttl_seconds": 3600.0,
}
"""The times that the documents of the applications name."""


@pytest.mark.proves("PF-02")
def test_every_time_of_the_documents_is_a_figure_of_the_one_list():
    told = CliRunner().invoke(root, ["settings", "--json"], env={"HAULWRIGHT_BRANDS_FRESH_SECONDS": "60"})

    known = Settings.load({})
    assert {name: known[name] for name in DOCUMENTED} == DOCUMENTED
    assert all(f'"{name}"' in told.output for name in DOCUMENTED)
    assert '"HAULWRIGHT_BRANDS_FRESH_SECONDS"' in told.output


@pytest.mark.proves("PF-02")
@pytest.mark.parametrize(("kind", "prefix"), [(BrandSettings, "brands_"), (SyncSettings, "syncs_")])
def test_the_figures_of_an_application_have_no_second_home(kind, prefix):
    names = {figure.name for figure in Settings.figures()}
    package = files(f"haulwright.apps.{prefix.removesuffix('_')}")
    read_elsewhere = [
        one.name
        for one in package.iterdir()
        if one.name.endswith(".py") and re.search(r"os\.environ", one.read_text()) and one.name != "credentials.py"
    ]

    assert {prefix + one.name for one in fields(kind)} <= names
    assert read_elsewhere == [], "only the credentials of tenants, whose names nobody can list, are read elsewhere"


@pytest.mark.parametrize(
    ("variable", "text", "name", "value"),
    [
        ("SYNCS_MIN_INTERVAL", "2 min", "syncs_min_interval", "2 min"),
        ("HAULWRIGHT_SYNCS_MIN_INTERVAL", "2 min", "syncs_min_interval", "2 min"),
        ("SYNCS_API_BURST", "7", "syncs_api_burst", 7),
        ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1", "openai_base_url", "http://127.0.0.1:1/v1"),
        ("HAULWRIGHT_BRANDS_PROMPT_USD", "0.15", "brands_prompt_usd", 0.15),
    ],
)
def test_old_names_and_new_ones_set_the_same(variable, text, name, value):
    setting = Settings.load({variable: text}).setting(name)

    assert (setting.value, setting.origin) == (value, variable)


def test_the_key_of_a_model_is_never_shown():
    assert "sk-very" not in Settings.load({"OPENAI_API_KEY": "sk-very-secret"}).setting("openai_api_key").shown
