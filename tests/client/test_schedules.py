"""A schedule is checked when it is declared, and its slots make jobs like any other."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from haulwright import Haulwright
from haulwright.errors import InvalidPayload, InvalidValue

app = Haulwright()


@app.task()
async def scrape_all(shop: str = "all") -> str:
    return shop


@app.task()
def scrape_one(sku: str) -> str:
    return sku


@pytest.fixture
def fresh() -> Haulwright:
    """An app without schedules, with the tasks of this file."""
    other = Haulwright()
    other.tasks.update(app.tasks)
    return other


@pytest.mark.proves("CF-05", "SL-09", "SL-10", "SL-11")
def test_a_schedule_has_sensible_defaults_and_says_its_own_figures(fresh):
    plain = fresh.schedule("hourly", "0 * * * *", scrape_all)
    special = fresh.schedule(
        "nightly", "30 2 * * *", scrape_all,
        tz="Europe/Berlin", coalesce=False, misfire_grace="1 h", overlap="allow", max_runtime="10 min", attempts=1,
    )  # fmt: skip

    assert (plain.tz, plain.coalesce, plain.misfire_grace_seconds, plain.overlap) == ("UTC", True, 300.0, "skip")
    assert (special.misfire_grace_seconds, special.max_runtime_seconds, special.attempts) == (3600.0, 600.0, 1)


@pytest.mark.parametrize(
    ("cron", "options"),
    [
        ("every day", {}),
        ("61 * * * *", {}),
        ("* * * *", {}),
        ("0 0 30 2 *", {}),
        ("0 * * * *", {"tz": "Europe/Berlim"}),
        ("0 * * * *", {"misfire_grace": "-1 s"}),
        ("0 * * * *", {"max_runtime": "soon"}),
        ("0 * * * *", {"attempts": 0}),
        ("0 * * * *", {"overlap": "maybe"}),
        ("0 * * * *", {"tenant": ""}),
    ],
)
def test_a_schedule_that_makes_no_sense_is_refused_when_it_is_declared(fresh, cron, options):
    with pytest.raises(InvalidValue):
        fresh.schedule("odd", cron, scrape_all, **options)
    assert fresh.schedules == {}


def test_the_arguments_of_a_schedule_are_checked_against_its_task(fresh):
    with pytest.raises(InvalidPayload, match=r"args\.sku: Field required"):
        fresh.schedule("one", "0 * * * *", scrape_one)  # type: ignore[arg-type] # mypy finds it too
    with pytest.raises(InvalidPayload, match=r"args\.colour"):
        fresh.schedule("one", "0 * * * *", scrape_one, args={"sku": "A1", "colour": "red"})
    assert fresh.schedules == {}


def test_two_schedules_cannot_share_a_name(fresh):
    fresh.schedule("hourly", "0 * * * *", scrape_all)
    fresh.schedule("hourly", "0 * * * *", scrape_all)

    with pytest.raises(InvalidValue, match="is declared twice"):
        fresh.schedule("hourly", "5 * * * *", scrape_all)


@pytest.mark.proves("SL-03")
def test_a_due_slot_makes_one_job_with_the_schedules_arguments_and_tenant(bench):
    own = Haulwright()

    @own.task(name="scrape")
    async def scrape(sku: str) -> str:
        return sku

    own.schedule("hourly", "0 * * * *", scrape, args={"sku": "A1"}, tenant="acme", attempts=2, max_runtime="5 min")
    bench.use(own)

    assert bench.drain() == 0
    bench.freeze(datetime(2024, 1, 1, 1, 0, 1, tzinfo=UTC))
    assert (bench.drain(), bench.drain()) == (1, 0)
    job = bench.assert_enqueued(scrape, sku="A1")
    assert (job.tenant, job.max_attempts, job.result) == ("acme", 2, '"A1"')
