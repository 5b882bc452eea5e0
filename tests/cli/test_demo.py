"""The demo: what it shows is true, and nothing is left of it."""

from __future__ import annotations

import json
import re
import shlex
import signal
from itertools import takewhile
from pathlib import Path

import pytest

from penstock.cli.acts.account import Account
from penstock.cli.acts.act import Check
from tests.runtime.waiting import eventually

GOOD, BAD = Check("jobs", "1 of 1", good=True), Check("files", "0 of 1", good=False)


def play(process, *words, folder):
    demo = process("demo", "--json", *words, extra={"TMPDIR": str(folder), "PENSTOCK_CONCURRENCY": "-1"})
    out, err = demo.communicate(timeout=110)
    assert demo.returncode == 0, out + err
    return json.loads(out), err


@pytest.mark.crash
def test_five_applications_come_to_their_end_although_a_worker_is_killed(process, tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()

    account, told = play(process, folder=folder)

    assert account["sound"] is True
    assert [one for one in account["checks"] if not one["good"]] == []
    assert {one["what"].split(":")[0] for one in account["checks"]} == {
        "jobs", "brands", "syncs", "brief", "prices", "documents",
    }  # fmt: skip
    assert "kill -9 first" in told
    assert list(folder.iterdir()) == []


@pytest.mark.crash
@pytest.mark.postgres
def test_it_plays_on_a_bare_postgresql(process, bare, postgres_url, tmp_path):
    account, _ = play(process, "--database", postgres_url, folder=tmp_path)

    assert account["sound"] is True
    assert bare("db", "verify", "--database", postgres_url).code == 0


@pytest.mark.crash
def test_what_is_kept_can_be_looked_at_until_ctrl_c(process, bare, tmp_path):
    folder = tmp_path / "scratch"
    folder.mkdir()
    with process("demo", "--keep", extra={"TMPDIR": str(folder)}) as demo:
        told = list(takewhile(lambda line: "Ctrl-C" not in line, demo.stderr))
        shown = [shlex.split(line)[1:] for line in told if re.match(r"\s+\S*penstock \w+ .*--database", line)]
        looked = [bare(*words).code for words in shown if words[0] != "top"]
        demo.send_signal(signal.SIGINT)

    assert demo.returncode == 0
    assert len(looked) >= 8
    assert set(looked) == {0}
    assert list(folder.iterdir()) == []


@pytest.mark.crash
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL], ids=lambda number: number.name)
def test_a_demo_that_is_ended_in_the_middle_leaves_no_worker_behind(process, tmp_path, number):
    with process("demo", extra={"TMPDIR": str(tmp_path)}) as demo:
        told = next(line for line in demo.stderr if "two workers are up" in line)
        demo.send_signal(number)

    eventually(lambda: not any(is_alive(int(pid)) for pid in re.findall(r"process (\d+)", told)))


def is_alive(pid):
    return Path(f"/proc/{pid}/cmdline").exists() and b"penstock" in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_one_figure_that_is_off_is_not_sound():
    assert Account([GOOD, GOOD], 3, 1.0).is_sound
    assert not Account([GOOD, BAD], 3, 1.0).is_sound
