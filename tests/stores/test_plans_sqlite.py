"""On SQLite every statement of the hot path finds its rows by the index that was made for it, at any size."""

from __future__ import annotations

import json
import re
from contextlib import closing

import pytest

from haulwright.engine.transitions import State
from haulwright.stores import queues
from haulwright.stores.books import book
from haulwright.stores.listing import JobFilter
from haulwright.stores.sqlite.connection import SqliteConnection, with_table
from haulwright.stores.store import Store
from tests.stores.plans import BOUND, HOT, LISTS, ORDERED, steps_on
from tests.stores.scenes import claim, new_job


@pytest.fixture
def sqlite_store(sqlite_url, clock):
    with closing(Store.open(sqlite_url, clock=clock)) as store:
        yield store


@pytest.mark.parametrize("name", HOT)
def test_sqlite_finds_the_rows_of_each_statement_by_its_index(sqlite_store, name):
    common, columns, index = HOT[name]
    for statement in book("haulwright.stores", "sqlite", "jobs")[name]:
        text = with_table(statement, tuple(columns), tuple(columns)) if "input" in statement else statement
        plan = _sqlite_plan(sqlite_store, text, common | columns | {"input": json.dumps([list(columns.values())])})

        assert index.upper() in " ".join(plan).upper()
        if name in ORDERED:
            assert not [line for line in plan if "TEMP B-TREE" in line]
        if name in BOUND:
            assert f"{BOUND[name]}<?" in " ".join(plan)
        scanned = [line for line in plan if re.match(r"SCAN (haulwright_(jobs|history)|j|next|q)\b", line)]
        assert [line for line in scanned if name != "leases_of" or "haulwright_jobs_leased" not in line] == []


@pytest.mark.proves("JOB-14")
def test_sqlite_lists_a_tenants_finished_jobs_newest_first_by_an_index(sqlite_store):
    statement = "select * from haulwright_history where tenant = :tenant order by id desc limit 50"

    plan = _sqlite_plan(sqlite_store, statement, {"tenant": "t"})

    assert plan == ["SEARCH haulwright_history USING INDEX haulwright_history_tenant (tenant=?)"]


@pytest.mark.parametrize(
    ("tenant", "index"), [(None, "haulwright_history_dead_newest"), ("t1", "haulwright_history_dead (tenant=?)")]
)
def test_sqlite_lists_dead_letters_without_the_rest_of_the_history(sqlite_store, tenant, index):
    steps = _sqlite_steps(lambda: sqlite_store.listing.page(JobFilter(tenant=tenant, state=State.DEAD)))

    assert f"INDEX {index}" in steps[0]
    assert [step for step in steps if "TEMP B-TREE" in step] == []


@pytest.mark.parametrize("tenant", [None, "t1"])
@pytest.mark.parametrize("state", [State.CANCELLED, State.SKIPPED])
def test_sqlite_lists_what_never_ran_without_the_rest_of_the_history(sqlite_store, state, tenant):
    steps = _sqlite_steps(lambda: sqlite_store.listing.page(JobFilter(tenant=tenant, state=state)))

    assert "INDEX haulwright_history_unrun (state=?)" in steps[0]
    assert [step for step in steps if "TEMP B-TREE" in step] == []


@pytest.mark.parametrize("tenant", [None, "t1"])
def test_sqlite_lists_what_runs_without_what_waits(sqlite_store, tenant):
    steps = _sqlite_steps(lambda: sqlite_store.listing.page(JobFilter(tenant=tenant, state=State.RUNNING)))

    assert "INDEX haulwright_jobs_leased" in steps[0]


@pytest.mark.parametrize("tenant", [None, "t1"])
def test_sqlite_counts_dead_letters_without_reading_them(sqlite_store, tenant):
    steps = _sqlite_steps(lambda: sqlite_store.listing.dead_counts(tenant))

    assert "COVERING INDEX haulwright_history_unresolved" in steps[0]


@pytest.mark.parametrize("name", LISTS)
def test_sqlite_finds_what_a_list_shows_by_its_index(sqlite_store, name):
    params, index = LISTS[name]
    nouns, _, entry = name.partition(".")
    (statement,) = book("haulwright.stores", "sqlite", nouns)[entry]

    plan = _sqlite_plan(sqlite_store, statement, params)

    assert [line for line in plan if index in line]
    assert [line for line in plan if line.startswith("SCAN haulwright") and "haulwright_jobs_leased" not in line] == []
    assert [line for line in plan if "ORDER BY" in line] == []


def test_sqlite_reads_the_effects_of_one_job_not_of_a_whole_tenant(sqlite_store):
    (statement,) = book("haulwright.stores", "sqlite", "effects")["of_job"]

    plan = _sqlite_plan(sqlite_store, statement, {"tenant": "t", "job_key": "k", "after": None, "limit": 9})

    assert "haulwright_effects_job (tenant=? AND job_key=?)" in plan[0]


def test_a_claim_costs_sqlite_the_same_whatever_is_parked_before_the_due_job(sqlite_store, worker):
    """Counted in steps of its machine: four thousand parked jobs of the best priority are not walked."""
    costs = []
    for parked in (10, 4000):
        sqlite_store.jobs.enqueue([new_job(priority=100, delay_us=10**12) for _ in range(parked)])
        sqlite_store.jobs.enqueue([new_job(priority=-5) for _ in range(5)])
        claim(sqlite_store, worker, 5)
        sqlite_store.jobs.enqueue([new_job(priority=-5)])
        costs.append(_steps(sqlite_store, lambda: claim(sqlite_store, worker, 5)))

    assert costs[1] < costs[0] * 1.5


def test_a_bounded_count_costs_sqlite_the_same_however_much_waits(sqlite_store, monkeypatch):
    monkeypatch.setattr(queues, "COUNTED", 10)
    costs = []
    for waiting in (50, 4000):
        sqlite_store.jobs.enqueue([new_job() for _ in range(waiting)])
        sqlite_store.jobs.enqueue([new_job(delay_us=10**12) for _ in range(waiting)])
        costs.append(_steps(sqlite_store, lambda: sqlite_store.queues.page(bounded=True)))

    assert costs[1] < costs[0] * 1.5


def test_sqlite_reads_the_traffic_of_the_sources_that_it_is_asked_for(sqlite_store):
    (statement,) = book("haulwright.stores", "sqlite", "sources")["traffic_of"]

    plan = _sqlite_plan(sqlite_store, statement, {"keys": ["one", "two"], "minutes": 60, "now": 0})

    assert [step for step in plan if "haulwright_traffic" in step and "(source=? AND minute>?)" in step]


def _sqlite_steps(act):
    """The steps of all statements that an act runs."""
    return steps_on(SqliteConnection, "explain query plan", 3, act)


def _sqlite_plan(store, statement, params):
    asked = {name: json.dumps(value) if isinstance(value, list) else value for name, value in params.items()}
    return [row[3] for row in store.database.read(lambda c: c.execute(f"explain query plan {statement}", asked))]


def _steps(store, act):
    steps = []
    store.database.read(lambda c: c.raw.set_progress_handler(lambda: steps.append(1), 10))
    act()
    store.database.read(lambda c: c.raw.set_progress_handler(None, 0))
    return len(steps)
