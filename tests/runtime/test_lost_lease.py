"""A run that lost its lease is told at its next call, and can change nothing: whatever it writes is refused."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from haulwright import Context, Haulwright, Principal, StageMachine, Tx
from haulwright.errors import LeaseLost

app = Haulwright()
ADMIN = Principal.admin("root")
MACHINE = StageMachine("m", start="NEW", moves={"NEW": {"DONE"}}, final={"DONE"})
meanwhile: list[Callable[[], object]] = []
refusals: list[str] = []

VERBS: dict[str, Callable[[Context], object]] = {
    "effect": lambda ctx: ctx.effect("pay", int),
    "commit": lambda ctx: ctx.commit("save", write),
    "settle": lambda ctx: ctx.commit("save", write, settle=True),
    "stage": lambda ctx: ctx.stage("DONE", MACHINE),
    "progress": lambda ctx: ctx.progress(1),
    "nothing": lambda _: None,
}


def write(tx: Tx) -> None:
    tx.execute("insert into written values (1)")


@app.task(lease="10 s")
def late(ctx: Context, verb: str) -> str:
    if ctx.job.attempts > 1:
        return "second"
    meanwhile[0]()
    try:
        VERBS[verb](ctx)
    except LeaseLost as lost:
        refusals.append(lost.verb)
        raise
    return "first"


@pytest.fixture(autouse=True)
def on_the_bench(bench):
    refusals.clear()
    bench.use(app)
    bench.store.database.transact(lambda connection: connection.execute("create table written (n int)"))

    def reap() -> None:
        bench.advance("11 s")
        assert len(bench.store.recovery.reap()) == 1

    meanwhile[:] = [reap]


@pytest.mark.proves("GU-04", "CLM-12", "GU-03")
@pytest.mark.parametrize("verb", VERBS)
def test_without_its_lease_a_run_changes_nothing(bench, verb):
    handle = late.enqueue(verb)
    bench.drain(limit=1)

    job = handle.job()
    written = bench.store.database.read(lambda connection: connection.execute("select * from written"))
    assert (job.state, job.losses, job.stage, job.progress, written) == ("queued", 1, None, None, [])
    assert app.operations(ADMIN).effects.of_job(handle.id).rows == []
    assert refusals == [] if verb == "nothing" else [{"settle": "commit"}.get(verb, verb)]
    bench.drain()
    assert handle.result(0) == "second"


@pytest.mark.proves("CLM-12")
def test_a_lease_that_ran_out_and_was_not_taken_back_is_still_good(bench):
    meanwhile[:] = [lambda: bench.advance("11 s")]
    handle = late.enqueue("commit")
    bench.drain()

    assert handle.result(0) == "first"
