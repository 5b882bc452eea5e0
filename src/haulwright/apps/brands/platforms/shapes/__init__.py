"""From an actor's item to ours: one shape for each family of actors. Pure, and strict about identity alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from haulwright.apps.brands.platforms.shapes.instagram import instagram
from haulwright.apps.brands.platforms.shapes.item import Normalized, Unfit
from haulwright.apps.brands.platforms.shapes.linkedin import linkedin
from haulwright.apps.brands.platforms.shapes.tiktok import tiktok
from haulwright.apps.brands.platforms.shapes.web import web
from haulwright.apps.brands.platforms.shapes.youtube import youtube

Shape = Callable[[Mapping[str, Any]], Normalized]

SHAPES: Final[dict[str, Shape]] = {
    "instagram": instagram,
    "tiktok": tiktok,
    "linkedin": linkedin,
    "youtube": youtube,
    "web": web,
}

__all__ = ["SHAPES", "Normalized", "Shape", "Unfit"]
