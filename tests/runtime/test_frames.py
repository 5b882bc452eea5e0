"""A failure says where it came from: the lines of the user's code, in the row, the log and the JSON of its job."""

from __future__ import annotations

import asyncio
import importlib
import json
import logging

import pytest

from haulwright import Context, Haulwright, Permanent, Principal, Retry
from haulwright.operations.views.jobs import job_view
from haulwright.runtime import frames
from haulwright.runtime.frames import ERRORS_LIMIT, FRAMES_LIMIT, FRAMES_LIMIT_BYTES, frames_of
from haulwright.runtime.log_lines import JsonFormatter, TextFormatter
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from tests.runtime import isolated

HERE = "tests/runtime/test_frames.py"
CANARY = "c4nary-c4nary"
app = Haulwright()
RETRY = Retry(2, base="1 min", jitter=0)


def look_up(prices: dict[str, int]) -> int:
    password = CANARY  # a variable of the task, which no record shows
    return prices["nope"] + len(password)


@app.task(retry=RETRY)
def plain() -> int:
    return look_up({})


@app.task(retry=Retry(5, base="1 min", jitter=0))
def patient() -> int:
    return look_up({})


@app.task(retry=RETRY)
async def asynchronous() -> int:
    await asyncio.sleep(0)
    return look_up({})


@app.task(retry=RETRY)
def in_effect(ctx: Context) -> int:
    return ctx.effect("look up", look_up, {})


@app.task(retry=RETRY)
def in_commit(ctx: Context) -> int:
    return ctx.commit("look up", lambda _: look_up({}))


@app.task(retry=RETRY)
def in_library() -> int:
    return int(json.loads("{nope"))


@app.task(retry=RETRY)
def caused() -> int:
    try:
        return look_up({})
    except KeyError as error:
        raise ValueError(f"no price, token={CANARY}") from error


@app.task(retry=RETRY)
async def grouped() -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(asynchronous.function())
        group.create_task(asyncio.sleep(60))


@app.task(retry=RETRY)
def dies() -> None:
    raise Permanent("gone")


def shown(handle) -> list[tuple[str, str, str | None]]:
    """The frames of a job as its JSON has them, without the numbers of the lines."""
    frames = job_view(handle.job())["error"]["frames"]
    assert all(frame["line"] > 0 for frame in frames)
    return [(frame["file"], frame["function"], frame["cause"]) for frame in frames]


@pytest.mark.parametrize(
    ("task", "frames"),
    [
        (plain, [("plain", None), ("look_up", None)]),
        (asynchronous, [("asynchronous", None), ("look_up", None)]),
        (in_effect, [("in_effect", None), ("look_up", None)]),
        (in_commit, [("in_commit", None), ("in_commit.<locals>.<lambda>", None), ("look_up", None)]),
        (in_library, [("in_library", None)]),
        (caused, [("caused", None), ("caused", "KeyError: 'nope'"), ("look_up", "KeyError: 'nope'")]),
        (grouped, [("grouped", None), ("asynchronous", "KeyError: 'nope'"), ("look_up", "KeyError: 'nope'")]),
        (dies, [("dies", None)]),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_failure_names_the_lines_of_the_users_code_and_no_others(bench, task, frames):
    bench.use(app)
    handle = task.enqueue()
    bench.drain()

    assert shown(handle) == [(HERE, function, cause) for function, cause in frames]
    assert CANARY not in str(handle.job())


def test_every_attempt_has_its_own_lines_in_its_events(bench):
    bench.use(app)
    handle = plain.enqueue()
    for _ in range(2):
        bench.drain()
        bench.advance("1 min")

    events = app.operations(Principal.admin("root")).jobs.timeline(handle.id).rows
    failed = [event.data["error_frames"] for event in events if event.name in {"job.failed", "job.dead_lettered"}]
    assert [[frame["function"] for frame in frames] for frames in failed] == [["plain", "look_up"]] * 2


@pytest.mark.parametrize(("task", "state"), [(plain, "dead"), (patient, "queued")], ids=["dead", "again"])
def test_a_later_failure_without_lines_does_not_keep_those_of_an_earlier_one(bench, task, state):
    bench.use(app)
    handle = task.enqueue()
    bench.drain()
    bench.advance("1 min")
    with bench.crash(task, after="claim"):
        bench.drain()
    bench.advance("10 min")
    bench.store.recovery.reap()

    assert (handle.state(), handle.job().error_class, shown(handle)) == (state, "LeaseLost", [])


@pytest.mark.crash
def test_a_task_in_a_process_of_its_own_has_its_lines_too(database_url):
    with_tables = open_database(database_url)
    migrations.migrate(with_tables)
    with_tables.close()
    with isolated.app.moved_to(database_url):
        handle = isolated.raises.enqueue()
        isolated.app.run_worker(until_empty=True, concurrency=1)

        assert shown(handle) == [("tests/runtime/isolated.py", name, None) for name in ("raises", "look_up")]


def test_the_log_has_them_under_the_line_and_as_a_list_for_programs(bench, caplog):
    bench.use(app)
    with caplog.at_level(logging.INFO, logger="haulwright"):
        caused.enqueue()
        bench.drain()

    (record,) = [record for record in caplog.records if record.getMessage() == "job retry"]
    first, *rest = TextFormatter().format(record).splitlines()
    assert "error_class=ValueError" in first
    assert "frames" not in first
    assert [line.partition(":")[0].strip() for line in rest] == [HERE, "caused by KeyError", HERE, HERE]
    assert [frame["function"] for frame in json.loads(JsonFormatter().format(record))["frames"]] == [
        "caused", "caused", "look_up",
    ]  # fmt: skip


def recurse(depth: int) -> None:
    if depth:
        recurse(depth - 1)
    raise ValueError(depth)


def chained(depth: int) -> None:
    try:
        if depth:
            chained(depth - 1)
    finally:
        raise ValueError("x" * 5000)


@pytest.mark.parametrize("fail", [recurse, chained])
def test_however_deep_an_error_comes_from_its_lines_are_few(fail):
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - any
        fail(200)

    frames = frames_of(caught.value)
    assert 0 < len(frames) <= FRAMES_LIMIT * ERRORS_LIMIT
    assert len(json.dumps(frames)) <= FRAMES_LIMIT_BYTES


def test_an_error_that_is_its_own_cause_ends():
    error = ValueError("round")
    error.__cause__ = KeyError("and round")
    error.__cause__.__cause__ = error

    assert frames_of(error) == ()


def test_the_code_of_an_app_that_is_installed_as_a_package_is_the_users_and_a_librarys_is_not(tmp_path, monkeypatch):
    """Of a library the line is named where the error was raised."""
    for name, text in {
        "installed_shop/__init__.py": "",
        "installed_shop/tasks.py": "from installed_shop.prices import look\n\ndef task():\n    return look()\n",
        "installed_shop/prices.py": "import a_library\n\ndef look():\n    return a_library.outer()\n",
        "a_library/__init__.py": "def outer():\n    return inner()\n\ndef inner():\n    return {}['nope']\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(frames, "_LIBRARIES", (tmp_path,))
    frames._place.cache_clear()
    task = importlib.import_module("installed_shop.tasks").task

    try:
        task()
    except KeyError as error:
        traceback = error.__traceback__.tb_next  # a run begins in code of ours, which this test is not
        shown = [str(frame) for frame in frames_of(error.with_traceback(traceback))]
    frames._place.cache_clear()

    assert shown == [
        "installed_shop/tasks.py:4 in task",
        "installed_shop/prices.py:4 in look",
        "a_library/__init__.py:5 in inner",
    ]
