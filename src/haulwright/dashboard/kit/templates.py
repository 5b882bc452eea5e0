"""Templates: everything that they show is text, and control characters of it are shown as escapes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, ChoiceLoader, Environment, FileSystemLoader, PrefixLoader, StrictUndefined
from markupsafe import Markup

from haulwright.__about__ import __version__
from haulwright.dashboard.kit import words
from haulwright.dashboard.kit.charts import stacked
from haulwright.dashboard.kit.queries import jobs_query
from haulwright.operations.times import iso
from haulwright.visible import visible

OWN = Path(__file__).resolve().parent.parent / "templates"


def environment(folders: Mapping[str, Path] | None = None) -> Environment:
    """The templates of the engine by their names, and those of others by `noun/name`."""
    others: dict[str, BaseLoader] = {noun: FileSystemLoader(folder) for noun, folder in (folders or {}).items()}
    templates = Environment(
        loader=ChoiceLoader([FileSystemLoader(OWN), PrefixLoader(others)]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_shown,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        ago=words.ago,
        exactly=words.exactly,
        pretty=words.pretty,
        iso=iso,
        number=words.number,
        spell=words.seconds_words,
    )
    templates.globals.update(
        between=words.between,
        jobs_query=jobs_query,
        long_chars=words.LONG_CHARS,
        stacked=stacked,
        version=__version__,
    )
    return templates


def _shown(value: Any) -> Any:
    """What stands between braces: nothing for None, and no character that would turn a line around."""
    if value is None:
        return ""
    if isinstance(value, str) and not isinstance(value, Markup):
        return visible(value)
    return value
