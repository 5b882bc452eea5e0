"""The page of brands names whatever can be set, connected and asked."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from penstock.apps.brands import model_account
from penstock.apps.brands.evidence import STATUS_SCHEMA
from penstock.apps.brands.figures import PREFIX, Figures
from penstock.apps.brands.registry import BUILT_IN, FILE_VARIABLE, OFF_VARIABLE

PAGE = (Path(__file__).parents[3] / "docs" / "applications" / "brands.md").read_text("utf-8")


def test_every_setting_is_on_the_page():
    figures = [f"{PREFIX}{one.name.upper()}" for one in fields(Figures)]
    models = [value for name, value in vars(model_account).items() if name.endswith("_VARIABLE")]

    missing = [name for name in (*figures, *models, FILE_VARIABLE, OFF_VARIABLE) if f"`{name}`" not in PAGE]

    assert missing == []


def test_every_capability_is_on_the_page():
    assert [one.key for one in BUILT_IN if f"`{one.key}`" not in PAGE] == []


def test_every_field_of_the_evidence_status_is_on_the_page():
    lists = STATUS_SCHEMA["properties"]
    names = {*lists, *(name for one in lists.values() for name in one["items"]["properties"])}

    assert sorted(name for name in names if f"`{name}`" not in PAGE) == []
