"""Slots: many schedulers race for a week of slots, and then have three days to catch up on."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from functools import partial
from typing import Any

import pytest

from proof.support.checker import Evidence, check
from proof.support.crowd import is_past_slot, schedulers, wait_until
from proof.support.facts import Facts
from proof.support.site import START, Site
from proof.support.workload import Workload

SCHEDULERS = 8
FIVE_MINUTES = 300_000_000
DAY = 86_400_000_000
WEEK_SLOTS = 2_016
DOWNTIME_SLOTS = 864
BOUND = 200
EVERY_FIVE = "*/5 * * * *"


def moments(count):
    """The slots that `*/5 * * * *` owes, by arithmetic: nothing of the engine is asked."""
    return [START + number * FIVE_MINUTES for number in range(1, count + 1)]


def dispositions(facts):
    """How many slots of each schedule had which end."""
    ends: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for schedule, _, disposition, _ in facts.slots:
        ends[schedule][disposition] += 1
    return {schedule: dict(counts) for schedule, counts in ends.items()}


@pytest.mark.proves("SL-05", "SL-06", "GU-01")
def test_eight_schedulers_open_each_slot_of_a_week_once(site: Site, work: Workload, report: list[str]):
    work.app.schedule("all", EVERY_FIVE, work.note, args={"number": 1}, overlap="allow")
    work.app.schedule("alone", EVERY_FIVE, work.note, args={"number": 2}, overlap="skip")
    work.app.declare_schedules()
    began = time.monotonic()

    with schedulers(site, SCHEDULERS):
        for moment in moments(WEEK_SLOTS):
            site.clock.set(moment)
            wait_until(partial(is_past_slot, work.app.store, moment))

    facts = Facts.read(work.app.store)
    due = {name: set(moments(WEEK_SLOTS)) for name in ("all", "alone")}
    verdict = check(Evidence(facts, work.diary.read(), due_slots=due, drained=False))
    raced = Counter(entry.more["slots"] for entry in work.diary.of("opened"))
    report.append(
        f"{site.database}: {WEEK_SLOTS} slots of each of 2 schedules by {SCHEDULERS} schedulers in "
        f"{time.monotonic() - began:.0f} s; {raced[0]} races lost; {dispositions(facts)}; {verdict}"
    )
    assert verdict.wrong == []
    assert dispositions(facts) == {
        "all": {"fired": WEEK_SLOTS},
        "alone": {"fired": 1, "skipped_overlap": WEEK_SLOTS - 1},
    }
    assert len(facts.jobs) == WEEK_SLOTS + 1


@pytest.mark.proves("SL-10", "SL-11", "SL-12")
def test_three_days_of_downtime_are_caught_up_as_configured(site: Site, work: Workload, report: list[str]):
    words: dict[str, dict[str, Any]] = {
        "merged": {"misfire_grace": None},
        "merged of a day": {"misfire_grace": "1 day"},
        "merged of minutes": {},
        "every one": {"misfire_grace": None, "coalesce": False, "overlap": "allow"},
        "paused": {"misfire_grace": None},
    }
    for name, options in words.items():
        work.app.schedule(name, EVERY_FIVE, work.note, args={"number": 1}, **options)
    work.app.declare_schedules()
    work.app.store.schedules.pause("paused", tenant=None, actor="a person")

    with schedulers(site, SCHEDULERS):
        site.clock.advance(3 * 86_400)
        wait_until(lambda: is_past_slot(work.app.store, site.clock.now()))

    facts = Facts.read(work.app.store)
    verdict = check(Evidence(facts, due_slots={name: set(moments(DOWNTIME_SLOTS)) for name in words}, drained=False))
    at_once = max(entry.more["slots"] for entry in work.diary.of("opened"))
    report.append(f"{site.database}: {dispositions(facts)}; at most {at_once} slots in one transaction; {verdict}")
    assert verdict.wrong == []
    assert at_once <= BOUND
    assert dispositions(facts) == {
        "merged": {"fired": 1, "coalesced": 863},
        "merged of a day": {"fired": 1, "coalesced": 288, "missed": 575},
        "merged of minutes": {"fired": 1, "coalesced": 1, "missed": 862},
        "every one": {"fired": 864},
        "paused": {"skipped_paused": 864},
    }
    newest = START + 3 * DAY
    fired = {(name, moment) for name, moment, disposition, _ in facts.slots if disposition == "fired"}
    assert {moment for name, moment in fired if name.startswith("merged")} == {newest}
    asked = "select distinct merged_into from haulwright_slots where disposition = 'coalesced'"
    assert work.app.store.database.read(lambda connection: connection.execute(asked)) == [(newest,)]
