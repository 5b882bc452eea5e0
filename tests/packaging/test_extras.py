"""A missing package is told with the line to type."""

from __future__ import annotations

import tomllib
from importlib.metadata import packages_distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from haulwright.errors import MissingExtra
from haulwright.extras import PACKAGES, needs_extra, require_extra
from tests.packaging.environments import ROOT


def declared(extra: str) -> set[str]:
    """What pyproject.toml says that an extra brings, by the names of the distributions."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return {Requirement(line).name for line in project["optional-dependencies"][extra]} - {"haulwright"}


@pytest.mark.parametrize("extra", PACKAGES)
def test_the_code_knows_what_each_extra_brings(extra):
    distributions = packages_distributions()

    assert {canonicalize_name(distributions[package][0]) for package in PACKAGES[extra]} == declared(extra)


def test_a_missing_package_is_told_with_its_purpose_and_the_line_to_type():
    with pytest.raises(MissingExtra) as refusal, needs_extra("http", "A request"):
        import no_such_package.inner  # noqa: F401, PLC0415 - it is not there

    assert str(refusal.value) == (
        "A request needs the package no_such_package, which is not installed. Run: pip install 'haulwright[http]'"
    )
    assert isinstance(refusal.value, ImportError)
    assert (refusal.value.code, refusal.value.exit_code) == ("missing_extra", 69)
    assert (refusal.value.extra, refusal.value.package) == ("http", "no_such_package")


def test_a_package_that_is_there_and_cannot_be_imported_says_why():
    with pytest.raises(MissingExtra, match="which cannot be imported: no pq wrapper"), needs_extra("postgres", "It"):
        raise ImportError("no pq wrapper available", name="psycopg")


def test_the_innermost_block_has_the_word():
    outer, inner = needs_extra("apps", "The demo"), needs_extra("http", "Reading a feed")

    with pytest.raises(MissingExtra, match="Reading a feed needs"), outer, inner:
        import no_such_package  # noqa: F401, PLC0415 - it is not there


def test_an_extra_that_is_here_is_not_refused(monkeypatch):
    for extra in PACKAGES:
        require_extra(extra, "A test")

    monkeypatch.setattr("haulwright.extras.find_spec", lambda name: None if name == "w3lib" else object())

    with pytest.raises(MissingExtra, match=r"The demo needs the package w3lib.*haulwright\[apps\]"):
        require_extra("apps", "The demo")
