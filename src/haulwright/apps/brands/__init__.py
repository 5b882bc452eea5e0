"""Brands: the snapshot of a brand, compiled from what its sources say; each paid run is bought once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from haulwright import ApplicationSpec
from haulwright.discovery import lazy_names

if TYPE_CHECKING:
    from haulwright import Haulwright
    from haulwright.apps.brands.application import Brands
    from haulwright.apps.brands.model.prompts import register_prompt
    from haulwright.apps.brands.platforms.shapes import register_normalizer
    from haulwright.apps.brands.snapshot.compilers import register_compiler

__all__ = ["SPEC", "Brands", "install", "register_compiler", "register_normalizer", "register_prompt"]

SPEC = ApplicationSpec(
    name="brands",
    package=__name__,
    summary="Brands: compile what their sources say; each paid run is bought once.",
    command="brand",
    commands=f"{__name__}.cli",
    routes=f"{__name__}.routes",
    pages=f"{__name__}.dashboard",
    settings=f"{__name__}.settings",
    demo=f"{__name__}.demo",
    extra="apps",
    events=(
        "brand.compile_failed",
        "brand.compile_requested",
        "brand.compiled",
        "brand.raw_pruned",
        "brand.removed",
        "brand.run_ended",
        "brand.run_fetched",
        "brand.run_normalized",
        "brand.run_started",
        "brand.source_settled",
        "brand.updated",
    ),
)
__getattr__ = lazy_names(
    __name__,
    {
        "Brands": "application",
        "register_compiler": "snapshot.compilers",
        "register_normalizer": "platforms.shapes",
        "register_prompt": "model.prompts",
    },
)


def install(app: Haulwright) -> Brands:
    """Put brands on an app: its tables, its tasks and its source."""
    from haulwright.apps.brands.application import Brands  # noqa: PLC0415 - the spec above must stay light

    return Brands.on(app)
