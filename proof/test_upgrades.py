"""Upgrades: workers of two schema versions on one database, rolling forth and back under load; nothing is lost.

`MINUTES=10` for another length; ten minutes where `ONLY=upgrades` asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from haulwright.errors import SchemaMismatch
from proof.faults.server import linux
from proof.support.minutes import minutes_of, patience_seconds
from proof.support.site import Site
from proof.upgrades.rolling import WORKERS, Rolling
from proof.upgrades.versions import NoSuchVersion, Version, this_version, version_after, version_before

MINUTES = minutes_of("upgrades", 10)
REFUSED = SchemaMismatch.exit_code

pytestmark = [pytest.mark.crash, pytest.mark.timeout(patience_seconds(MINUTES)), linux]


def pair_before(folder: Path) -> tuple[Version, Version]:
    return version_before(folder), this_version()


def pair_after(folder: Path) -> tuple[Version, Version]:
    return this_version(), version_after(folder)


@pytest.mark.parametrize("pair", [pair_before, pair_after], ids=["from the commit before", "to one more migration"])
def test_upgrades_under_load_lose_nothing(
    pair: Callable[[Path], tuple[Version, Version]], durable_url: str, tmp_path: Path, report: list[str]
):
    sources = tmp_path / "sources"
    sources.mkdir()
    try:
        older, newer = pair(sources)
    except NoSuchVersion as reason:
        pytest.skip(str(reason))
    with closing(Site(durable_url, tmp_path)) as site:
        roll = Rolling(site, older, newer).run(MINUTES)

    report.append(f"{site.database}, {MINUTES:g} minutes: {roll}")
    report += roll.findings.report()
    assert roll.findings.harm == []
    assert roll.refused == [REFUSED] * WORKERS
    if older.stops_claiming:
        assert (roll.outdated, roll.warnings) == ([REFUSED] * WORKERS, [1] * WORKERS)
        assert roll.finished_late > 0
