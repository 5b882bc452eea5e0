"""The navigation: which pages stand in it, for whom, and by which keys one goes there."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Nav:
    """A page's place in the navigation."""

    label: str
    key: str = ""
    """`g` and this letter go there."""
    group: str = ""
    """Under which heading; applications have one."""


@dataclass(frozen=True, slots=True)
class NavEntry:
    """A link of the navigation, as one caller sees it."""

    label: str
    key: str
    group: str
    url: str
    position: int
    is_here: bool
