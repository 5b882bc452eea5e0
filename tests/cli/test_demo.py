"""The demo: what it shows is true, and nothing is left of it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import pytest

from penstock.cli.demo_scene import Figures


def play(process, *words, folder):
    demo = process(
        "demo", "--jobs", "60", "--json", *words, extra={"TMPDIR": str(folder), "PENSTOCK_CONCURRENCY": "-1"}
    )
    out, err = demo.communicate(timeout=90)
    assert demo.returncode == 0, err
    return json.loads(out), err


@pytest.mark.crash
def test_every_job_finishes_and_everything_happens_once_although_a_worker_is_killed(process, tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()

    figures, told = play(process, folder=folder)

    assert figures["sound"] is True
    assert (figures["succeeded"], figures["outside"], figures["rows"]) == (60, 60, 60)
    assert (figures["outside_repeated"], figures["rows_repeated"]) == (0, 0)
    assert figures["leases_taken_back"] == figures["held_when_killed"] == figures["claims"] - 60
    assert "kill -9 first" in told
    assert list(folder.iterdir()) == []


@pytest.mark.crash
@pytest.mark.postgres
def test_it_runs_on_postgresql_twice_and_drops_its_table(process, bare, postgres_url, tmp_path):
    bare("db", "migrate", "--database", postgres_url)

    for _ in range(2):
        figures, _ = play(process, "--database", postgres_url, folder=tmp_path)
        assert figures["sound"] is True

    assert bare("db", "verify", "--database", postgres_url).code == 0


@pytest.mark.crash
def test_what_is_kept_can_be_looked_at(process, bare, tmp_path):
    folder = Path(tempfile.mkdtemp(dir=tmp_path))

    play(process, "--keep", folder=folder)

    (kept,) = folder.iterdir()
    page = bare(
        "job", "list", "--state", "succeeded", "--limit", "100", "--database", f"sqlite:///{kept}/penstock.db", "--json"
    )
    assert len(page.json["jobs"]) == 60


@pytest.mark.parametrize(
    "off", [{"succeeded": 9}, {"outside": 9}, {"outside_repeated": 1}, {"rows": 9}, {"rows_repeated": 1}]
)
def test_a_figure_that_is_off_is_not_sound(off):
    good = dict.fromkeys(Figures.__dataclass_fields__, 0) | {"jobs": 10, "succeeded": 10, "outside": 10, "rows": 10}

    assert Figures(**good).sound
    assert not Figures(**(good | off)).sound
