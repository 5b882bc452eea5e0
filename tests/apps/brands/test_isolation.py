"""What is another tenant's does not exist: every function of brands, asked by the wrong one."""

from __future__ import annotations

import inspect
from types import SimpleNamespace

import pytest

from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.compat import NO_JOB, BrandBrain
from haulwright.engine.ids import new_id
from haulwright.errors import HaulwrightError, NotFound
from haulwright.operations.principal import Principal
from tests.apps.brands.scenes import ACME, GLOBEX, OTHER, SIX, connect, rows, runs_of

KEPT = ("brands", "connections", "compile_runs", "compile_sources", "runs", "raw_items", "evidence", "snapshots")

OF_BRANDS = {
    "get": lambda b, it: b.get(GLOBEX, it.brand),
    "connect": lambda b, it: b.connect(GLOBEX, it.brand, *SIX[1]),
    "connections": lambda b, it: b.connections(GLOBEX, it.brand),
    "connection": lambda b, it: b.connection(GLOBEX, it.connection),
    "compile": lambda b, it: b.compile(GLOBEX, it.brand),
    "plan": lambda b, it: b.plan(GLOBEX, it.brand),
    "status": lambda b, it: (b.status(GLOBEX, it.compiled), b.status(GLOBEX, it.brand)),
    "snapshot": lambda b, it: (b.snapshot(GLOBEX, it.brand), b.snapshot(GLOBEX, it.brand, 1)),
    "remove": lambda b, it: b.remove(GLOBEX, it.brand),
    "update": lambda b, it: b.update(GLOBEX, it.brand, name="Mine"),
    "disconnect": lambda b, it: b.disconnect(GLOBEX, it.connection),
    "compile_run": lambda b, it: b.compile_run(GLOBEX, it.compiled),
    "freshness": lambda b, it: b.freshness(GLOBEX, it.connection, force_refresh=False),
    "evidence": lambda b, it: b.evidence(GLOBEX, it.brand, [it.connection]),
    "list": lambda b, _: b.list(GLOBEX),
    "page": lambda b, _: b.page(GLOBEX).rows,
    "compare": lambda b, it: b.compare(GLOBEX, it.brand, 1, 1),
    "list_evidence": lambda b, it: b.list_evidence(GLOBEX, it.brand),
}
NOBODYS = {"add", "on", "prune", "task"}
"""These name nothing that could be somebody's."""
OF_WORDS = {
    "enqueue_compile_job": lambda w, it: w.enqueue_compile_job(it.brand, new_id()),
    "execute_compile_job": lambda w, it: w.execute_compile_job(it.compiled),
    "ingest_source": lambda w, it: w.ingest_source(it.connection),
    "check_source_freshness": lambda w, it: w.check_source_freshness(it.connection),
    "reuse_cached_run": lambda w, it: w.reuse_cached_run(it.connection, it.run),
    "normalize_apify_run": lambda w, it: w.normalize_apify_run(it.run, 10),
    "create_evidence_bundle": lambda w, it: w.create_evidence_bundle(it.brand),
    "get_job": lambda w, it: w.get_job(it.job),
    "complete_job": lambda w, it: w.complete_job(it.job),
    "fail_job": lambda w, it: w.fail_job(it.job, "not mine"),
    "claim_next_job": lambda w, _: w.claim_next_job(),
    "release_stale_jobs": lambda w, _: w.release_stale_jobs(),
}


@pytest.fixture
def theirs(brands, brand, settle):
    """Ids of everything that one tenant has; one compile of it waits."""
    (connection,) = connect(brands, brand, settings={"cap": 3})
    compiled = brands.compile(ACME, brand.id)
    settle()
    (run,) = runs_of(brands, connection)
    brands.compile(ACME, brand.id)
    return SimpleNamespace(
        brand=brand.id, connection=connection.id, compiled=compiled.id, run=run.id, job=compiled.job_id
    )


def heard(ask, about):
    """What a caller hears, with the ids taken out of it."""
    try:
        answer = ask(about)
    except HaulwrightError as error:
        told = f"{type(error).__name__}: {error} {error.hint}"
        for value in vars(about).values():
            told = told.replace(value, "ID")
        return told
    return answer


def everything(brands):
    """All rows of brands, and all jobs."""
    kept = {name: sorted(map(repr, rows(brands, f"select * from brands_{name}"))) for name in KEPT}  # noqa: S608 - ours
    return kept, rows(brands, "select id, state, attempts, fence from haulwright_jobs order by id")


def public(kind):
    return {name for name, _ in inspect.getmembers(kind, callable) if not name.startswith("_")}


@pytest.mark.proves("TN-02", "TS-03")
def test_every_function_answers_the_wrong_tenant_as_if_nothing_were_there(brands, theirs):
    absent = SimpleNamespace(**{name: new_id() for name in vars(theirs)})
    before = everything(brands)

    assert set(OF_BRANDS) | NOBODYS == public(Brands)
    for name, ask in OF_BRANDS.items():
        foreign = heard(lambda about, ask=ask: ask(brands, about), theirs)
        assert foreign == heard(lambda about, ask=ask: ask(brands, about), absent), name
        assert foreign in (None, []) or foreign.startswith("NotFound"), name
    assert everything(brands) == before


@pytest.mark.proves("TN-02", "TS-03")
def test_every_word_of_the_document_does_so_too(brands, theirs):
    absent, words = SimpleNamespace(**{name: new_id() for name in vars(theirs)}), BrandBrain(brands, GLOBEX)
    before = everything(brands)

    assert set(OF_WORDS) == public(BrandBrain)
    for name, ask in OF_WORDS.items():
        foreign = heard(lambda about, ask=ask: ask(words, about), theirs)
        assert foreign == heard(lambda about, ask=ask: ask(words, about), absent), name
    assert words.claim_next_job().reason == NO_JOB
    assert everything(brands) == before


@pytest.mark.proves("TN-02")
def test_a_claim_by_hand_finds_its_own_among_the_jobs_of_many_tenants(brands, theirs):
    for number in range(3):
        tenant = Principal.of_tenant(f"tenant-{number}")
        brands.compile(tenant, brands.add(tenant, "Acme").id)
    mine = brands.compile(GLOBEX, brands.add(GLOBEX, "Mine").id)

    claimed = BrandBrain(brands, GLOBEX).claim_next_job()

    assert (claimed.job.id, claimed.job.tenant) == (mine.job_id, OTHER)
    states = rows(brands, f"select state, attempts from haulwright_jobs where id <> '{mine.job_id}'")  # noqa: S608 - an id
    assert set(states) == {("queued", 0)}
    del theirs


@pytest.mark.proves("TN-02")
def test_the_desk_of_another_tenant_knows_no_job_of_a_compile(brands, theirs):
    operations = brands.app.operations(GLOBEX)
    jobs = operations.jobs

    for look in (jobs.get, jobs.why, jobs.timeline, operations.effects.of_job, lambda job: jobs.cancel(job, "mine")):
        with pytest.raises(NotFound):
            look(theirs.job)
