"""Weather: what stations measured, each reading once."""

from __future__ import annotations

from haulwright import ApplicationSpec

SPEC = ApplicationSpec(
    name="weather",
    package=__name__,
    summary="Weather: what stations measured, each reading once.",
    command="weather",
    commands=f"{__name__}.cli",
    pages=f"{__name__}.dashboard",
    settings=f"{__name__}.settings",
)


def install(app):
    """Put the weather on an app."""
    from weather.application import Weather  # noqa: PLC0415 - the spec above must stay light

    return Weather.on(app)
