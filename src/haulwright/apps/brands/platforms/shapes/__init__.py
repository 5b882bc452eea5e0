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
from haulwright.engine.names import check_name
from haulwright.errors import InvalidValue

Shape = Callable[[Mapping[str, Any]], Normalized]

SHAPES: Final[dict[str, Shape]] = {
    "instagram": instagram,
    "tiktok": tiktok,
    "linkedin": linkedin,
    "youtube": youtube,
    "web": web,
}

__all__ = ["SHAPES", "Normalized", "Shape", "Unfit", "register_normalizer"]


def register_normalizer(name: str, shape: Shape) -> None:
    """Add a shape of your own, for capabilities of `HAULWRIGHT_BRANDS_CAPABILITIES` that name it.

    It gets an item of the actor and returns a `Normalized`, or raises `Unfit(reason, detail)`. Call it before
    `brands.install(app)`, where your app is made, so that every worker knows it.
    """
    check_name("normalizer", name)
    if not callable(shape):
        raise InvalidValue("normalizer", name, "is no function")
    if SHAPES.setdefault(name, shape) is not shape:
        raise InvalidValue("normalizer", name, "is there already", hint="Choose another name.")
