"""Weather on an app: its tables, its task, its verbs."""

from __future__ import annotations

from typing import ClassVar

from haulwright import Context, Retry, Tx
from haulwright.application import Application, Tables, verb
from haulwright.operations.access import EVERYBODY, SUPPORT
from weather import SPEC
from weather.settings import WeatherSettings


class Record:
    """The task `weather.record`. It gets what it uses, not the whole application."""

    def __init__(self, tables: Tables, unit: str) -> None:
        self._tables = tables
        self._unit = unit

    def run(self, ctx: Context, station: str, degrees: float) -> str:
        """Write a reading in the transaction that ends the run: it is there once, whatever crashes."""
        return ctx.commit("reading", self._write, ctx.job.tenant, station, degrees, settle=True)

    def _write(self, tx: Tx, tenant: str, station: str, degrees: float) -> str:
        row = {"tenant": tenant, "station": station, "degrees": degrees, "unit": self._unit}
        self._tables.on(tx).run("readings.add", **row)
        return f"{degrees} {self._unit}"


class Weather(Application):
    """Readings of stations."""

    spec = SPEC
    verbs: ClassVar = {"weather.read": EVERYBODY, "weather.record": EVERYBODY, "weather.forget": SUPPORT}

    def __init__(self, app):
        super().__init__(app)
        task = app.task(name="weather.record", queue="weather", retry=Retry(3))
        self._record = task(Record(self.tables, WeatherSettings.load().unit).run)

    @verb("weather.record")
    def record(self, principal, station, degrees):
        """Have a reading written by a worker, and return its job."""
        return self._record.using(tenant=principal.acting_tenant).enqueue(station, degrees).id

    @verb("weather.read")
    def readings(self, principal):
        """The readings of a tenant, or of all."""
        return self.tables.read("readings.list", tenant=principal.tenant, limit=100)

    @verb("weather.forget")
    def forget(self, principal, station):
        """Remove the readings of a station, and return how many there were."""
        return len(self.tables.write("readings.forget", tenant=principal.acting_tenant, station=station))
