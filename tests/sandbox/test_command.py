"""The command, as a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import pytest
from click.testing import CliRunner

from haulwright.cli.sandbox import BASES, command
from haulwright.errors import InvalidValue

START = "from haulwright.cli.sandbox import command; command()"


@contextmanager
def served(*words: str) -> Iterator[tuple[subprocess.Popen[str], dict[str, str]]]:
    line = [sys.executable, "-c", START, "--json", "--port", "0", *words]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process, json.loads(process.stdout.readline())
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_serves_until_it_is_told_to_stop(number):
    with served("--at", "2026-10-01T12:00Z") as (process, told):
        now = httpx2.get(f"{told['services']['control']}/").json()["now"]
        process.send_signal(number)

        assert process.wait(90) == 0
    assert now == 1_790_856_000


def test_people_read_each_address_on_a_line_of_its_own():
    line = [sys.executable, "-c", START, "--port", "0"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        services = [process.stdout.readline().split() for _ in BASES]
        process.terminate()

    assert [name for name, _ in services] == list(BASES)
    assert all(address.endswith(BASES[name]) for name, address in services)


def test_a_port_that_is_taken_is_refused_with_a_way_out(sandbox):
    taken = sandbox.url.rpartition(":")[2]

    refused = CliRunner().invoke(command, ["--port", taken])

    assert isinstance(refused.exception, InvalidValue)
    assert "--port 0" in str(refused.exception)
