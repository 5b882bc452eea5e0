"""The figures of prices come from the environment, and one that makes no sense is refused."""

from __future__ import annotations

from contextlib import closing

import pytest

from haulwright import Haulwright
from haulwright.apps.prices import Prices, compat
from haulwright.apps.prices.settings import PriceSettings
from haulwright.errors import InvalidValue
from haulwright.settings import Settings
from tests.apps.prices.scenes import WHO


def test_tries_and_delays_are_settings(monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_PRICES_TRIES", "9")
    monkeypatch.setenv("HAULWRIGHT_PRICES_BASE_DELAY_MINUTES", "30")
    monkeypatch.setenv("HAULWRIGHT_PRICES_MAX_DELAY_MINUTES", "120")

    with closing(Haulwright("sqlite:///never-opened.db")) as app:
        retry = Prices(app).collect_task.options.retry

    assert retry.attempts == 9
    assert [retry.delay_us(attempt, lambda: 0.5) / 60_000_000 for attempt in range(1, 5)] == [30, 60, 120, 120]


def test_a_worker_by_hand_waits_as_the_settings_say(world, monkeypatch, database_url):
    monkeypatch.setenv("HAULWRIGHT_PRICES_BASE_DELAY_MINUTES", "30")
    world.source()
    with closing(Haulwright(database_url, clock=world.bench.clock)) as app:
        words = compat.ScrapeWorker(Prices(app, private_hosts="127.0.0.1"), "worker-1")
        (made,) = world.prices.collect(WHO, world.intake().intake_id)
        words.claim_next_pending_job()
        words.mark_retryable(made.id, "timed out")

    assert world.prices.get_job(WHO, made.id)["next_retry_at"].startswith("2026-09-01 12:30:00")


def test_the_documents_figures_have_its_names():
    assert (compat.JOB_LOCK_TIMEOUT_SECONDS, compat.HEARTBEAT_SECONDS) == (300, 20)
    assert (compat.BASE_DELAY_MINUTES, compat.MAX_DELAY_MINUTES) == (1, 1440)


@pytest.mark.parametrize(
    "environ",
    [
        {"HAULWRIGHT_PRICES_TRIES": "0"},
        {"HAULWRIGHT_PRICES_BASE_DELAY_MINUTES": "soon"},
        {"HAULWRIGHT_PRICES_BASE_DELAY_MINUTES": "10", "HAULWRIGHT_PRICES_MAX_DELAY_MINUTES": "5"},
    ],
)
def test_a_figure_that_makes_no_sense_is_refused(environ):
    with pytest.raises(InvalidValue):
        PriceSettings.load(Settings.load(environ))
