"""What a worker does is told in lines: complete, short, and without secrets."""

from __future__ import annotations

import io
import json
import logging
import re
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from haulwright import Context, Haulwright, Retry, Throttled, Tx
from haulwright.redaction import remember
from haulwright.runtime.log_lines import JsonFormatter, LogLines, TextFormatter
from haulwright.runtime.observed import SlotsOpened
from haulwright.runtime.terminal_lines import TerminalFormatter

CANARY = "tw33t-tw33t-canary"


@pytest.fixture
def lines() -> Iterator[Callable[[type[logging.Formatter]], list[str]]]:
    """Everything that Haulwright logs, in the form that is asked for."""
    records: list[logging.LogRecord] = []
    handler = logging.StreamHandler(io.StringIO())
    handler.emit = records.append  # type: ignore[method-assign] # kept, to be formatted as the test likes
    log = logging.getLogger("haulwright")
    before = log.level
    log.addHandler(handler)
    log.setLevel(logging.DEBUG)
    yield lambda form: [form().format(record) for record in records]
    log.setLevel(before)
    log.removeHandler(handler)


@pytest.fixture
def shop(sqlite_url) -> Iterator[Haulwright]:
    """Tasks that end in every way, each with a secret at hand."""
    app = Haulwright(sqlite_url)

    @app.task(retry=Retry(1))
    def leaks(ctx: Context) -> None:
        message = f"GET https://bob:{CANARY}@shop.example/?token={CANARY} said no to Authorization: Bearer {CANARY} "
        raise ValueError(message + ctx.job.task + " x" * 500)

    @app.task(retry=Retry(2, base="1 h"))
    def retried() -> None:
        raise ConnectionError(f"password={CANARY}")

    @app.task()
    def throttled() -> None:
        raise Throttled(after=30, gate=f"shop?api_key={CANARY}")

    @app.task()
    async def fine(ctx: Context) -> None:
        await ctx.acommit("save", save, settle=True)

    yield app
    app.close()


def save(tx: Tx) -> None:
    tx.execute("select 1")


def play(app):
    handles = {
        name: app.tasks[name].using(tenant="acme", correlation_id="req-1").enqueue()
        for name in ("leaks", "retried", "throttled", "fine")
    }
    app.run_worker(until_empty=True, name="w1")
    return handles


@pytest.mark.proves("LG-02", "LG-03", "LG-05")
def test_lines_for_programs_say_which_job_attempt_tenant_worker_and_story(shop, lines):
    handles = play(shop)
    told = [json.loads(line) for line in lines(JsonFormatter)]
    by_message = {(line["message"], line.get("task")): line for line in told}

    common = {"task": "fine", "tenant": "acme", "attempt": "1/5", "fence": 1, "worker": "w1", "correlation": "req-1"}
    for message, level in (("job started", "debug"), ("job succeeded", "info")):
        line = by_message[message, "fine"]
        assert line.items() >= {**common, "job": handles["fine"].id, "level": level}.items()
        assert line["at"].endswith("Z")
    enqueued = by_message["job enqueued", "fine"]
    assert (enqueued["job"], enqueued["attempt"], enqueued["correlation"]) == (handles["fine"].id, "0/5", "req-1")
    assert by_message["job dead", "leaks"].items() >= {"level": "error", "reason": "attempts_exhausted"}.items()
    assert len(by_message["job dead", "leaks"]["error"]) <= 200
    assert by_message["job retry", "retried"].items() >= {"level": "warning", "code": "connection"}.items()
    assert by_message["job snooze", "throttled"]["delay_seconds"] == 30
    assert [line["message"] for line in told if line["message"].startswith("worker")] == [
        "worker started", "worker stopped",
    ]  # fmt: skip


def test_slots_that_make_no_job_are_told_as_such(lines):
    log = LogLines()

    log.slots_opened(SlotsOpened(worker="w1", schedule="often", slots=2, job_ids=("j1",)))
    log.slots_opened(SlotsOpened(worker="w1", schedule="often", slots=1, job_ids=()))

    opened, skipped = lines(TextFormatter)
    assert "slots opened" in opened
    assert "jobs=j1" in opened
    assert "slots recorded without a job" in skipped
    assert "jobs" not in skipped


@pytest.mark.parametrize("form", [TextFormatter, JsonFormatter, partial(TerminalFormatter, colour=True)])
def test_no_line_and_no_row_contains_a_secret(shop, lines, form):
    play(shop)
    told = lines(form)

    rows = [str(job) for job in shop.operations().jobs.page().jobs]
    events = [str(event) for event in shop.store.events.latest(limit=1000)]
    assert any("Traceback" in line for line in told)
    assert [text for text in [*told, *rows, *events] if CANARY in text] == []


def test_lines_for_people_are_one_line_each_and_name_the_job(shop, lines):
    handles = play(shop)
    (line,) = [line for line in lines(TextFormatter) if "job succeeded" in line]

    assert f"info    job succeeded  worker=w1 job={handles['fine'].id} task=fine tenant=acme attempt=1/5" in line
    assert "correlation=req-1" in line
    assert "\n" not in line


def test_the_first_line_of_a_worker_says_where_it_works_and_on_what(shop, lines):
    with shop.moved_to(f"{shop.database_url}?password={CANARY}"):
        shop.schedule("hourly", "0 * * * *", shop.tasks["fine"])
        play(shop)

    first = next(json.loads(line) for line in lines(JsonFormatter) if "worker started" in line)
    assert first["database"] == shop.database_url
    assert (first["queues"], first["tasks"]) == (["default"], ["fine", "leaks", "retried", "throttled"])
    assert first["schedules"] == ["hourly"]
    (text,) = [line for line in lines(TextFormatter) if "worker started" in line]
    assert f"database={shop.database_url} queues=default concurrency=8 tasks=fine,leaks,retried,throttled" in text


def test_lines_on_a_terminal_are_short_and_name_the_job_by_its_end(shop, lines):
    handles = play(shop)
    told = [re.sub(r"^[0-9:]+ |  [0-9.]+ m?s", "", line) for line in lines(partial(TerminalFormatter, colour=False))]

    assert f"job succeeded  fine {handles['fine'].id[-12:]}  of acme" in told
    (retried,) = [line for line in told if line.startswith("job retry")]
    assert re.match(
        rf"job retry  retried {handles['retried'].id[-12:]}  of acme  delay .*  error password=\*\*\*", retried
    )
    (started,) = [line for line in told if line.startswith("worker started")]
    assert f"w1 on {shop.database_url}  queues: default  tasks: fine, leaks, retried, throttled" in started
    assert all(len(line) < 100 for line in told if "succeeded" in line)


def test_colour_is_left_out_where_nobody_wants_it(shop, lines):
    play(shop)

    assert any("\x1b[32mjob succeeded\x1b[0m" in line for line in lines(partial(TerminalFormatter, colour=True)))
    assert not any("\x1b" in line for line in lines(partial(TerminalFormatter, colour=False)))


def test_a_line_for_programs_is_json_whatever_it_tells_and_hides_what_it_must():
    remember('se"cret value')
    record = logging.LogRecord("haulwright.x", logging.INFO, "", 0, 'said se"cret value', None, None)
    record.facts = {"tokens": 15, "note": 'token: 15 "x"', "all": ["password=abc", {"n": None}], "ratio": 0.5}
    record.facts |= {"password": "hunter2", "headers": {"x-api-key": "hunter2"}}

    line = json.loads(JsonFormatter().format(record))

    assert line["message"] == "said ***"
    assert (line["tokens"], line["note"], line["ratio"]) == (15, 'token: *** "x"', 0.5)
    assert line["all"] == ["password=***", {"n": None}]
    assert (line["password"], line["headers"]) == ("***", {"x-api-key": "***"})


@pytest.mark.proves("LG-03", "HB-07")
def test_a_lease_that_is_taken_back_is_told(bench, lines):
    app = Haulwright()

    @app.task(name="work")
    def work() -> None: ...

    bench.use(app)
    handle = work.enqueue()
    with bench.crash(work, after="claim"):
        bench.drain()
    bench.advance("121 s")
    bench.drain()

    (line,) = [line for line in lines(TextFormatter) if "lease taken back" in line]
    assert f"job={handle.id}" in line
    assert "held_by=bench holder=" in line
    assert "now=queued why=sweep" in line


@pytest.mark.parametrize("form", [TextFormatter, JsonFormatter, partial(TerminalFormatter, colour=False)])
def test_a_line_is_text_whatever_it_tells(form):
    """An error of somebody else's server does not clear the screen of who watches, nor write a line of its own."""
    hostile = "\x1b[2J\x9b31m\x07\x7f\r\u202e\u2028\ud800"
    error = ValueError(hostile)
    record = logging.LogRecord("haulwright.x", logging.INFO, "", 0, f"a\nb {hostile}", None, (ValueError, error, None))
    record.facts = {"error": hostile, hostile: [hostile]}

    text = form().format(record)

    assert re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\ud800-\udfff]", text) == []
    assert text.splitlines()[0].endswith(("}", '"', "ud800"))
    assert r"\x1b[2J" in text or r"\u001b[2J" in text
