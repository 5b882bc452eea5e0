"""The how-to page about observers is itself tested: its blocks are imported and run, and it leaves no call out."""

from __future__ import annotations

import re
import sys
from contextlib import closing
from importlib import import_module
from pathlib import Path

import pytest

from haulwright.runtime import observed
from haulwright.runtime.observers import CALLS
from haulwright.stores import migrations
from haulwright.stores.connect import open_database

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "observe-workers.md"
BLOCK = re.compile(r'^```python title="(?P<file>\w+)\.py"\n(?P<code>.*?)^```$', re.MULTILINE | re.DOTALL)


@pytest.fixture
def jobs(tmp_path, monkeypatch, database_url):
    """The module `jobs` of the page, on an empty database of each kind."""
    files = {block["file"]: block["code"] for block in BLOCK.finditer(PAGE.read_text("utf-8"))}
    for name, code in files.items():
        (tmp_path / f"{name}.py").write_text(code, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    with closing(open_database(database_url)) as database:
        migrations.migrate(database)
    module = import_module("jobs")
    with module.app.moved_to(database_url):
        yield module
    for name in files:
        del sys.modules[name]


def test_the_observers_of_the_page_count_and_trace(jobs):
    for number in range(3):
        jobs.double.enqueue(number)
    jobs.fail.using(correlation_id="req-1").enqueue("t0p-secret")

    jobs.app.run_worker(until_empty=True)

    assert jobs.counting.ended == {("double", "succeeded"): 3, ("fail", "dead"): 1}
    assert jobs.counting.seconds["double"] > 0
    (span,) = [span for span in jobs.tracing.finished if span["name"] == "fail"]
    assert span.items() >= {"request": "req-1", "attempt": 1, "outcome": "retry", "error": "connection"}.items()
    assert "t0p-secret" not in str(jobs.tracing.finished)
    assert [span["outcome"] for span in jobs.tracing.finished].count("done") == 3


def test_the_page_names_every_call_and_every_value():
    text = PAGE.read_text("utf-8")
    values = [name for name, thing in vars(observed).items() if hasattr(thing, "__dataclass_fields__")]

    assert [name for name in [*CALLS, *values] if f"`{name}`" not in text] == []
    assert len(BLOCK.findall(text)) == text.count("```") / 2
