"""What can be set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from haulwright.application import ApplicationSettings, setting


@dataclass(frozen=True, slots=True, kw_only=True)
class WeatherSettings(ApplicationSettings):
    """`HAULWRIGHT_WEATHER_UNIT` sets `unit`."""

    prefix: ClassVar[str] = "weather_"

    unit: str = setting("C", "the unit of readings")


FIGURES = WeatherSettings.figures()
