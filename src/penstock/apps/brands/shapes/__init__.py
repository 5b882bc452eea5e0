"""From an actor's item to ours: one shape for each family of actors. Pure, and strict about identity alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from penstock.apps.brands.shapes.instagram import instagram
from penstock.apps.brands.shapes.item import Normalized, Unfit
from penstock.apps.brands.shapes.linkedin import linkedin
from penstock.apps.brands.shapes.tiktok import tiktok
from penstock.apps.brands.shapes.web import web
from penstock.apps.brands.shapes.youtube import youtube

Shape = Callable[[Mapping[str, Any]], Normalized]

SHAPES: Final[dict[str, Shape]] = {
    "instagram": instagram,
    "tiktok": tiktok,
    "linkedin": linkedin,
    "youtube": youtube,
    "web": web,
}

__all__ = ["SHAPES", "Normalized", "Shape", "Unfit"]
