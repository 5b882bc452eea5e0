"""The filter language: what it finds, on both databases; how it is written back; what it says of a wrong word."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haulwright import Haulwright, Permanent, Principal
from haulwright.errors import InvalidValue
from haulwright.operations.filters import FIELDS, FilterError, FilterWord, JobQuery, parse_filter, require_filter
from haulwright.operations.views.jobs import state_word
from tests.operations.fleet import worker

app = Haulwright()
ADMIN = Principal.admin("root")
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "filters.md"


@app.task()
def price(sku: str, options: dict[str, object] | None = None) -> None:  # noqa: ARG001 - looked for, not used
    if sku == "bad":
        raise Permanent("no such thing")


@app.task(queue="slow", priority=7)
def fetch(url: str, *, fresh: bool = False, parts: list[str] | None = None) -> None:
    """Fetch."""


@pytest.fixture
def find(bench):
    """Four jobs, and the words by which they are found: dead, new, other and slow."""
    bench.use(app)
    dead = price.using(tags=["nightly"], tenant="acme").enqueue("bad")
    bench.drain()
    bench.advance("3 h")
    new = price.using(correlation_id="ticket-1").enqueue("A1", {"colour": "red", "size": 7, "old": None})
    other = price.using(tags=["nightly", "late"], delay="1 h").enqueue('B "2"')
    slow = fetch.enqueue("http://x/a?b=c", fresh=True, parts=["x", "y"])
    names = {dead.id: "dead", new.id: "new", other.id: "other", slow.id: "slow"}

    def look(text: str) -> list[str]:
        page = app.operations(ADMIN).jobs.page(require_filter(text))
        return sorted(names[job.id] for job in page.jobs)

    return look


@pytest.mark.parametrize(
    ("text", "jobs"),
    [
        ("", ["dead", "new", "other", "slow"]),
        ("state:dead", ["dead"]),
        ("-state:dead", ["new", "other", "slow"]),
        ("state:retrying", []),
        ("state:retrying,dead", ["dead"]),
        ("-state:retrying", ["dead", "new", "other", "slow"]),
        ("state:dead,queued queue:default", ["dead", "new", "other"]),
        ("-queue:slow -tag:nightly", ["new"]),
        ("tag:nightly", ["dead", "other"]),
        ("tag:nightly tag:late", ["other"]),
        ("tag:late,nightly", ["dead", "other"]),
        ("-tag:late,nightly", ["new", "slow"]),
        ("tenant:acme", ["dead"]),
        ("-tenant:acme task:price", ["new", "other"]),
        ("correlation_id:ticket-1", ["new"]),
        ("-correlation_id:ticket-1", ["dead", "other", "slow"]),
        ("error_code:permanent", ["dead"]),
        ("-error_code:permanent state:dead", []),
        ("age:>2h", ["dead"]),
        ("age:<2h", ["new", "other", "slow"]),
        ('created:>"2 h 30 min"', ["dead"]),
        ("-age:>2h state:queued", ["new", "other", "slow"]),
        ("finished:<1d", ["dead"]),
        ("finished:<1h", []),
        ("-finished:<1d", ["new", "other", "slow"]),
        ("created_after:2024-01-01T01:00:00Z", ["new", "other", "slow"]),
        ("finished_before:2024-01-01T01:00:00Z", ["dead"]),
        ("attempts:1", ["dead"]),
        ("attempts:>0", ["dead"]),
        ("attempts:<1 priority:7", ["slow"]),
        ("requeued:false state:dead", ["dead"]),
        ("requeued:true", []),
        ("-requeued:true", ["dead", "new", "other", "slow"]),
        ("args.sku:A1", ["new"]),
        ("args.sku:A1,bad", ["dead", "new"]),
        ("-args.sku:A1 task:price", ["dead", "other"]),
        ('args.sku:"B \\"2\\""', ["other"]),
        ("args.options.colour:red", ["new"]),
        ("args.options.size:7", ["new"]),
        ("args.options.old:null", ["new"]),
        ("args.options:null", ["dead", "other"]),
        ("args.fresh:true", ["slow"]),
        ("args.fresh:1", []),
        ("args.parts.1:y", ["slow"]),
        ("args.parts:x", []),
        ('args.url:"http://x/a?b=c"', ["slow"]),
        ("args.url:http://x/a?b=c", ["slow"]),
        ('"such thing"', ["dead"]),
        ("-such state:dead", []),
        ("fetch", ["slow"]),
        ('"x/a?b"', ["slow"]),
        ("%", []),
    ],
)
def test_a_filter_finds_what_it_says(find, text, jobs):
    assert find(text) == jobs


def test_jobs_are_found_by_the_worker_that_has_them(find):
    find("")
    first, second = worker(1), worker(2)
    for each in (first, second):
        app.store.workers.register(each, ["default", "slow"], ["price", "fetch"])
    app.store.leases.claim(first.id, ["default"])
    app.store.leases.claim(second.id, ["slow"])

    assert find(f"worker:{first.id}") == ["new"]
    assert find(f"state:running worker:{first.id},{second.id}") == ["new", "slow"]
    assert find(f"state:running -worker:{first.id}") == ["slow"]


def test_a_tenant_finds_its_own_whatever_its_filter_says(find):
    find("")
    jobs = app.operations(Principal.of_tenant("acme")).jobs

    for text in ("", "tenant:default", "-tenant:globex", "tenant:default,acme"):
        assert {job.tenant for job in jobs.page(require_filter(text)).jobs} == {"acme"}
    assert jobs.page(require_filter("-tenant:acme")).jobs == []


def test_dead_letters_and_stuck_jobs_take_the_same_language(find):
    find("")
    operations = app.operations(ADMIN)

    assert len(operations.dead_letters.ids(require_filter("args.sku:bad")).ids) == 1
    assert operations.dead_letters.ids(require_filter("-args.sku:bad")).ids == []
    assert operations.jobs.stuck(require_filter("task:price,fetch")).jobs == []


@pytest.mark.parametrize(
    ("text", "position", "word", "message", "hint"),
    [
        ("stat:dead", 0, "stat", "no field", "Did you mean state?"),
        ("task:a  colour:red", 8, "colour", "no field", "Fields are: id, tenant"),
        ("task:a state:deed", 7, "deed", "is no state", "Did you mean dead?"),
        ("task=a", 0, "task=a", "is no filter", "Write task:a"),
        ("args.x=1", 0, "args.x=1", "is no filter", "Write args.x:1"),
        ("task:", 0, "task:", "has no value", "field:value"),
        ("queue:a task: b", 8, "task:", "has no value", "field:value"),
        ("-", 0, "-", "has no value", ""),
        ('queue:a "b', 8, '"b', "not closed", '"two words"'),
        ('task:"a"b', 0, 'task:"a"b', "goes on after its value", "space"),
        ("task:a task:b", 7, "task:b", "a second time", "task:a,b"),
        ("age:2h", 0, "age:2h", "neither more nor less", "age:>2h"),
        ("age:>soon", 0, "age:>soon", "", "30 s"),
        ("task:>a", 0, "task:>a", "has no order", "task:value"),
        ("attempts:>1,2", 0, "attempts:>1,2", "several values", ""),
        ("attempts:many", 0, "attempts:many", "no whole number", ""),
        ("id:12", 0, "id:12", "no id", ""),
        ("requeued:yes", 0, "requeued:yes", "neither true nor false", ""),
        ("created_after:yesterday", 0, "created_after:yesterday", "is no time", "with its zone"),
        ("args.a..b:1", 0, "args.a..b:1", "no argument", "args.name:value"),
        ("args.:1", 0, "args.:1", "no argument", "args.name:value"),
        ("a\0b", 1, "\0", "no row has", ""),
        ("x" * 5000, 0, "x" * 20, "longer than", ""),
        ("a " * 60, 100, '"a"', "one word more", ""),
    ],
)
def test_a_wrong_word_is_a_value_that_says_where_and_what_to_do(text, position, word, message, hint):
    error = parse_filter(text)

    assert isinstance(error, FilterError)
    assert (error.position, error.word) == (position, word)
    assert message in error.message
    assert hint in error.hint


def test_a_door_can_refuse_instead():
    with pytest.raises(InvalidValue, match=r"--where: 'stat' is no field to filter by \(at character 9\)") as refusal:
        require_filter("queue:a stat:dead", what="--where")
    assert refusal.value.hint == "Did you mean state?"


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=12)
NEGATED = st.booleans()
SEVERAL = st.lists(TEXTS, min_size=1, max_size=3).map(tuple)
NUMBERS = st.tuples(st.integers(-9, 9).map(str))
WORDS = st.one_of(
    st.builds(FilterWord, st.just("text"), st.tuples(TEXTS), st.just(""), NEGATED),
    st.builds(FilterWord, st.sampled_from(["tag", "args.sku", "args.a.0.b-c"]), SEVERAL, st.just(""), NEGATED),
    st.builds(FilterWord, st.sampled_from(["task", "queue"]), SEVERAL, st.just(""), st.just(value=True)),
    st.builds(FilterWord, st.just("age"), st.sampled_from([("2h",), ("30 s",)]), st.sampled_from("<>"), NEGATED),
    st.builds(FilterWord, st.just("attempts"), NUMBERS, st.sampled_from(["", "<", ">"]), NEGATED),
)


@given(st.lists(WORDS, max_size=6))
def test_what_is_written_is_read_back_as_it_was(words):
    query = JobQuery(tuple(words))

    assert parse_filter(str(query)) == query
    assert str(parse_filter(str(query))) == str(query)


@given(st.text(max_size=40))
def test_no_text_breaks_the_reader(text):
    assert isinstance(parse_filter(text), JobQuery | FilterError)


def test_every_field_has_its_line_in_the_reference():
    page = PAGE.read_text("utf-8")

    assert [name for name in FIELDS if f"| `{name}` |" not in page] == []


def test_jobs_that_ran_before_and_wait_again_are_found_by_the_word_that_lists_show(bench):
    flaky = Haulwright()

    @flaky.task(name="flaky")
    def fail() -> None:
        raise ValueError("later")

    bench.use(flaky)
    tried = fail.enqueue()
    bench.drain()
    waiting = fail.using(delay="1 h").enqueue()

    def look(text: str) -> list[str]:
        return [job.id for job in flaky.operations(ADMIN).jobs.page(require_filter(text)).jobs]

    assert state_word(tried.job()) == "retrying"
    assert (look("state:retrying"), look("-state:retrying")) == ([tried.id], [waiting.id])
    assert look("state:queued,retrying") == look("state:queued") == [waiting.id, tried.id]
