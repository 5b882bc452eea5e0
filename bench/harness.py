"""One contender in a process of its own: `python -m bench.harness desk|worker MODULE`, spoken to through pipes.

A module of a contender offers `reset()`, `fill(count)`, `unfinished()` and `work(setting)`; it reads its database's
address from the environment. The desk prepares and asks; workers say that they are ready, wait for `go`, and work
until they are killed. Both die with the process that started them. The standard library is enough here: this file
runs in the peers' environment too.
"""

from __future__ import annotations

import importlib
import json
import os
import resource
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import Any

KILOBYTE = 1024


def main() -> None:
    """Speak with the parent over what was standard output; whatever a library prints goes to the log."""
    role, name = sys.argv[1:3]
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def reply(**said: Any) -> None:
        out.write(json.dumps(said) + "\n")

    module = importlib.import_module(name)
    (_worker if role == "worker" else _desk)(module, reply)


def _orders() -> Iterator[dict[str, Any]]:
    for line in sys.stdin:
        yield json.loads(line)


def _desk(module: ModuleType, reply: Callable[..., None]) -> None:
    reply(value="ready")
    for order in _orders():
        try:
            asked = partial(_versions, module) if order["call"] == "versions" else getattr(module, order["call"])
            value = asked(*order["args"], **order["options"])
        except Exception as error:  # noqa: BLE001 - the parent decides what a failure means
            traceback.print_exc()
            reply(error=f"{type(error).__name__}: {error}".splitlines()[0])
        else:
            reply(value=value)
    os._exit(0)  # a library's threads must not keep the desk open


def _versions(module: ModuleType) -> dict[str, str]:
    found = {}
    for name in getattr(module, "DISTRIBUTIONS", ()):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return found


def _worker(module: ModuleType, reply: Callable[..., None]) -> None:
    reply(value="ready")
    order = next(_orders())
    threading.Thread(target=_answer_until_alone, args=(module, reply), daemon=True).start()
    module.work(order["setting"])


def _answer_until_alone(module: ModuleType, reply: Callable[..., None]) -> None:
    answers = {"cpu": time.process_time, "rss": _resident_bytes, **getattr(module, "ANSWERS", {})}
    for order in _orders():
        reply(value=answers[order["call"]]())
    os.killpg(0, signal.SIGKILL)


def _resident_bytes() -> int:
    """What this process has in memory now; where the system does not tell, the most it ever had."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        unit = 1 if sys.platform == "darwin" else KILOBYTE
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return pages * resource.getpagesize()


if __name__ == "__main__":
    main()
