"""What is another tenant's does not exist: every function of brands, asked by the wrong one."""

from __future__ import annotations

import inspect
from types import SimpleNamespace

import pytest

from penstock.apps.brands.application import Brands
from penstock.apps.brands.vocabulary import NO_JOB, BrandBrain
from penstock.client.principal import Principal
from penstock.engine.ids import new_id
from penstock.errors import NotFound, PenstockError
from tests.apps.brands.scenes import OTHER, SIX, TENANT, connect, rows, runs_of

KEPT = ("brands", "connections", "compile_runs", "compile_sources", "runs", "raw_items", "evidence", "snapshots")

OF_BRANDS = {
    "get": lambda b, it: b.get(OTHER, it.brand),
    "connect": lambda b, it: b.connect(OTHER, it.brand, *SIX[1]),
    "connections": lambda b, it: b.connections(OTHER, it.brand),
    "connection": lambda b, it: b.connection(OTHER, it.connection),
    "compile": lambda b, it: b.compile(OTHER, it.brand),
    "plan": lambda b, it: b.plan(OTHER, it.brand),
    "status": lambda b, it: (b.status(OTHER, it.compiled), b.status(OTHER, it.brand)),
    "snapshot": lambda b, it: (b.snapshot(OTHER, it.brand), b.snapshot(OTHER, it.brand, 1)),
    "remove": lambda b, it: b.remove(OTHER, it.brand),
    "compile_run": lambda b, it: b.compile_run(OTHER, it.compiled),
    "freshness": lambda b, it: b.freshness(OTHER, it.connection, force_refresh=False),
    "find_compile": lambda b, it: b.find_compile(OTHER, it.compiled),
    "evidence": lambda b, it: b.evidence(OTHER, it.brand, [it.connection]),
    "list": lambda b, _: b.list(OTHER),
}
NOBODYS = {"add", "drafting", "on"}
"""These name nothing that could be somebody's."""
OF_WORDS = {
    "enqueue_compile_job": lambda w, it: w.enqueue_compile_job(it.brand, new_id()),
    "execute_compile_job": lambda w, it: w.execute_compile_job(it.compiled),
    "ingest_source": lambda w, it: w.ingest_source(it.connection),
    "check_source_freshness": lambda w, it: w.check_source_freshness(it.connection),
    "reuse_cached_run": lambda w, it: w.reuse_cached_run(it.connection, it.run),
    "normalize_apify_run": lambda w, it: w.normalize_apify_run(it.run, 10),
    "create_evidence_bundle": lambda w, it: w.create_evidence_bundle(it.brand),
    "complete_job": lambda w, it: w.complete_job(it.job),
    "fail_job": lambda w, it: w.fail_job(it.job, "not mine"),
    "claim_next_job": lambda w, _: w.claim_next_job(),
    "release_stale_jobs": lambda w, _: w.release_stale_jobs(),
}


@pytest.fixture
def theirs(brands, brand, settle):
    """Ids of everything that one tenant has; one compile of it waits."""
    (connection,) = connect(brands, brand, settings={"cap": 3})
    compiled = brands.compile(TENANT, brand.id)
    settle()
    (run,) = runs_of(brands, connection)
    brands.compile(TENANT, brand.id)
    return SimpleNamespace(
        brand=brand.id, connection=connection.id, compiled=compiled.id, run=run.id, job=compiled.job_id
    )


def heard(ask, about):
    """What a caller hears, with the ids taken out of it."""
    try:
        answer = ask(about)
    except PenstockError as error:
        told = f"{type(error).__name__}: {error} {error.hint}"
        for value in vars(about).values():
            told = told.replace(value, "ID")
        return told
    return answer


def everything(brands):
    """All rows of brands, and all jobs."""
    kept = {name: sorted(map(repr, rows(brands, f"select * from brands_{name}"))) for name in KEPT}  # noqa: S608 - ours
    return kept, rows(brands, "select id, state, attempts, fence from penstock_jobs order by id")


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
    absent, words = SimpleNamespace(**{name: new_id() for name in vars(theirs)}), BrandBrain(brands, OTHER)
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
        tenant = f"tenant-{number}"
        brands.compile(tenant, brands.add(tenant, "Acme").id)
    mine = brands.compile(OTHER, brands.add(OTHER, "Mine").id)

    claimed = BrandBrain(brands, OTHER).claim_next_job()

    assert (claimed.job.id, claimed.job.tenant) == (mine.job_id, OTHER)
    states = rows(brands, f"select state, attempts from penstock_jobs where id <> '{mine.job_id}'")  # noqa: S608 - an id
    assert set(states) == {("queued", 0)}
    del theirs


@pytest.mark.proves("TN-02")
def test_the_desk_of_another_tenant_knows_no_job_of_a_compile(brands, theirs):
    desk = brands.app.desk(Principal.of_tenant(OTHER))

    for look in (desk.get, desk.why, desk.timeline, desk.effects, lambda job: desk.cancel(job, "mine")):
        with pytest.raises(NotFound):
            look(theirs.job)
