"""What one call may say otherwise than its task."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from haulwright import Concurrency, Context, Haulwright, Retry, UniqueBy
from haulwright.clock import SECOND
from haulwright.engine.ids import new_id
from haulwright.errors import InvalidValue, Refused
from haulwright.testing.harness import START

app = Haulwright()
DAY = 86400 * SECOND
MIDNIGHT = int(START.timestamp()) * SECOND


@app.task(
    queue="shop", priority=5, tags=["price"], timeout="2 min", lease="10 min", retry=Retry(3), event_fields=["sku"]
)
def work(ctx: Context, sku: str) -> None: ...


@app.task(deadline=None)
def patient() -> None: ...


@app.task()
def parent(ctx: Context) -> None:
    grandchild.enqueue()
    grandchild.using(tenant="globex", correlation_id="other").enqueue()
    assert ctx.job.correlation_id is None


@app.task()
def grandchild() -> None: ...


@pytest.fixture(autouse=True)
def on_the_bench(haulwright):
    haulwright.use(app)


def lease_of(haulwright, queue):
    (lease,) = haulwright.store.leases.claim(new_id(), [queue])
    return lease


@pytest.mark.proves("JOB-03")
def test_a_job_has_the_options_of_its_task(haulwright):
    job = work.enqueue("A1").job()

    assert (job.queue, job.priority, job.max_attempts, job.tenant) == ("shop", 5, 3, "default")
    assert (json.loads(job.tags), json.loads(job.event_fields)) == (["price"], {"sku": "A1"})
    assert (job.run_at, job.deadline_at, job.correlation_id) == (MIDNIGHT, MIDNIGHT + 7 * DAY, None)
    assert lease_of(haulwright, "shop").lease_us == 600 * SECOND
    assert patient.enqueue().job().deadline_at is None


@pytest.mark.proves("ENQ-01", "LG-05")
def test_a_call_may_say_otherwise(haulwright):
    call = work.using(
        tenant="acme",
        queue="fast",
        priority=-7,
        deadline="1 h",
        timeout="5 s",
        correlation_id="req-1",
        tags=["été", "a"],
    )
    job = call.enqueue("A1").job()

    assert (job.tenant, job.queue, job.priority, job.correlation_id) == ("acme", "fast", -7, "req-1")
    assert job.deadline_at == MIDNIGHT + 3600 * SECOND
    assert json.loads(job.tags) == ["a", "price", "été"]
    assert lease_of(haulwright, "fast").timeout_us == 5 * SECOND


@pytest.mark.proves("JOB-11")
def test_a_delayed_job_runs_not_before_its_time(haulwright):
    later = work.using(delay="90 s").enqueue("A1")
    noon = datetime(2024, 1, 1, 13, 0, tzinfo=timezone(timedelta(hours=1)))
    at_noon = work.using(run_at=noon).enqueue("B2")

    assert (haulwright.drain(), later.job().run_at) == (0, MIDNIGHT + 90 * SECOND)
    haulwright.advance("90 s")
    assert (haulwright.drain(), later.state()) == (1, "succeeded")
    haulwright.freeze(datetime(2024, 1, 1, 12, 0, tzinfo=UTC))
    assert (haulwright.drain(), at_noon.state()) == (1, "succeeded")


@pytest.mark.proves("CLM-02")
def test_a_higher_priority_runs_first(haulwright):
    low, high = work.using(priority=-1).enqueue("A1"), work.using(priority=90).enqueue("A1")

    haulwright.drain(limit=1)

    assert (low.state(), high.state()) == ("queued", "succeeded")


@pytest.mark.proves("ENQ-07", "IK-05")
def test_a_job_planned_twice_under_one_key_is_made_once(bench):
    bench.use(app)
    first = work.using(job_key="doc-1").enqueue("A1")
    again = work.using(job_key="doc-1").enqueue("A1")
    bench.drain()
    later = work.using(job_key="doc-1").enqueue("A1")

    assert (first.created, again.created, later.created) == (True, False, False)
    assert first.id == again.id == later.id
    assert first.job().job_key == "doc-1"


def test_a_deadline_passes_for_a_job_that_nobody_runs(haulwright):
    handle = work.using(deadline="1 h", delay="30 min").enqueue("A1")

    haulwright.advance("2 h")
    assert haulwright.drain() == 0

    assert (handle.state(), handle.job().reason) == ("dead", "deadline")


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"delay": "-1 s"}, "delay"),
        ({"delay": "soon"}, "delay"),
        ({"run_at": datetime(2024, 1, 1)}, "run_at"),  # noqa: DTZ001 - a time without a zone is the point
        ({"delay": 1, "run_at": datetime(2024, 1, 1, tzinfo=UTC)}, "delay"),
        ({"deadline": 0}, "deadline"),
        ({"timeout": 0}, "timeout"),
        ({"timeout": "for ever"}, "timeout"),
        ({"priority": 101}, "priority"),
        ({"priority": True}, "priority"),
        ({"tenant": " "}, "tenant"),
        ({"tenant": "a\nb"}, "tenant"),
        ({"queue": "x" * 201}, "queue"),
        ({"unique": "k\0"}, "unique"),
        ({"job_key": "k" * 501}, "job_key"),
        ({"correlation_id": "c\0"}, "correlation_id"),
        ({"tags": "price"}, "tags"),
        ({"tags": ["x" * 65]}, "tags"),
    ],
)
def test_a_call_that_makes_no_sense_is_refused_before_anything_is_written(haulwright, options, what):
    with pytest.raises(InvalidValue) as refusal:
        work.using(**options).enqueue("A1")

    assert refusal.value.what == what
    assert haulwright.all_enqueued() == []


@pytest.mark.parametrize(
    "options",
    [
        {"lease": "0 s"},
        {"lease": "2 days"},
        {"timeout": -1},
        {"deadline": "0 s"},
        {"retry": 0},
        {"priority": 1000},
        {"queue": ""},
        {"concurrency": 0},
        {"isolation": "container"},
        {"tags": "price"},
        {"unique": "colour"},
        {"unique": ["sku", "colour"]},
        {"unique": UniqueBy("sku", "a while")},
        {"concurrency": Concurrency(2, by="colour")},
        {"name": "\n"},
    ],
)
def test_a_task_that_makes_no_sense_is_refused_when_it_is_declared(options):
    other = Haulwright()

    def scrape(sku: str) -> None: ...

    with pytest.raises(InvalidValue):
        other.task(**options)(scrape)
    assert other.tasks == {}


def test_two_functions_cannot_share_the_name_of_a_task():
    other = Haulwright()

    @other.task(name="sync")
    def one() -> None: ...

    with pytest.raises(InvalidValue, match="is declared twice"):

        @other.task(name="sync")
        def two() -> None: ...


@pytest.mark.proves("TN-02", "LG-05")
def test_the_jobs_of_a_run_belong_to_its_tenant_and_its_story(haulwright):
    first = parent.using(tenant="acme").enqueue()
    haulwright.drain()
    inherited, said = haulwright.all_enqueued(grandchild)

    assert (inherited.tenant, inherited.correlation_id) == ("acme", first.id)
    assert (said.tenant, said.correlation_id) == ("globex", "other")


def test_a_correlation_id_is_handed_on_from_job_to_job(haulwright):
    parent_of_all = Haulwright()

    @parent_of_all.task(name="hand_on")
    def hand_on(depth: int) -> None:
        if depth:
            hand_on.enqueue(depth - 1)

    haulwright.use(parent_of_all)
    hand_on.using(correlation_id="req-7").enqueue(3)
    haulwright.drain()

    assert {job.correlation_id for job in haulwright.all_enqueued(hand_on)} == {"req-7"}
    assert len(haulwright.all_enqueued(hand_on)) == 4


def test_many_jobs_are_written_at_once_and_each_has_its_handle(bench):
    bench.use(app)
    handles = app.enqueue_many(work.using(priority=n).call(f"S{n}") for n in range(50))

    assert [handle.job().priority for handle in handles] == list(range(50))
    assert [job.id for job in bench.all_enqueued()] == [handle.id for handle in handles]
    assert app.enqueue_many([]) == []


@pytest.mark.proves("ENQ-05")
def test_uniqueness_holds_inside_a_batch(bench):
    bench.use(app)
    calls = [work.using(unique="one").call("A1") for _ in range(3)]

    handles = app.enqueue_many(calls)

    assert [handle.created for handle in handles] == [True, False, False]
    assert len({handle.id for handle in handles}) == 1


def test_a_call_of_another_app_or_with_a_connection_of_its_own_is_refused():
    with pytest.raises(InvalidValue, match="belongs to another app"):
        Haulwright().enqueue_many([work.call("A1")])
    with pytest.raises(Refused, match="enqueue_many"):
        work.using(connection=object()).call("A1")


@pytest.mark.parametrize("option", ["job_key", "correlation_id", "unique", "tenant", "queue"])
@pytest.mark.parametrize("half", ["\ud800", "a\udfff"])
def test_half_a_character_is_refused_by_the_name_of_its_option(option, half):
    with pytest.raises(InvalidValue, match=option):
        patient.using(**{option: half}).enqueue()


@pytest.mark.parametrize("option", ["job_key", "correlation_id", "unique", "tenant", "queue"])
def test_an_option_from_a_variable_that_is_not_set_is_refused(option):
    with pytest.raises(InvalidValue, match=option):
        patient.using(**{option: ""}).enqueue()


@pytest.mark.parametrize("option", ["correlation_id", "tenant"])
def test_an_empty_option_is_refused_within_a_job_too_and_never_means_that_of_the_job(haulwright, option):
    @app.task(name=f"careless {option}", retry=1)
    def careless() -> None:
        patient.using(**{option: ""}).enqueue()

    handle = careless.using(tenant="acme").enqueue()
    haulwright.drain()

    assert handle.job().error_class == "InvalidValue"
    app.tasks.pop(f"careless {option}")
