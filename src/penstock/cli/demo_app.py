"""The app of `penstock demo`: parcels that are handed over to the outside world, each exactly once."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path

from penstock.client.app import Penstock
from penstock.client.context import Context
from penstock.client.transaction import Tx
from penstock.engine.retry import Retry

TABLE = "penstock_demo_parcels"
ANSWER_SECONDS = 0.04
"""How long the outside world takes to answer after it has done what it was asked: time for a crash in between."""

app = Penstock()


@app.task(lease="3 s", retry=Retry(5, base="0.2 s", cap="1 s"))
def deliver(ctx: Context, parcel: int, run: str, world: str) -> str:
    """Hand a parcel over outside, then write a row about it and finish, in one transaction."""
    name = f"{ctx.job.tenant}/{parcel}"
    file = Path(world)
    receipt = ctx.effect("hand over", hand_over, file.as_posix(), name, recover=partial(_look_up, file, name))
    return ctx.commit("book", book, run, parcel, receipt, settle=True)


def hand_over(world: str, name: str) -> str:
    """Something that cannot be taken back: one more line in a file that only grows."""
    line = os.open(world, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    try:
        os.write(line, f"{name}\n".encode())
    finally:
        os.close(line)
    time.sleep(ANSWER_SECONDS)
    return _receipt(name)


def book(tx: Tx, run: str, parcel: int, receipt: str) -> str:
    """A row of the user's own. The table has no unique index: only the ledger keeps it from being written twice."""
    mark = "?" if tx.dialect == "sqlite" else "%s"
    tx.execute(f"insert into {TABLE} (run, parcel, receipt) values ({mark}, {mark}, {mark})", (run, parcel, receipt))  # noqa: S608
    return receipt


def _look_up(world: Path, name: str, _key: str) -> str | None:
    """Ask the outside world whether it was handed over already: what a run does that finds an effect in doubt."""
    done = world.exists() and name in world.read_text("utf-8").splitlines()
    return _receipt(name) if done else None


def _receipt(name: str) -> str:
    return f"receipt for {name}"
