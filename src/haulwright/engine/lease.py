"""When a lease is lost, what happens to its job, and how a batch is shared among tenants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from haulwright.clock import SECOND, Instant
from haulwright.engine.outcome import REASON_LEASE, Bury, Cancel, Failure

LOSS_BACKOFF_SECONDS = 30
"""After the second loss; doubles with each further one. The first loss is due at once: it was mostly the worker's."""
LOSS_BACKOFF_CAP_SECONDS = 3600

RENEWALS_PER_LEASE = 6
"""A lease is renewed this often before it would run out."""
LONGEST_INTERVAL_SECONDS = 20.0
SHORTEST_INTERVAL_SECONDS = 0.1
LAG_LEASES = 0.5
"""Renewals lag where a lease has not been renewed for this part of it."""
LOST_LEASES = 2.0
"""A run gives up its lease that could not be renewed for so many of them: by then another may run the job."""

WATCHED_RENEWALS = 1.5
"""For so many renewals the heartbeat of a lease must be seen standing still: a living worker has moved it by then."""
SHORTEST_WATCH_SECONDS = 1.0
"""However short a lease is: a moment in which a machine has other things to do is no silence."""
LONGEST_WATCH_SECONDS = WATCHED_RENEWALS * LONGEST_INTERVAL_SECONDS
LATE_LOOKS = 1.5
"""A pause between two looks counts as this many planned ones at most: who stood still itself saw nobody stand still."""
AHEAD_SECONDS = 0.1
"""By how much the database's clock may run ahead of the one of who watches, between two looks."""

GATE_WAIT_SECONDS = 0.5
"""The first wait for a permit; doubles with each deferral, for a freed permit wakes its waiters anyway."""
GATE_WAIT_CAP_SECONDS = 30.0

START_WAIT_SECONDS = 5.0
"""The first wait of a job whose run could not be started; doubles with each deferral."""
START_WAIT_CAP_SECONDS = 600.0


@dataclass(frozen=True, slots=True)
class RunAgain:
    """The job goes back to the queue after a loss."""

    delay_us: int


def after_loss(attempts: int, max_attempts: int, losses: int, cancel_reason: str | None) -> RunAgain | Bury | Cancel:
    """Decide on a job whose lease ended under it; `losses` counts this one too."""
    if cancel_reason is not None:
        return Cancel(cancel_reason)
    if attempts >= max_attempts or losses > max_attempts:
        message = f"the lease was lost {losses} times, and {max_attempts} attempts are allowed"
        return Bury(REASON_LEASE, Failure("LeaseLost", REASON_LEASE, message))
    if losses <= 1:
        return RunAgain(0)
    seconds = min(LOSS_BACKOFF_CAP_SECONDS, LOSS_BACKOFF_SECONDS * 2 ** min(losses - 2, 20))
    return RunAgain(seconds * SECOND)


def had_neighbours(held: int, heartbeat_at: Instant, lost_at: Instant | None) -> bool:
    """Whether a lease was lost together with others of its worker: then nobody knows which job is to blame.

    `held` are the leases that the worker holds at this moment, this one among them. Others may be gone already: leases
    of one worker run out at different times, and are taken back in bounded steps, by several sweeps at once. So each
    loss leaves its time with the worker, `lost_at`. A worker renews all that it holds in one statement: where it has
    not renewed this lease since that loss, it is silent since before it, and held both when it fell silent.
    """
    return held > 1 or (lost_at is not None and lost_at >= heartbeat_at)


def renewal_seconds(lease_us: int) -> float:
    """How often a lease is renewed."""
    return max(SHORTEST_INTERVAL_SECONDS, min(LONGEST_INTERVAL_SECONDS, lease_us / SECOND / RENEWALS_PER_LEASE))


def watch_seconds(lease_us: int) -> float:
    """For how long the heartbeat of a lease must be seen standing still before the lease may be taken back."""
    return max(SHORTEST_WATCH_SECONDS, WATCHED_RENEWALS * renewal_seconds(lease_us))


def is_worth_renewal(seconds: float, lease_us: int) -> bool:
    """Whether a transaction that held a lease for so long should renew it: a beat was missed that somebody may miss."""
    return seconds > max(SHORTEST_WATCH_SECONDS, renewal_seconds(lease_us))


@dataclass(frozen=True, slots=True)
class Sighting:
    """A lease as it was seen, and since when it has been seen like that."""

    heartbeat_at: Instant
    expires_at: Instant
    lease_us: int
    since: float
    """In seconds of the watch, which count only while somebody looked."""

    def after(self, before: Sighting | None) -> Sighting:
        """The same, known for as long as its heartbeat has not moved."""
        if before is None or before.heartbeat_at != self.heartbeat_at:
            return self
        return replace(self, since=before.since)

    def is_lost(self, watched: float, database_now: Instant) -> bool:
        """Whether its worker is gone: it ran out on the database's clock, and stood still on the watch's own."""
        return self.expires_at < database_now and watched - self.since >= watch_seconds(self.lease_us)

    def seconds_to_loss(self, watched: float, database_now: Instant) -> float:
        """How soon it would be lost, if nobody renewed it."""
        unwatched = self.since + watch_seconds(self.lease_us) - watched
        return max(0.0, unwatched, (self.expires_at - database_now) / SECOND)


def counted_seconds(paused: float, planned: float) -> float:
    """What a pause between two looks counts on the watch: no more than what was planned, and a little."""
    return min(paused, LATE_LOOKS * planned)


def ran_ahead(database_us: int, seconds: float) -> bool:
    """Whether the database's clock went further between two looks than can have passed: then it was set."""
    return database_us > (seconds + AHEAD_SECONDS) * SECOND


def is_lagging(seconds: float, lease_us: int) -> bool:
    """Whether a lease that was last renewed so many seconds ago should have been renewed since."""
    return seconds * SECOND > LAG_LEASES * lease_us


def is_given_up(seconds: float, lease_us: int) -> bool:
    """Whether a run should end that was last known to hold its lease so many seconds ago.

    Not when the lease is over: the database may be away for all, and then nobody else has the job.
    """
    return seconds * SECOND > LOST_LEASES * lease_us


def gate_wait_us(deferrals: int) -> int:
    """How long a job waits for a permit that nobody frees: short at first, growing with each try."""
    return int(min(GATE_WAIT_CAP_SECONDS, GATE_WAIT_SECONDS * 2.0 ** min(deferrals, 10)) * SECOND)


def start_wait_seconds(deferrals: int) -> float:
    """How long a job waits whose run could not be started: its worker, or another, may have room for it by then."""
    return min(START_WAIT_CAP_SECONDS, START_WAIT_SECONDS * 2.0 ** min(deferrals, 10))


@dataclass(frozen=True, slots=True)
class Share:
    """How many jobs a claim takes from one (tenant, rank) pair."""

    tenant: str
    rank: int
    limit: int


def shares_of(pairs: Sequence[tuple[str, int]], batch: int) -> list[Share]:
    """Share a batch among the tenants found, each at its best rank; earlier tenants get the remainder.

    `pairs` are (tenant, rank) in walking order, ranks ascending within a tenant.
    """
    best: dict[str, int] = {}
    for tenant, rank in pairs:
        best.setdefault(tenant, rank)
    if not best:
        return []
    each, rest = divmod(batch, len(best))
    parts = [each + (place < rest) for place in range(len(best))]
    return [Share(tenant, rank, part) for (tenant, rank), part in zip(best.items(), parts, strict=True) if part]


def fill_up(
    pairs: Sequence[tuple[str, int]], shares: Sequence[Share], counts: dict[tuple[str, int], int], missing: int
) -> list[Share]:
    """Fill what is missing of a batch from the first pair that may still have jobs, in walking order."""
    limits = {(share.tenant, share.rank): share.limit for share in shares}
    return [
        Share(tenant, rank, missing)
        for tenant, rank in pairs
        if counts.get((tenant, rank), 0) >= limits.get((tenant, rank), 0)
    ]
