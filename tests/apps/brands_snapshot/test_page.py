"""The page of brands names whatever can be set, connected and asked."""

from __future__ import annotations

from pathlib import Path

from haulwright.apps.brands.evidence.status import STATUS_SCHEMA
from haulwright.apps.brands.platforms.registry import BUILT_IN
from haulwright.apps.brands.settings import FIGURES

PAGE = (Path(__file__).parents[3] / "docs" / "applications" / "brands.md").read_text("utf-8")


def test_every_setting_is_on_the_page():
    ours = list(FIGURES)
    missing = [one.name for one in ours if f"`{one.variables[-1]}`" not in PAGE]

    assert missing == []


def test_every_capability_is_on_the_page():
    assert [one.key for one in BUILT_IN if f"`{one.key}`" not in PAGE] == []


def test_every_field_of_the_evidence_status_is_on_the_page():
    lists = STATUS_SCHEMA["properties"]
    names = {*lists, *(name for one in lists.values() for name in one["items"]["properties"])}

    assert sorted(name for name in names if f"`{name}`" not in PAGE) == []
