"""What the gate granted, on the database's own clock: a trigger of the proof writes every grant down as it is made."""

from __future__ import annotations

import sys
from dataclasses import dataclass

from haulwright.stores.connection import Connection
from haulwright.stores.store import Store

_TABLE = (
    "create table proof_grants "
    "(asked_at bigint, met_until bigint, granted bigint, interval_us bigint, burst bigint, tickets bigint)"
)
_NOTE = (
    "insert into proof_grants values "
    "(new.asked_at, new.met_until, new.granted, new.interval_us, new.burst, new.tickets);"
)
_WATCH = {
    "sqlite": [
        (
            "create trigger proof_note_grants after update of tickets on haulwright_sources "
            f"when new.tickets > old.tickets begin {_NOTE} end"
        ),
    ],
    "postgres": [
        f"create function proof_note_grants() returns trigger language plpgsql as $$ begin {_NOTE} return null; end $$",
        (
            "create trigger proof_note_grants after update on haulwright_sources for each row "
            "when (new.tickets > old.tickets) execute function proof_note_grants()"
        ),
    ],
}


@dataclass(frozen=True, slots=True)
class Grants:
    """When each grant began, in the order of their beginning, in whole microseconds: no rounding hides one."""

    starts_us: list[int]
    asked_us: list[int]
    """When each was asked for, in order."""
    interval_us: int
    burst: int
    tickets: int
    """How many the source itself counted."""

    @property
    def crowd(self) -> float:
        """The most grants beyond what the rate admits, over all windows: at most the burst."""
        return crowd_of(self.starts_us, self.interval_us)


def watch_grants(store: Store) -> None:
    """Have every grant from now on written down, in the transaction that makes it."""

    def work(connection: Connection) -> None:
        for statement in (_TABLE, *_WATCH[connection.dialect]):
            connection.execute(statement)

    store.database.transact(work)


def read_grants(store: Store) -> Grants:
    """The grants so far. One that was given ahead of its time begins when the meter says so, and not before."""
    rows = store.database.read(lambda connection: connection.execute("select * from proof_grants order by tickets"))
    starts, asked = [], []
    for asked_at, met_until, granted, interval_us, burst, _ in rows:
        first = met_until - (granted + burst - 1) * interval_us
        starts += [max(asked_at, first + place * interval_us) for place in range(granted)]
        asked += [asked_at] * granted
    *_, interval_us, burst, tickets = rows[-1]
    return Grants(sorted(starts), sorted(asked), interval_us, burst, tickets)


def crowd_of(moments_us: list[int], interval_us: int) -> float:
    """The most of these moments that lie in any window beyond one for each interval of it.

    For the i-th and the j-th of them that is (j - i + 1) - (their distance / interval), and the greatest is looked for
    in one pass.
    """
    most_us, least_before_us = 0, sys.maxsize
    for place, moment_us in enumerate(moments_us):
        ahead_us = place * interval_us - moment_us
        least_before_us = min(least_before_us, ahead_us)
        most_us = max(most_us, ahead_us + interval_us - least_before_us)
    return most_us / interval_us


def busiest(moments: list[float], seconds: float) -> int:
    """The most of these moments within so many seconds, wherever they begin."""
    most = first = 0
    for last, moment in enumerate(moments):
        while moment - moments[first] >= seconds:
            first += 1
        most = max(most, last - first + 1)
    return most
