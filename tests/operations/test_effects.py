"""The ledger as a principal sees it: effects of a job, those that are in doubt, and what a person found out."""

from __future__ import annotations

import pytest

from haulwright import Haulwright, Principal
from haulwright.engine.ids import new_id
from haulwright.engine.outcome import Bury
from haulwright.errors import InvalidValue, NotFound, Refused
from haulwright.operations.effects import ResolvedEffect
from tests.stores.scenes import claim_one, new_job, settle

app = Haulwright()
ACME = Principal.of_tenant("acme")
GLOBEX = Principal.of_tenant("globex")
SUPPORT = Principal.support("ann", tenant="acme", reason="asked the bank")
ADMIN = Principal.admin("root")


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


@pytest.fixture
def interrupted(bench):
    """A job that died between an effect and its record: its effects are unknown, or in doubt."""

    def make(*keys: str, tenant: str = "acme", unknown: bool = True) -> str:
        job = new_job(tenant=tenant)
        bench.store.jobs.enqueue([job])
        lease = claim_one(bench.store, new_id())
        for key in keys:
            bench.store.effects.begin(lease, key, "pay")
            if unknown:
                bench.store.effects.mark_unknown(lease, key, "pay")
        settle(bench.store, lease, Bury("effect_unknown"))
        return job.id

    return make


def test_the_effects_of_a_job_come_in_pages(interrupted):
    job_id = interrupted("c", "a", "b")
    effects = app.operations(ACME).effects

    first = effects.of_job(job_id, limit=2)
    rest = effects.of_job(job_id, after=first.next, limit=2)

    assert [effect.key for effect in [*first.rows, *rest.rows]] == ["a", "b", "c"]
    assert rest.next is None


def test_those_of_a_foreign_job_look_like_those_of_an_absent_one(interrupted):
    job_id = interrupted("a")

    for foreign in (job_id, new_id(), "no-id"):
        with pytest.raises(NotFound):
            app.operations(GLOBEX).effects.of_job(foreign)


def test_what_nobody_knows_is_listed_in_pages_and_a_tenant_sees_its_own(bench, interrupted):
    interrupted("a", "b")
    interrupted("c", tenant="globex")
    interrupted("d", unknown=False)
    bench.advance("5 min")
    effects = app.operations(ADMIN).effects

    first = effects.unresolved(limit=3)
    rest = effects.unresolved(after=first.next, limit=3)

    seen = [(effect.tenant, effect.key, effect.state) for effect in [*first.rows, *rest.rows]]
    assert seen == [
        ("acme", "a", "unknown"),
        ("acme", "b", "unknown"),
        ("acme", "d", "in_doubt"),
        ("globex", "c", "unknown"),
    ]
    assert [effect.key for effect in app.operations(GLOBEX).effects.unresolved("acme").rows] == ["c"]


def test_an_intent_is_in_doubt_only_when_it_is_old(bench, interrupted):
    interrupted("a", unknown=False)

    assert app.operations(ADMIN).effects.unresolved().rows == []
    bench.advance("5 min")
    assert len(app.operations(ADMIN).effects.unresolved().rows) == 1


@pytest.mark.parametrize(
    ("answer", "ledger"),
    [({"happened": True, "result": {"id": 7}}, [("done", '{"id":7}')]), ({"happened": False}, [])],
)
def test_support_says_what_became_of_an_unknown_effect(bench, interrupted, answer, ledger):
    job_id = interrupted("a")

    resolved = app.operations(SUPPORT).effects.resolve("a", **answer)

    assert resolved == ResolvedEffect("a", "acme", "done" if answer["happened"] else "intent")
    assert [(effect.state, effect.result) for effect in app.operations(ACME).effects.of_job(job_id).rows] == ledger
    (event,) = bench.store.events.latest(name="effect.resolved")
    assert (event.tenant, event.actor, event.data["reason"]) == ("acme", "support:ann", "asked the bank")


def test_a_foreign_effect_is_not_found_and_stays_unknown(interrupted):
    interrupted("c", tenant="globex")

    with pytest.raises(NotFound) as foreign:
        app.operations(SUPPORT).effects.resolve("c", happened=True, tenant="globex")
    with pytest.raises(NotFound) as absent:
        app.operations(SUPPORT).effects.resolve("x", happened=True)

    assert (foreign.value.hint, foreign.value.code) == (absent.value.hint, absent.value.code)
    assert len(app.operations(GLOBEX).effects.unresolved().rows) == 1


def test_what_did_not_happen_has_no_result(interrupted):
    interrupted("a")

    with pytest.raises(Refused, match="has no result"):
        app.operations(SUPPORT).effects.resolve("a", happened=False, result=1)


def test_a_cursor_that_no_page_gave_is_refused():
    with pytest.raises(InvalidValue, match="is not where a page ended"):
        app.operations(ADMIN).effects.unresolved(after="12")
