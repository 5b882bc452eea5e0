"""Isolation of tenants and of connections: what one does is never another's."""

from __future__ import annotations

import inspect
from types import SimpleNamespace

import pytest

from haulwright.apps.syncs.application import Syncs
from haulwright.apps.syncs.compat import JobDispatcher
from haulwright.apps.syncs.connections import Connections
from haulwright.apps.syncs.runs import Runs
from haulwright.apps.syncs.stats import Stats
from haulwright.engine.ids import new_id
from haulwright.engine.transitions import State
from haulwright.errors import HaulwrightError, NotFound
from haulwright.operations.principal import Principal
from tests.apps.principals import GLOBEX
from tests.apps.syncs.scenes import support


@pytest.mark.proves("TS-03", "ENQ-05")
def test_two_tenants_may_call_their_connections_alike_and_both_sync(world):
    jobs = []
    for tenant in ("acme", "globex"):
        world.connect(tenant, "shop")
        jobs.append(world.dispatch("shop", tenant))

    assert [world.finish(job_id).state for job_id in jobs] == [State.SUCCEEDED, State.SUCCEEDED]
    assert [len(world.remote(tenant)) for tenant in ("acme", "globex")] == [1, 1]


@pytest.mark.proves("TS-03", "TN-02")
def test_a_dispatcher_sees_the_jobs_of_its_tenant_and_no_other(world, app):
    for tenant in ("acme", "globex"):
        world.connect(tenant)
        world.dispatch(tenant=tenant)

    queued = JobDispatcher(app, "acme").get_queued_jobs()

    assert [(job.tenant_id, job.connector_id, job.status) for job in queued] == [("acme", "shop", "queued")]


@pytest.mark.proves("TS-03")
def test_the_sync_of_another_tenant_looks_like_one_that_does_not_exist(world, syncs):
    world.connect("globex")
    theirs = world.dispatch(tenant="globex")

    for job_id in (theirs, "not-even-an-id"):
        with pytest.raises(NotFound):
            syncs.stats.job("acme", job_id)
    assert syncs.stats.jobs("acme") == []
    assert syncs.stats.all("acme")["states"] == []


@pytest.mark.proves("TS-03")
def test_the_failures_of_one_tenant_do_not_hold_up_the_others(world):
    for tenant in ("acme", "globex"):
        world.connect(tenant)
    world.sandbox.airbyte.script(connection="acme shop", ending="failed", times=None)
    failing, other = world.dispatch(tenant="acme"), world.dispatch(tenant="globex")

    world.go("1 min", times=4)

    assert world.job(other).state is State.SUCCEEDED
    assert world.job(failing).state is State.QUEUED


ASKED = {
    "connections.get": lambda syncs, it: syncs.connections.get("globex", it.connector),
    "connections.find": lambda syncs, it: syncs.connections.find("globex", it.connector),
    "connections.enable": lambda syncs, it: syncs.connections.enable("globex", it.connector, enabled=False, actor="x"),
    "connections.all": lambda syncs, _: list(syncs.connections.all("globex")),
    "connections.page": lambda syncs, _: syncs.connections.page("globex", after=None, limit=9).rows,
    "connections.plan": lambda syncs, _: syncs.connections.plan("globex").name,
    "connections.remove": lambda syncs, it: syncs.remove(GLOBEX, it.connector, cancel=True),
    "get_plan": lambda syncs, _: syncs.get_plan(GLOBEX).name,
    "enable": lambda syncs, it: syncs.enable(GLOBEX, it.connector, enabled=False),
    "list_connections": lambda syncs, _: list(syncs.list_connections(GLOBEX)),
    "page_connections": lambda syncs, _: syncs.page_connections(GLOBEX).rows,
    "get_connection": lambda syncs, it: syncs.get_connection(GLOBEX, it.connector),
    "find_connection": lambda syncs, it: syncs.find_connection(GLOBEX, it.connector),
    "list_jobs": lambda syncs, it: syncs.list_jobs(GLOBEX, connector_id=it.connector),
    "get_job": lambda syncs, it: syncs.get_job(GLOBEX, it.job),
    "get_stats": lambda syncs, _: [row for rows in syncs.get_stats(GLOBEX).values() for row in rows],
    "remove": lambda syncs, it: syncs.remove(GLOBEX, it.connector),
    "dispatch": lambda syncs, it: syncs.dispatch(support("globex"), it.connector),
    "requeue": lambda syncs, it: syncs.requeue(support("globex"), it.letter),
    "stats.all": lambda syncs, _: [row for rows in syncs.stats.all("globex").values() for row in rows],
    "stats.job": lambda syncs, it: syncs.stats.job("globex", it.job),
    "stats.jobs": lambda syncs, it: syncs.stats.jobs("globex", connector_id=it.connector),
    "runs.last": lambda syncs, it: syncs.runs.last("globex", it.job_key),
}
NOBODYS = {"add", "on", "set_plan", "task", "connections.add", "connections.set_plan", "runs.watched"}
"""These make something new, or are the system's own."""
WORDS = {
    "dispatch": lambda words, it: words.dispatch(it.connector),
    "get_queued_jobs": lambda words, _: words.get_queued_jobs(),
    "get_job": lambda words, it: [words.get_job(it.letter), words.get_job(it.job)],
    "requeue_from_dlq": lambda words, it: [
        heard(lambda about, who=who: words.requeue_from_dlq(about.letter, principal=who), it)
        for who in (None, support("globex"), support("acme"), Principal.admin("root"))
    ],
}


@pytest.fixture
def theirs(world):
    """Names and ids of everything that acme has: a dead letter, and a sync that is under way."""
    world.connect("acme", "broken", status="inactive")
    letter = world.dispatch("broken", "acme")
    world.finish(letter)
    world.connect("acme", "shop")
    job_id = world.dispatch("shop", "acme")
    world.go()
    return SimpleNamespace(connector="shop", letter=letter, job=job_id, job_key=world.job(job_id).job_key)


def heard(ask, about):
    """What a caller hears, with the names taken out of it."""
    try:
        return ask(about)
    except HaulwrightError as error:
        told = f"{type(error).__name__}: {error}"
        for value in vars(about).values():
            told = told.replace(value, "ID")
        return told


def everything(world):
    tables = ("syncs_connections", "syncs_runs", "syncs_tenants", "haulwright_jobs", "haulwright_history")
    return {name: sorted(map(repr, world.rows(f"select * from {name}"))) for name in tables}  # noqa: S608 - ours


def public(kind, prefix=""):
    return {prefix + name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")}


@pytest.mark.proves("TN-02", "TN-03", "TS-03")
def test_every_function_answers_the_wrong_tenant_as_if_nothing_were_there(world, syncs, theirs):
    absent = SimpleNamespace(connector="nothing", letter=new_id(), job=new_id(), job_key=new_id())
    before = everything(world)

    parts = {"connections.": Connections, "stats.": Stats, "runs.": Runs, "": Syncs}
    assert set(ASKED) | NOBODYS == set().union(*(public(kind, prefix) for prefix, kind in parts.items()))
    for name, ask in ASKED.items():
        foreign = heard(lambda about, ask=ask: ask(syncs, about), theirs)
        assert foreign == heard(lambda about, ask=ask: ask(syncs, about), absent), name
        assert foreign in (None, [], "free") or foreign.startswith("NotFound"), name
    assert everything(world) == before


@pytest.mark.proves("TN-02", "TN-03", "TS-03")
def test_every_word_of_the_dispatcher_does_so_too(world, app, theirs):
    absent = SimpleNamespace(connector="nothing", letter=new_id(), job=new_id(), job_key=new_id())
    words, before = JobDispatcher(app, "globex"), everything(world)

    assert set(WORDS) == public(JobDispatcher)
    for name, ask in WORDS.items():
        foreign = heard(lambda about, ask=ask: ask(words, about), theirs)
        assert foreign == heard(lambda about, ask=ask: ask(words, about), absent), name
    assert everything(world) == before
