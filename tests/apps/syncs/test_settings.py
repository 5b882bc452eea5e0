"""The figures of syncs come from the environment, and loopback is reached only where it is meant."""

from __future__ import annotations

import pytest

from haulwright.apps.syncs import compat
from haulwright.apps.syncs.settings import SyncSettings
from haulwright.clock import SECOND
from haulwright.engine.transitions import State
from haulwright.errors import InvalidValue
from haulwright.settings import Settings
from haulwright.sources.http import Policy
from tests.apps.syncs.scenes import World


def test_figures_are_read_from_the_environment():
    said = {"SYNCS_MIN_INTERVAL": "2 min", "SYNCS_ACCOUNT_RATE": "3/h", "SYNCS_API_BURST": "7"}

    limits = SyncSettings.load(Settings.load(said))

    assert (limits.min_interval_seconds, limits.account_rate, limits.api_burst) == (120, "3/h", 7)
    assert SyncSettings.load(Settings.load({}), poll="10 s").poll_seconds == 10


def test_retries_and_plans_are_settings(bench, sandbox):
    said = {"SYNCS_MAX_RETRIES": "1", "SYNCS_BASE_DELAY": "10 s", "SYNCS_JITTER": "0", "SYNCS_PLAN_FREE": "2 h"}
    limits = SyncSettings.load(Settings.load(said), api_rate="1000000/min", api_burst=100_000, api_concurrency=100)
    world = World.open(bench, sandbox, limits)
    connection = world.connect()
    sandbox.airbyte.script(ending="failed", times=None)

    job_id = world.dispatch()
    job = world.finish(job_id)

    assert (job.state, job.attempts, connection.interval_us) == (State.DEAD, 2, 7_200 * SECOND)
    assert [
        event.data["delay_seconds"] for event in world.events(job_id, "job.retry") if event.data["delay_seconds"]
    ] == [10]


def test_the_documents_figures_have_its_names():
    assert (compat.BASE_DELAY_SECONDS, compat.MAX_DELAY_SECONDS, compat.JITTER) == (60, 3600, 0.25)
    assert (compat.MAX_RETRIES, compat.MIN_INTERVAL_SECONDS) == (5, 60)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MIN_INTERVAL", "soon"), ("ACCOUNT_RATE", "often"), ("API_BURST", "many"), ("POLL", "0 s"), ("API_RATE", "1"),
        ("MAX_RETRIES", "-1"), ("BASE_DELAY", "2 h"), ("MAX_DELAY", "1 s"), ("JITTER", "2"), ("PLAN_FREE", "0 s"),
    ],
)  # fmt: skip
def test_a_figure_that_makes_no_sense_is_refused(name, value):
    with pytest.raises(InvalidValue):
        SyncSettings.load(Settings.load({f"SYNCS_{name}": value}))


@pytest.mark.parametrize(
    ("base_url", "allowed"),
    [
        ("http://127.0.0.1:8765/airbyte/v1", ("127.0.0.1",)),
        ("http://localhost:8000/api/public/v1", ("localhost",)),
        ("https://api.airbyte.com/v1", ()),
        ("http://10.0.0.7/v1", ()),
    ],
)
def test_loopback_is_allowed_where_the_address_is_loopback_and_only_then(base_url, allowed):
    policy = Policy.for_address(base_url)

    assert (policy.allow, policy.private) == (allowed, False)
