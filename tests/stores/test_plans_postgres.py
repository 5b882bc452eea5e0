"""On PostgreSQL every statement of the hot path finds its rows by its index, at any size, prepared or not."""

from __future__ import annotations

import re
from contextlib import closing, contextmanager

import pytest
from psycopg import sql

from haulwright.clock import SECOND
from haulwright.engine.ids import new_id
from haulwright.engine.transitions import State
from haulwright.operations.pulse import MOST_OF_TENANT
from haulwright.stores import migrations
from haulwright.stores.books import book
from haulwright.stores.connect import open_database
from haulwright.stores.leases import HIGHEST
from haulwright.stores.listing import JobFilter
from haulwright.stores.postgres.connection import PostgresConnection
from haulwright.stores.store import Store
from tests.stores.plans import A_JOB, BOUND, HOT_ON_POSTGRES, LISTS, NOW, ORDERED, steps_on
from tests.stores.scenes import START

RARE = {"prune"}
"""Too rare for its plan to be kept from the time when the tables were empty."""
LARGE = ("haulwright_jobs", "haulwright_history")
PRIMARY_KEYS = {"haulwright_jobs_pkey", "haulwright_history_pkey"}


def _postgres_steps(database, act):
    """The same of an act on a store."""
    return steps_on(PostgresConnection, "explain", 0, lambda: act(Store(database)))


FILL = (
    """insert into haulwright_jobs (id, tenant, task, queue, state, rank, run_at, args, max_attempts, job_key, lease_us,
           deadline_at, waiting_on, unique_key, unique_scope, created_at, updated_at)
       select gen_random_uuid(), 't' || mod(n, 50), 'work', 'default', 'queued', mod(n, 5),
           %(now)s + (mod(n, 3) - 1) * 1000000000, '{}', 5, 'k' || n, 120000000, %(now)s + n,
           case when mod(n, 10) = 0 then 'gate' || mod(n, 7) end, case when mod(n, 2) = 0 then 'u' || n end,
           case when mod(n, 2) = 0 then 'while_active' end, %(now)s, %(now)s
       from generate_series(1, 20000) n""",
    """update haulwright_jobs set state = 'running', worker_id = id, leased_at = 1, heartbeat_at = 1,
           lease_expires_at = %(now)s + rank * 1000 where rank = 4 and tenant < 't3'""",
    """insert into haulwright_history (id, tenant, task, queue, state, rank, run_at, args, attempts, max_attempts,
           deferrals, losses, fence, job_key, tags, lease_us, created_at, updated_at, finished_at)
       select gen_random_uuid(), 't' || mod(n, 50), 'work', 'default',
           case when mod(n, 9) = 0 then 'dead' else 'succeeded' end,
           0, 1, '{}', 1, 5, 0, 0, 1, 'h' || n, '[]', 1, 1, 1, %(now)s - n * 1000 from generate_series(1, 20000) n""",
    """insert into haulwright_events (at, tenant, name)
       select n, 't' || mod(n, 50), case when mod(n, 100) = 0 then 'job.failed' else 'job.enqueued' end
       from generate_series(1, 20000) n""",
)


@contextmanager
def _migrated(server):
    schema = f"plans_{new_id().replace('-', '')}"
    with closing(open_database(server.url())) as outside:
        outside.read(lambda c: c.execute(f"create schema {schema}"))
        with closing(open_database(server.url(search_path=schema))) as database:
            migrations.migrate(database)
            yield database
        outside.read(lambda c: c.execute(f"drop schema {schema} cascade"))


@pytest.fixture(scope="module")
def fresh(postgres_server):
    """A database in which nothing is yet: what is planned on it is kept when it grows."""
    with _migrated(postgres_server) as database:
        yield database


@pytest.fixture(scope="module")
def filled(postgres_server):
    """A database of some size with statistics, which no test of this file changes."""
    with _migrated(postgres_server) as database:
        for statement in FILL:
            database.transact(lambda c, s=statement: c.execute(s, NOW))
        tables = (*LARGE, "haulwright_queues", "haulwright_events")
        database.read(lambda c: c.execute(f"analyze {', '.join(tables)}"))
        yield database


@pytest.mark.postgres
@pytest.mark.parametrize("mode", ["auto", "force_generic_plan"])
@pytest.mark.parametrize(
    ("size", "name"),
    [("filled", name) for name in HOT_ON_POSTGRES] + [("fresh", name) for name in HOT_ON_POSTGRES if name not in RARE],
)
def test_postgresql_finds_the_rows_of_each_statement_by_its_index(request, size, name, mode):
    """Prepared, and run often enough that the server may choose a plan without knowing the values."""
    common, columns, index = HOT_ON_POSTGRES[name]
    params = common | {column: [value] * 3 for column, value in columns.items()}
    (statement,) = book("haulwright.stores", "postgres", "jobs")[name]

    nodes = _plan(request.getfixturevalue(size), statement, params, mode)

    scans = [node for node in nodes if node.get("Relation Name") in LARGE]
    assert {node["Node Type"] for node in scans} <= {"Index Scan", "Index Only Scan", "Bitmap Heap Scan", "ModifyTable"}
    bitmaps = {node["Index Name"] for node in nodes if node["Node Type"] == "Bitmap Index Scan"}
    assert bitmaps <= PRIMARY_KEYS  # a list of ids
    assert (PRIMARY_KEYS if index == "primary key" else {index}) & {node.get("Index Name") for node in nodes}
    assert all(node.get("Index Cond") for node in scans if "Index Name" in node and name != "leases_of")
    if name in ORDERED:
        assert not [node for node in nodes if node["Node Type"] == "Sort" and _reads(node, LARGE)]
    if name in BOUND:
        assert all(BOUND[name] in node["Index Cond"] for node in scans if node.get("Index Name") == index)


@pytest.mark.postgres
@pytest.mark.parametrize("mode", ["auto", "force_generic_plan"])
@pytest.mark.parametrize("name", LISTS)
def test_postgresql_finds_what_a_list_shows_by_its_index(filled, name, mode):
    params, index = LISTS[name]
    nouns, _, entry = name.partition(".")
    (statement,) = book("haulwright.stores", "postgres", nouns)[entry]

    nodes = _plan(filled, statement, params, mode)

    scans = {node["Index Name"] for node in nodes if "Index Name" in node}
    assert scans - {"haulwright_jobs_leased"} == {index}
    assert all(node.get("Index Cond") for node in nodes if node.get("Index Name") == index)
    assert not [node for node in nodes if node["Node Type"] == "Sort" and _reads(node, ("haulwright_events",))]


@pytest.mark.postgres
@pytest.mark.parametrize("tenant", [None, "t1"])
def test_postgresql_counts_dead_letters_without_reading_the_others(filled, tenant):
    plan = _postgres_steps(filled, lambda store: store.listing.dead_counts(tenant))

    assert [step for step in plan if re.search("(using|on) haulwright_history_unresolved", step)]


@pytest.mark.postgres
@pytest.mark.parametrize("state", [State.CANCELLED, State.SKIPPED])
def test_postgresql_lists_what_never_ran_without_the_rest_of_the_history(filled, state):
    plan = _postgres_steps(filled, lambda store: store.listing.page(JobFilter(state=state)))

    assert [step for step in plan if "using haulwright_history_unrun" in step]


def _plan(database, statement, params, mode):
    """The nodes of the plan that the server uses for a statement after seven runs of it."""
    names = list(dict.fromkeys(re.findall(r"%\((\w+)\)s", statement)))
    for place, name in enumerate(names, 1):
        statement = statement.replace(f"%({name})s", f"${place}")
    types = ", ".join(_type(params[name]) for name in names)
    values = sql.SQL(", ").join(sql.Literal(params[name]) for name in names)
    run = sql.SQL("execute probe ({})").format(values) if names else sql.SQL("execute probe")

    def work(connection):
        connection.execute(f"set local plan_cache_mode = {mode}")
        connection.execute(f"prepare probe ({types}) as {statement.replace('%%', '%')}")
        for _ in range(7):
            connection.execute(run)
        plan = connection.execute(sql.SQL("explain (format json) ") + run)[0][0]
        connection.execute("deallocate probe")
        raise _Seen(plan)

    with pytest.raises(_Seen) as seen:
        database.transact(work)
    return list(_nodes(seen.value.plan[0]["Plan"]))


def _reads(node, tables):
    return any(below.get("Relation Name") in tables for below in _nodes(node))


class _Seen(Exception):
    """Rolls back what the probing did."""

    def __init__(self, plan):
        self.plan = plan


def _nodes(node):
    """A node and all below it; the one partition that there is stands for its table."""
    if "Relation Name" in node:
        node["Relation Name"] = node["Relation Name"].removesuffix("_open")
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


def _type(value):
    """The type under which the driver sends a value."""
    if isinstance(value, list):
        return "unknown"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int):
        return "smallint" if abs(value) < 2**15 else "integer" if abs(value) < 2**31 else "bigint"
    return "unknown"


@pytest.mark.postgres
def test_a_claim_costs_postgresql_the_same_whatever_is_parked_before_the_due_job(filled):
    """Twenty thousand jobs, many of them parked: the walk touches a few pages a pair, never a pair's jobs."""
    (walk,) = book("haulwright.stores", "postgres", "jobs")["scan_tenants"]
    asked = {"queue": "default", "after": "", "before": HIGHEST, "tenants": 3, "now": START + SECOND}

    plan = filled.read(lambda c: c.execute(f"explain (analyze, buffers, format json) {walk}", asked))[0][0][0]["Plan"]

    walked = sum(node["Actual Rows"] * node["Actual Loops"] for node in _nodes(plan) if "Index Name" in node)
    assert walked <= 30


@pytest.mark.postgres
def test_a_walk_behind_a_trail_reads_nothing_of_the_pairs_that_it_follows(filled):
    """A gap ends before a pair with many jobs: where its end is met, they are not looked through one by one."""
    (walk,) = book("haulwright.stores", "postgres", "jobs")["scan_tenants_after"]
    asked = {"queue": "trailed", "after": "", "before": HIGHEST, "tenants": 3, "now": START + SECOND}
    asked |= {"past_tenant": ["large"], "past_rank": [0], "past_run_at": [START], "past_id": [A_JOB]}
    fill = """insert into haulwright_jobs (id, tenant, task, queue, state, rank, run_at, args, max_attempts, job_key,
                  lease_us, created_at, updated_at)
              select gen_random_uuid(), 'large', 'work', 'trailed', 'queued', 0, %(now)s, '{}', 5, 'l' || n, 1, 1, 1
              from generate_series(1, 20000) n"""

    def work(connection):
        connection.execute(fill, NOW)
        raise _Seen(connection.execute(f"explain (analyze, buffers, format json) {walk}", asked)[0][0])

    with pytest.raises(_Seen) as seen:
        filled.transact(work)
    plan = seen.value.plan[0]["Plan"]

    assert plan["Shared Hit Blocks"] + plan["Shared Read Blocks"] <= 60


@pytest.mark.postgres
def test_a_tenants_pulse_reads_no_more_of_its_jobs_than_it_counts(filled):
    """Asked for most of what a tenant has, PostgreSQL reads all of it, however much that is, and sorts it."""
    (endings,) = book("haulwright.stores", "postgres", "metrics")["endings_of_tenant"]
    asked = {"tenant": "large", "since": 0, "step": SECOND, "limit": MOST_OF_TENANT}
    fill = """insert into haulwright_history (id, tenant, task, queue, state, rank, run_at, args, attempts,
                  max_attempts, deferrals, losses, fence, job_key, tags, lease_us, created_at, updated_at, finished_at)
              select gen_random_uuid(), case when mod(n, 2) = 0 then 'large' else 't' || n end, 'work', 'default',
                  'succeeded', 0, 1, '{}', 1, 5, 0, 0, 1, 'l' || n, '[]', 1, 1, 1, %(now)s - n
              from generate_series(1, 50000) n"""

    def work(connection):
        connection.execute(fill, NOW)
        connection.execute("analyze haulwright_history")
        raise _Seen(connection.execute(f"explain (analyze, format json) {endings}", asked)[0][0])

    assert _walked(filled, work) <= MOST_OF_TENANT


@pytest.mark.postgres
def test_a_bounded_count_of_a_queue_reads_no_more_jobs_than_it_counts(filled):
    """Of twenty thousand jobs that wait, many of them of one tenant and priority, it is asked for a hundred."""
    (count,) = book("haulwright.stores", "postgres", "queues")["counts_up_to"]
    asked = {"names": ["default"], "most": 100, "pairs": 200, "first_tenant": "", "last_tenant": HIGHEST, **NOW}

    def work(connection):
        raise _Seen(connection.execute(f"explain (analyze, format json) {count}", asked)[0][0])

    assert _walked(filled, work) <= 201 + 4 * 101 + 2_000  # each pair, what is counted, and what runs


def _walked(database, work):
    """How many rows the scans of a plan gave that a piece of work explained."""
    with pytest.raises(_Seen) as seen:
        database.transact(work)
    scans = [node for node in _nodes(seen.value.plan[0]["Plan"]) if "Relation Name" in node]
    return sum(node["Actual Rows"] * node["Actual Loops"] for node in scans)
