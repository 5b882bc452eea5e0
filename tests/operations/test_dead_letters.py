"""Dead letters: which there are, how many, and another life for them, one by one."""

from __future__ import annotations

import pytest

from haulwright import Haulwright, Permanent, Principal
from haulwright.engine.ids import new_id
from haulwright.errors import InvalidValue
from haulwright.operations.dead_letters import Requeued, RequeueRefused

app = Haulwright()
ADMIN = Principal.admin("root", "the shop is back")


@app.task()
def fails(sku: str) -> None:
    raise Permanent(f"no {sku}")


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    bench.use(app)


@pytest.fixture
def bury(bench):
    """Dead letters of these tenants, in this order."""

    def make(*tenants: str) -> list[str]:
        handles = [fails.using(tenant=tenant).enqueue("A1") for tenant in tenants]
        bench.drain()
        return [handle.id for handle in handles]

    return make


def test_what_cannot_be_requeued_is_a_value_and_the_others_go_on(bury):
    first, second = bury("acme", "acme")
    waiting = fails.enqueue("A1").id
    letters = app.operations(ADMIN).dead_letters
    letters.requeue(second)

    outcomes = [*letters.requeue_many([waiting, "no-id", second, new_id(), first], correlation_id="ticket-1")]

    assert [type(outcome) for outcome in outcomes] == [RequeueRefused] * 4 + [Requeued]
    codes = [outcome.error.code for outcome in outcomes[:4]]
    assert codes == ["illegal_transition", "not_found", "already_requeued", "not_found"]
    job = app.operations(ADMIN).jobs.get(outcomes[4].id)
    assert (job.requeued_from, job.correlation_id) == (first, "ticket-1")


def test_nothing_is_requeued_before_somebody_looks_at_the_outcome(bury):
    letters = app.operations(ADMIN).dead_letters
    first, second = bury("acme", "acme")

    outcomes = letters.requeue_many([first, second])
    next(outcomes)

    assert letters.ids().ids == [second]


def test_the_ids_of_a_bulk_verb_are_bounded_and_say_that_there_are_more(bury):
    made = bury("acme", "acme", "globex")
    letters = app.operations(ADMIN).dead_letters

    some, all_of_them = letters.ids(limit=2), letters.ids(limit=3)

    assert (some.ids, some.more) == (made[:0:-1], True)
    assert (all_of_them.ids, all_of_them.more) == (made[::-1], False)


def test_counts_come_in_pages_and_a_tenant_counts_its_own(bury):
    bury("acme", "globex", "globex")
    letters = app.operations(ADMIN).dead_letters

    first = letters.counts(limit=1)
    rest = letters.counts(after=first.next, limit=1)

    assert [(row.tenant, row.count) for row in [*first.rows, *rest.rows]] == [("globex", 2), ("acme", 1)]
    assert rest.next is None
    own = app.operations(Principal.of_tenant("acme")).dead_letters.counts("globex")
    assert [(row.tenant, row.count) for row in own.rows] == [("acme", 1)]


def test_a_cursor_that_no_page_gave_is_refused():
    with pytest.raises(InvalidValue, match="is not where a page ended"):
        app.operations(ADMIN).dead_letters.counts(after="nonsense")


def test_a_page_has_those_that_were_requeued_only_where_that_is_asked_for(bury):
    letters = app.operations(ADMIN).dead_letters
    first, second = bury("acme", "acme")
    letters.requeue(first)

    assert [job.id for job in letters.page().jobs] == [second]
    assert [job.id for job in letters.page(requeued=True).jobs] == [second, first]
