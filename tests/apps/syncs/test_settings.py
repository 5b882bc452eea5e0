"""The figures of syncs come from the environment, and loopback is reached only where it is meant."""

from __future__ import annotations

import pytest

from haulwright.apps.syncs.settings import SyncSettings
from haulwright.errors import InvalidValue
from haulwright.settings import Settings
from haulwright.sources.http import Policy


def test_figures_are_read_from_the_environment():
    said = {"SYNCS_MIN_INTERVAL": "2 min", "SYNCS_ACCOUNT_RATE": "3/h", "SYNCS_API_BURST": "7"}

    limits = SyncSettings.load(Settings.load(said))

    assert (limits.min_interval_seconds, limits.account_rate, limits.api_burst) == (120, "3/h", 7)
    assert SyncSettings.load(Settings.load({}), poll="10 s").poll_seconds == 10


@pytest.mark.parametrize(
    ("name", "value"),
    [("MIN_INTERVAL", "soon"), ("ACCOUNT_RATE", "often"), ("API_BURST", "many"), ("POLL", "0 s"), ("API_RATE", "1")],
)
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
