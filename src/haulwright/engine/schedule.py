"""Schedules: which slots a schedule owes, and what becomes of each of them.

A slot is a moment in UTC, whatever zone the cron line is read in. In that zone the rule of Debian's cron holds:

    minute and hour both without a star    a time that the clocks skip runs right after the gap,
                                           a time that they repeat runs once, the first time
    a star in front of minute or hour      real time decides: a skipped time does not run, a repeated one runs twice

cronsim walks over local times only; the zone is applied here. Its own walk through a zone loses slots where clocks
change at midnight (America/Santiago) or by half an hour (Australia/Lord_Howe).
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from difflib import get_close_matches
from enum import StrEnum
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack
from zoneinfo import ZoneInfo, available_timezones

from cronsim import CronSim, CronSimError

from haulwright.engine.durations import Duration, seconds
from haulwright.engine.names import check_name
from haulwright.engine.payload import ARGS_LIMIT_BYTES, check
from haulwright.engine.retry import LARGEST_ATTEMPTS
from haulwright.errors import InvalidValue

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

CRON_LIMIT_CHARS: Final = 200
ZONE_LIMIT_CHARS: Final = 128
"""How much of a word is compared with the names of time zones."""
CRON_FIELDS: Final = 5
SHORTEST_SECONDS: Final = 1.0
"""The least grace or run time: below it every slot would be missed before anybody could open it."""

_CRON_HINT: Final = (
    "Five fields: minute, hour, day of month, month, day of week, as in '*/15 * * * *' or '30 6 * * MON-FRI'; or a "
    "nickname, as in '@daily'."
)
_NICKNAMES: Final = {
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
    "@monthly": "0 0 1 * *",
    "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@hourly": "0 * * * *",
}
_UNTIL_SUNDAY: Final = re.compile(r"(?<=[A-Z0-9])(?<!SUN)-SUN\b", re.IGNORECASE)  # a week that begins on Monday
_CRON_CHARACTERS: Final = re.compile(rf"[0-9A-Za-z*/,# \t-]{{1,{CRON_LIMIT_CHARS}}}")
_ZONES_OF_THE_HOST: Final = frozenset({"localtime", "Factory"})  # they mean another zone on every host
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_WALL_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  what a clock on the wall shows has no zone
_MICROSECOND: Final = timedelta(microseconds=1)
_MINUTE: Final = timedelta(minutes=1)
_MINUTE_US: Final = 60_000_000
_LONGEST_REPEAT: Final = timedelta(days=1)  # no zone has put its clocks back by more

Overlap = Literal["skip", "allow"]
_DURATIONS: Final = frozenset({"misfire_grace", "max_runtime"})
"""Options that are given as durations, and kept in seconds."""


class Disposition(StrEnum):
    """What became of a slot. Every due slot gets exactly one."""

    FIRED = "fired"
    """It made its job."""
    COALESCED = "coalesced"
    """A newer slot stands for it."""
    MISSED = "missed"
    """Nobody opened it within the grace."""
    SKIPPED_OVERLAP = "skipped_overlap"
    """A job of this schedule was still queued or running."""
    SKIPPED_PAUSED = "skipped_paused"
    """The schedule was paused."""
    SKIPPED_DUPLICATE = "skipped_duplicate"
    """Its job would have been a duplicate by the task's unique key."""
    BACKFILLED = "backfilled"
    """A person asked for past slots, and it made its job."""
    MANUAL = "manual"
    """A person triggered it, and it made its job."""


MENDABLE: Final = frozenset({Disposition.MISSED, Disposition.SKIPPED_OVERLAP, Disposition.SKIPPED_PAUSED})
"""Of slots that made no job and that neither another slot nor another job stands for: a person may still open them."""
BY_HAND: Final = frozenset({Disposition.BACKFILLED, Disposition.MANUAL})
"""Of slots that a person opened."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What is to become of one slot."""

    slot_us: int
    disposition: Disposition
    merged_into: int | None = None
    """With `coalesced`: the slot that stands for it."""

    @property
    def fires(self) -> bool:
        """Whether this slot makes a job."""
        return self.disposition is Disposition.FIRED or self.disposition in BY_HAND


class ScheduleOptions(TypedDict, total=False):
    """How a schedule behaves, in the words of `Haulwright.schedule`; what is left out is as in `ScheduleSpec`."""

    tz: str
    coalesce: bool
    misfire_grace: Duration | None
    overlap: Overlap
    max_runtime: Duration | None
    attempts: int | None
    tenant: str


@dataclass(frozen=True, slots=True)
class ScheduleSpec:
    """A declared schedule. `declare` makes one that is known to make sense."""

    name: str
    cron: str
    """Five fields, read in `tz`."""
    task: str
    """The name of the task that each slot enqueues."""
    tz: str = "UTC"
    coalesce: bool = True
    """Of several due slots only the newest makes a job."""
    misfire_grace_seconds: float | None = 300.0
    """A slot opened later than this is missed; None never misses."""
    overlap: Overlap = "skip"
    """Whether a slot may make a job while an earlier one is queued or running."""
    max_runtime_seconds: float | None = None
    attempts: int | None = None
    """Executions of each job in total; None takes the task's."""
    tenant: str = "default"
    args: str = "{}"
    """The arguments of each job, as canonical JSON."""

    @classmethod
    def declare(
        cls,
        name: str,
        cron: str,
        task: str,
        *,
        args: Mapping[str, object] | None = None,
        **options: Unpack[ScheduleOptions],
    ) -> ScheduleSpec:
        """Return the schedule that these words describe, or refuse it before anything depends on it."""
        if not isinstance(args, Mapping | None):
            raise InvalidValue("args", args, "has no names", hint="Write each with its name: args={'sku': 'A1'}")
        text = check(dict(args or {}), root="args", limit_bytes=ARGS_LIMIT_BYTES)
        spec = cls(name, cron, task, args=text, **_fields(options))
        for what, word in (("name", spec.name), ("task", spec.task), ("tenant", spec.tenant)):
            check_name(what, word)
        _check_zone(spec.tz)
        _check_choices(spec.coalesce, spec.overlap, spec.attempts)
        return replace(spec, cron=_checked_cron(cron))


def slots_between(spec: ScheduleSpec, after_us: int, until_us: int, limit: int) -> list[int]:
    """Return the oldest slots after one moment and until another, the latter included, at most `limit`."""
    return list(islice(takewhile(lambda slot: slot <= until_us, _slots_after(spec, after_us)), limit))


def next_slot(spec: ScheduleSpec, after_us: int) -> int | None:
    """Return the first slot after a moment; None only where the calendar ends."""
    return next(_slots_after(spec, after_us), None)


def newest_slot(spec: ScheduleSpec, after_us: int, until_us: int, taken: Collection[int] = ()) -> int | None:
    """Return the newest slot of an interval as `slots_between` would, however many there are, without the taken."""
    while (slot := _last_slot(spec, after_us, until_us)) is not None and slot in taken:
        until_us = slot - 1
    return slot


def plan(  # noqa: PLR0913  the facts that decide, each named where it is passed
    spec: ScheduleSpec,
    due: Iterable[int],
    now_us: int,
    *,
    paused: bool,
    active: bool,
    taken: Collection[int] = (),
    newest: int | None = None,
) -> list[Opening]:
    """Return what becomes of each due slot, oldest first; those already taken have their disposition and are left out.

    While paused, all are skipped. Otherwise those older than the grace are missed. Of the rest, a coalescing schedule
    fires the newest and merges the others into it; one that does not coalesce fires each. Where jobs may not overlap,
    a slot that would fire while one is active is skipped instead; what was merged into it stays merged.

    Where `due` is only the older part of what is due, `newest` (see `newest_slot`) keeps it from firing too early.
    """
    slots = sorted(set(due).difference(taken))
    if paused:
        return [Opening(slot, Disposition.SKIPPED_PAUSED) for slot in slots]
    missed = [Opening(slot, Disposition.MISSED) for slot in slots if _is_missed(spec, slot, now_us)]
    on_time = slots[len(missed) :]
    blocked = active and spec.overlap == "skip"
    if spec.coalesce:
        return missed + _coalesced(on_time, newest, blocked=blocked)
    return missed + _one_by_one(on_time, alone=spec.overlap == "skip", blocked=blocked)


def _is_missed(spec: ScheduleSpec, slot_us: int, now_us: int) -> bool:
    grace = spec.misfire_grace_seconds
    return grace is not None and now_us - slot_us > grace * 1_000_000


def _coalesced(slots: list[int], newest: int | None, *, blocked: bool) -> list[Opening]:
    if not slots:
        return []
    target = slots[-1] if newest is None else max(newest, slots[-1])
    merged = [Opening(slot, Disposition.COALESCED, merged_into=target) for slot in slots if slot != target]
    if target != slots[-1]:
        return merged
    return [*merged, Opening(target, Disposition.SKIPPED_OVERLAP if blocked else Disposition.FIRED)]


def _one_by_one(slots: list[int], *, alone: bool, blocked: bool) -> list[Opening]:
    openings: list[Opening] = []
    for slot in slots:
        openings.append(Opening(slot, Disposition.SKIPPED_OVERLAP if blocked else Disposition.FIRED))
        blocked = alone  # the job just fired is active when the next slot is looked at
    return openings


def _last_slot(spec: ScheduleSpec, after_us: int, until_us: int) -> int | None:
    """Reach back twice as far each time until a slot is found, then halve the distance to the last one."""
    reach = _MINUTE_US
    while (slot := next_slot(spec, max(after_us, until_us - reach))) is None or slot > until_us:
        if until_us - reach <= after_us:
            return None
        reach *= 2
    beyond = until_us
    while beyond - slot >= _MINUTE_US:
        middle = (slot + beyond) // 2
        following = next_slot(spec, middle)
        if following is not None and following <= until_us:
            slot = following
        else:
            beyond = middle
    return slot


def _slots_after(spec: ScheduleSpec, after_us: int) -> Iterator[int]:
    """Yield all slots after a moment, each later than the one before."""
    zone: tzinfo = UTC if spec.tz == "UTC" else ZoneInfo(spec.tz)
    last_us = after_us
    try:
        for moment_us in _moments(spec.cron, zone, _wall_clock(after_us, zone)):
            if moment_us > last_us:
                yield moment_us
                last_us = moment_us
    except OverflowError:
        return  # the calendar ends with the year 9999


def _wall_clock(after_us: int, zone: tzinfo) -> datetime:
    """Return the local time to start walking from: earlier by the hour that is about to be repeated, if one is."""
    after = _EPOCH + timedelta(microseconds=after_us)
    local, tomorrow = after.astimezone(zone), (after + _LONGEST_REPEAT).astimezone(zone)
    return local.replace(tzinfo=None) - max(_offset(local) - _offset(tomorrow), timedelta())


def _moments(cron: str, zone: tzinfo, start: datetime) -> Iterator[int]:
    """Yield the moments of a cron line from a local time on, in order, by the rule at the top of this file."""
    follows_real_time = any(field.startswith("*") for field in cron.split()[:2])
    repeats: deque[int] = deque()
    for named in CronSim(cron, start):
        local = named
        first, second = _offsets(local, zone)
        while first < second and not follows_real_time:  # the clocks skip it: look for the end of the gap
            local += _MINUTE
            first, second = _offsets(local, zone)
        if first < second:
            continue
        moment_us = _since_epoch(local - first)
        while repeats and repeats[0] <= moment_us:
            yield repeats.popleft()
        yield moment_us
        if first > second and follows_real_time:
            repeats.append(_since_epoch(local - second))


def _offsets(local: datetime, zone: tzinfo) -> tuple[timedelta, timedelta]:
    """Return the offsets before and after a change of clocks: equal but where a time is skipped (<) or repeated (>)."""
    return _offset(local.replace(tzinfo=zone)), _offset(local.replace(tzinfo=zone, fold=1))


def _offset(moment: datetime) -> timedelta:
    return moment.utcoffset() or timedelta()


def _since_epoch(universal: datetime) -> int:
    return (universal - _WALL_EPOCH) // _MICROSECOND


def _checked_cron(cron: object) -> str:
    """Return the cron line with single spaces, or refuse it; cronsim is only shown what is short and harmless."""
    line = _NICKNAMES.get(cron.strip().lower(), cron) if isinstance(cron, str) else cron
    if not isinstance(line, str) or not _CRON_CHARACTERS.fullmatch(line):
        raise InvalidValue("cron", cron, "is no cron line", hint=_CRON_HINT)
    fields = line.split()
    if len(fields) != CRON_FIELDS:
        raise InvalidValue("cron", cron, f"has {len(fields)} fields instead of {CRON_FIELDS}", hint=_CRON_HINT)
    fields[-1] = _UNTIL_SUNDAY.sub("-7", fields[-1])
    line = " ".join(fields)
    try:
        first = next(CronSim(line, _WALL_EPOCH), None)
    except CronSimError as error:
        raise InvalidValue("cron", cron, f"has a {str(error).lower()}", hint=_CRON_HINT) from None
    if first is None:
        raise InvalidValue("cron", cron, "never fires", hint="No day of fifty years matches it.")
    return line


def _check_zone(tz: object) -> None:
    if isinstance(tz, str) and tz not in _ZONES_OF_THE_HOST and _has_zone(tz):
        return
    zones = {zone.casefold(): zone for zone in available_timezones() - _ZONES_OF_THE_HOST}
    near = get_close_matches(str(tz)[:ZONE_LIMIT_CHARS].casefold(), zones, n=1)
    hint = f"Did you mean {zones[near[0]]!r}?" if near else "Name a zone such as 'Europe/Berlin'."
    raise InvalidValue("tz", tz, "is no time zone", hint=hint)


def check_times(cron: object, tz: object, overlap: object) -> None:
    """Refuse what a schedule cannot mean here: this host may know fewer zones than the one that declared it."""
    _check_zone(tz)
    if _checked_cron(cron) != cron:
        raise InvalidValue("cron", cron, "is not in the form in which it is stored")
    _check_choices(coalesce=True, overlap=overlap, attempts=None)


def _has_zone(tz: str) -> bool:
    try:
        ZoneInfo(tz)
    except (KeyError, ValueError, OSError):  # no such file; a path that leads out; a folder, or too long a name
        return False
    return True


def _check_choices(coalesce: object, overlap: object, attempts: object) -> None:
    if not isinstance(coalesce, bool):
        raise InvalidValue("coalesce", coalesce, "is neither True nor False")
    if overlap not in ("skip", "allow"):
        raise InvalidValue("overlap", overlap, "is neither 'skip' nor 'allow'")
    if attempts is None:
        return
    if not isinstance(attempts, int) or isinstance(attempts, bool) or not 1 <= attempts <= LARGEST_ATTEMPTS:
        raise InvalidValue("attempts", attempts, f"is not a whole number from 1 to {LARGEST_ATTEMPTS}")


def _fields(options: ScheduleOptions) -> dict[str, Any]:
    """Options as fields of a schedule: durations in seconds, the others as they are."""
    fields: dict[str, Any] = dict(options)
    for name in _DURATIONS & fields.keys():
        value = fields.pop(name)
        fields[f"{name}_seconds"] = None if value is None else seconds(value, what=name, minimum=SHORTEST_SECONDS)
    return fields
