"""What an enqueue costs over HTTP: next to the same in the own process, by as many at once, and beside busy workers."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple

from bench import bare, filling, http_client
from bench.contenders import haulwright
from bench.figures import JOBS_PER_SECOND, MILLISECONDS, Series, percentiles
from bench.lane import Bench, lane
from bench.payload import item, items
from bench.processes import ROOT, BenchError
from bench.scenarios.enqueueing import while_busy
from bench.workload import ADDRESS_VARIABLE, app, noop, reset

CLIENTS = 16
IN_PROCESS = f"in the own process, {CLIENTS} threads"
HTTP = f"over HTTP, {CLIENTS} clients"
PATH = "/api/v1/jobs"
_ADDRESS = re.compile(r"http://[\d.]+:\d+")


class ServedApi(NamedTuple):
    """A server that runs."""

    address: str
    token: str
    pid: int


def enqueue(bench: Bench, database: str) -> list[Series]:
    """One job a request, by many at once, each acknowledged when it is on disk."""
    scenario = f"http {database}"
    address = bench.site.address(database, f"http_{database}")
    runs: dict[str, list[float]] = {HTTP: [], IN_PROCESS: []}
    count = bench.plan.single_enqueues
    with app.moved_to(address):
        for _ in range(bench.plan.single_rounds):
            reset()
            noop.enqueue(item(0))
            with served(address) as (url, token, _):
                http_client.send_all(url, _requests(url, token, bare.WARM_UP), CLIENTS)
                bench.site.settle_down()
                seconds, _ = http_client.send_all(url, _requests(url, token, count), CLIENTS)
                runs[HTTP].append(count / seconds)
            runs[IN_PROCESS].append(count / _by_threads(count))
            for name, taken in runs.items():
                bench.say(f"  {scenario}: {name}: {taken[-1]:,.0f} {JOBS_PER_SECOND}")
    return [Series(scenario, name, JOBS_PER_SECOND, tuple(taken), jobs=count) for name, taken in runs.items()]


def loaded(bench: Bench, database: str) -> list[Series]:
    """One request at a time while two workers drain a backlog."""
    busy = haulwright(database, name="Haulwright, two busy workers", workers=2)
    rounds = []
    with lane(bench, busy) as one:
        for _ in range(bench.plan.rounds):
            one.prepare(1)  # another file on SQLite, which the app has to open anew
            filling.backlog(one.address, bench.plan.loaded_backlog - 1)
            with (
                app.moved_to(one.address),
                served(one.address) as (url, token, _),
                one.working(one.setting) as _,
            ):
                single = _requests(url, token, 1)
                rounds.append(while_busy(one, bench.plan.loaded_backlog, lambda: http_client.send_all(url, single, 1)))  # noqa: B023 - called inside the round
    return percentiles(f"httploaded {database}", MILLISECONDS, rounds)


def _requests(url: str, token: str, count: int) -> list[bytes]:
    bodies = [json.dumps({"task": "noop", "args": {"item": argument}}).encode() for argument in items(count)]
    return [http_client.request(url, token, PATH, body) for body in bodies]


def _by_threads(count: int) -> float:
    arguments = iter(items(count))

    def enqueue_some() -> None:
        for argument in arguments:
            noop.enqueue(argument)

    with ThreadPoolExecutor(CLIENTS) as hands:
        began = time.perf_counter()
        for done in [hands.submit(enqueue_some) for _ in range(CLIENTS)]:
            done.result()
        return time.perf_counter() - began


@contextmanager
def served(address: str) -> Iterator[ServedApi]:
    """The API on a database, as a process of its own, and a token for it."""
    token = app.operations().tokens.create("bench", tenant="bench").token
    command = [
        sys.executable, "-m", "haulwright", "serve", "-A", "bench.workload:app", "--database", address, "--port", "0"
    ]  # fmt: skip
    environment = {**os.environ, ADDRESS_VARIABLE: address, "HAULWRIGHT_WEB_RATE_PER_MINUTE": "10000000"}
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None  # noqa: S101 - asked for above
    try:
        for line in server.stderr:
            if address_line := _ADDRESS.search(line):
                break
        else:
            raise BenchError("the API did not start")
        threading.Thread(target=deque, args=(server.stderr, 0), daemon=True).start()  # a full pipe would stop it
        yield ServedApi(address_line[0], token, server.pid)
    finally:
        server.terminate()
        server.wait()
