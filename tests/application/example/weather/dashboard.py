"""The weather in the dashboard."""

from __future__ import annotations

from dataclasses import dataclass

from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import ActionDone, PageRoutes
from haulwright.dashboard.kit.tenants import TENANT, acting_principal, page_principal

pages = PageRoutes("weather", module=__file__)


@dataclass(frozen=True, slots=True)
class ReadingsPage:
    """Readings as the page has them, and its JSON."""

    readings: list[dict]


@pages.get(
    "/weather",
    "readings.html",
    "Weather",
    verb="weather.read",
    nav=Nav("Weather", group="Applications"),
    query=(TENANT,),
)
def readings(call):
    """The readings of a tenant, or of all."""
    rows = call.application("weather").readings(page_principal(call))
    return ReadingsPage([dict(zip(("tenant", "station", "degrees", "unit"), row, strict=True)) for row in rows])


@pages.post("/weather/forget", verb="weather.forget")
def forget(call, form):
    """Remove the readings of a station."""
    station = form.text("station")
    count = call.application("weather").forget(acting_principal(call, form), station)
    return ActionDone(
        f"{count} readings of {station} are removed.", to=call.url("/weather", tenant=call.query.get(TENANT))
    )
