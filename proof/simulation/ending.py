"""The end of a history: all is made good, and the whole of it is weighed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from haulwright.stores.books import book
from proof.simulation.bodies import SECRET
from proof.simulation.clients import PERIOD_US
from proof.simulation.requests import limits_of
from proof.simulation.upkeep import SCHEDULE
from proof.simulation.world import SECOND, World
from proof.support.checker import Evidence, Verdict, check
from proof.support.facts import Facts

FIVE_MINUTES = 300 * SECOND
END_CHECKS = {
    "nothing_is_lost": ("I1", "Every acknowledged job is finished, or was removed by retention."),
    "nothing_is_invented": ("I2", "Every job was meant by a client, a slot, a run or a requeue."),
    "keys_stand_for_one_job": ("I3", "One job for each key that is given at planning, is unique, or was requeued."),
    "periods_are_kept": ("I3", "Two jobs of a key that is unique for a time are that time apart."),
    "fences_have_no_gaps": ("I4", "The events tell of the fences 1, 2, 3 of each job, each once."),
    "leases_are_unique": ("I5", "Nobody gets the same lease twice, and no lease runs twice."),
    "ends_are_not_mistaken": ("I6", "A worker that asks after a lost reply takes no other's end of a job for its own."),
    "counters_agree": (
        "I9",
        "Attempts, deferrals and losses are the numbers of events that count them, within limits.",
    ),
    "effects_happen_once": ("I10", "Each effect acted once outside, and each commit wrote one row."),
    "success_means_all_is_recorded": ("I11", "A job that succeeded has its effect and its commit in the ledger."),
    "the_ledger_and_rows_agree": ("I12", "Rows of commits are there if and only if the ledger says so."),
    "slots_are_opened_once": ("I13", "A slot is opened once, also where retention has removed its record."),
    "slots_are_complete": ("I14", "The slots are those that arithmetic owes, from the declaration on."),
    "rates_are_kept": ("I16", "In every stretch of time as many begin as the rate and its burst admit."),
    "permits_come_back": ("I17", "When all is done nobody holds a permit, and no source counts one."),
    "nothing_is_stuck": ("I18", "When all is done nothing is due, runs, or waits for a job that has ended."),
    "secrets_are_not_written_down": ("I23", "A secret in the message of an error is in no row."),
    "arguments_are_kept": ("I24", "A run is given the arguments that were enqueued, byte for byte."),
}
"""What is judged when a history is over, beside the checks of each change; most of it by the checker of all proofs."""


def verdict_of(world: World, due: dict[str, set[int]]) -> tuple[Verdict, list[str]]:
    """Weigh a history that has been made good."""
    wrong = [*world.wrong, *_rates(world), *_permits(world), *_slots_again(world)]
    world.database.transact(lambda connection: _remember_purged(connection, world))
    facts = Facts.read(world.store)
    verdict = check(Evidence(facts, world.diary.entries, world.outside.entries, due))
    forgotten = tuple(f"I11: job {job} succeeded without" for job in world.spanned)
    wrong += [what for what in verdict.wrong if not what.startswith(forgotten)]
    wrong += [*_periods(world), *_secrets(world)]
    return verdict, wrong


def next_moments(world: World) -> tuple[int | None, int | None]:
    """When the next job that waits is due, and when the first lease runs out; None where there is none."""
    asked = "select min(case when state = 'queued' then run_at end), min(lease_expires_at) from haulwright_jobs "
    ((due, lease_end),) = world.database.read(lambda connection: connection.execute(asked))
    return due, lease_end


def owed(world: World, until: int) -> dict[str, set[int]]:
    """The slots of the schedule by arithmetic, from its declaration on."""
    asked = "select created_at from haulwright_schedules"
    rows = world.database.read(lambda connection: connection.execute(asked))
    if not rows:
        return {}
    first = rows[0][0] // FIVE_MINUTES * FIVE_MINUTES + FIVE_MINUTES
    return {SCHEDULE: set(range(first, until + 1, FIVE_MINUTES))}


def _remember_purged(connection: Any, world: World) -> None:
    """What retention removed is looked at like everything else: finished rows never change."""
    for tables in world.purged:
        for name, rows in tables.items():
            for row in rows:
                connection.execute(f"insert or ignore into {name} values ({', '.join('?' * len(row))})", row)


def _slots_again(world: World) -> Iterator[str]:
    """I13: a slot whose record was removed is not opened again."""
    rows = world.database.read(lambda connection: connection.execute("select * from haulwright_slots"))
    opened = {row[:2] for row in rows}
    for tables in world.purged:
        for row in tables["haulwright_slots"]:
            if row[:2] in opened:
                yield f"I13 slots_are_opened_once: {row} was removed, and opened again"


def _rates(world: World) -> Iterator[str]:
    """I16: of any n that begin one after another, the first and the last are n minus the burst intervals apart."""
    for key, moments in world.grants.items():
        limits = limits_of(world)[key]
        starts = sorted(moments)
        for place, start in enumerate(starts):
            for later in range(place + limits.burst, len(starts)):
                if starts[later] - start < (later - place + 1 - limits.burst) * limits.interval_us:
                    yield f"I16 rates_are_kept: {later - place + 1} of {key} began in {starts[later] - start} us"


def _permits(world: World) -> Iterator[str]:
    """I17: what somebody left behind is dropped by the next who looks for a permit; then nothing is out."""
    drop = book("haulwright.stores", "sqlite", "sources")["drop_gone"]
    for key in limits_of(world):
        params = {"key": key, "now": world.clock.time}
        world.database.transact(lambda connection, params=params: connection.run(drop, params))  # type: ignore[misc]
    left = world.database.read(lambda connection: connection.execute("select * from haulwright_source_permits"))
    for permit in left:
        yield f"I17 permits_come_back: {permit} is out, and all is done"


def _periods(world: World) -> Iterator[str]:
    """I3: a key that is unique for a time has one job in it, unless that was requeued."""
    asked = (
        "select tenant, task, unique_key, created_at from haulwright_history "
        "where unique_scope = 'period' and requeued_from is null order by 1, 2, 3, 4"
    )
    last: tuple[Any, ...] | None = None
    for row in world.database.read(lambda connection: connection.execute(asked)):
        if last is not None and row[:3] == last[:3] and row[3] - last[3] < PERIOD_US:
            yield f"I3 periods_are_kept: {row} comes {row[3] - last[3]} us after another"
        last = row


def _secrets(world: World) -> Iterator[str]:
    asked = (
        "select (select count(*) from haulwright_history where error_message like :secret), "
        "(select count(*) from haulwright_events where data like :secret)"
    )
    secret = {"secret": f"%{SECRET}%"}
    (counts,) = world.database.read(lambda connection: connection.execute(asked, secret))
    if any(counts):
        yield f"I23 secrets_are_not_written_down: {counts} rows of jobs and events have one"
