"""Who asks for documents sees what is its tenant's, and what concerns all folders is not a tenant's to do."""

from __future__ import annotations

import pytest

from haulwright import events
from haulwright.errors import Forbidden, NotFound
from tests.apps.principals import ACME, ADMIN, GLOBEX, SUPPORT


def test_a_foreign_tenant_sees_nothing(world):
    planned = world.add("report-1.txt", tenant="acme")
    world.finish()
    documents = world.documents

    assert documents.list_documents(ACME)
    assert [*documents.verify(ACME)]
    assert documents.list_documents(GLOBEX) == []
    assert documents.count_states(GLOBEX) == {}
    assert documents.get_totals(GLOBEX)[0] == 0
    assert documents.search(GLOBEX, "report") == []
    assert documents.list_under_way(GLOBEX, [planned.key]) == {}
    assert documents.count_endings(GLOBEX, [planned.key]) == {}
    assert [*documents.verify(GLOBEX)] == []
    with pytest.raises(NotFound):
        documents.get_document(GLOBEX, planned.job_id)


@pytest.mark.parametrize("who", [ACME, SUPPORT], ids=lambda who: who.kind)
def test_reconciling_is_refused_to_a_tenant_and_the_refusal_is_an_event(world, who):
    with pytest.raises(Forbidden):
        world.documents.reconcile(who, dry_run=True)

    (refusal,) = world.bench.store.events.latest(name=events.REQUEST_REFUSED)
    assert (refusal.tenant, refusal.actor) == ("acme", who.actor)
    assert world.documents.reconcile(ADMIN, dry_run=True).agrees
