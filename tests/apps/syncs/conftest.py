"""Syncs on both databases, by a clock that only the test moves, at an Airbyte on loopback."""

from __future__ import annotations

from pathlib import Path

import pytest

from haulwright import Haulwright
from haulwright.apps.syncs.application import Syncs
from haulwright.sandbox import Sandbox
from haulwright.testing.harness import Harness
from tests.apps.syncs.scenes import World


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("haulwright.sources.vendor.LOOK_SECONDS", 0.01)
    monkeypatch.setattr("haulwright.sources.airbyte.client.LAG_SECONDS", 0.02)


@pytest.fixture(autouse=True)
def _no_settings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nothing of the machine's own Airbyte reaches a test."""
    for part in ("BASE_URL", "API_TOKEN", "CLIENT_ID", "CLIENT_SECRET", "WORKSPACE_ID"):
        monkeypatch.delenv(f"AIRBYTE_{part}", raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def database_url(made_database_url: str) -> str:
    return made_database_url


@pytest.fixture
def world(bench: Harness, sandbox: Sandbox) -> World:
    return World.open(bench, sandbox)


@pytest.fixture
def app(world: World) -> Haulwright:
    return world.app


@pytest.fixture
def syncs(world: World) -> Syncs:
    return world.syncs
