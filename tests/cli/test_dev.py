"""`haulwright dev` as a real process: two children, one log, restarts, and an end in order."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import httpx2
import pytest

from haulwright.runtime.dev_processes import file_states
from haulwright.runtime.identity import started_at
from tests.runtime.waiting import eventually

APP = """
from haulwright import Haulwright
app = Haulwright()
@app.task()
def greet(name: str) -> str:
    return "hello " + name
"""


class Dev:
    """The whole, and what it has told until now."""

    def __init__(self, running):
        self.running = running
        self.lines = []

    def line_with(self, *words):
        for line in self.running.stderr:
            self.lines.append(line)
            if all(word in line for word in words):
                return line
        raise AssertionError(f"nobody said {words}: {''.join(self.lines)}")

    def up(self):
        """Wait until both work, in whatever order they say so."""
        wanted = {"web ": "lets you in", "worker ": "worker started"}
        while wanted:
            line = self.line_with("|")
            wanted = {name: words for name, words in wanted.items() if not (line.startswith(name) and words in line)}

    def children(self):
        path = Path(f"/proc/{self.running.pid}/task/{self.running.pid}/children")
        return [int(pid) for pid in path.read_text().split()]

    def end(self, number):
        self.running.send_signal(number)
        self.lines += self.running.communicate(timeout=60)[1].splitlines(keepends=True)
        return self.running.returncode


@pytest.fixture
def dev(process, sqlite_url):
    """A run of `dev` that no test leaves behind."""
    started = []

    def start(*words):
        words = ("dev", "-A", "shop_app:app", "--database", sqlite_url, "--port", "0", *words)
        started.append(process(*words, start_new_session=True))
        return Dev(started[-1])

    yield start
    for running in started:
        running.kill()
        running.communicate()


def test_both_run_with_one_log_and_are_started_again_when_the_code_changes_or_one_dies(dev, on_file):
    Path("shop_app.py").write_text("nonsense(")
    whole = dev()
    address = re.search(r"http://[\d.:]+", whole.line_with("The dashboard is at", "Ctrl-C"))[0]
    whole.line_with("cannot be imported")
    whole.line_with("dev ", "ended by itself", "started again")

    Path("shop_app.py").write_text(APP)
    whole.line_with("dev ", "shop_app.py changed")  # whoever came up just before it is started once more
    whole.up()
    first = whole.children()
    assert len(first) == 2
    link = re.search(r"http://\S+", [line for line in whole.lines if "lets you in" in line][-1])[0]
    assert link.startswith(address)
    with httpx2.Client(base_url=address) as browser:
        browser.get(link)
        headers = {"Sec-Fetch-Site": "same-origin", "Haulwright-Tenant": "acme"}
        made = browser.post("/api/v1/jobs", json={"task": "greet", "args": {"name": "ada"}}, headers=headers)
        path = made.headers["location"]
        eventually(lambda: browser.get(path).json()["state"] == "succeeded")

    Path("shop_app.py").write_text(APP.replace("hello", "good morning"))
    whole.line_with("dev ", "shop_app.py changed")
    whole.up()
    second = whole.children()
    assert not set(first) & set(second)
    assert all(started_at(pid) is None for pid in first)
    job_id = on_file("run", "-A", "shop_app:app", "greet", "name=ada").out.strip()
    eventually(lambda: on_file("job", "show", job_id, "--json").json["result"] == "good morning ada")

    os.kill(second[0], signal.SIGKILL)
    told = whole.line_with("dev ", "killed by signal 9")
    whole.line_with(told.split()[2].rstrip(":"), "lets you in" if "web:" in told else "worker started")
    third = whole.children()

    assert whole.end(signal.SIGINT) == 0
    assert [pid for pid in third if started_at(pid) is not None] == []
    assert "worker stopped" in "".join(whole.lines)


def test_an_app_that_is_nowhere_is_refused(bare):
    for words, told in (((), "none is named"), (("-A", "nowhere:app"), "There is no module nowhere")):
        answer = bare("dev", *words)
        assert answer.code == 2
        assert told in answer.err


def test_only_files_of_python_that_somebody_writes_are_watched(tmp_path):
    for name in ("a.py", "b/c.py", "notes.txt", ".venv/x.py", "__pycache__/y.py", "venv/lib/site-packages/z.py"):
        path = tmp_path / "app" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")

    assert {str(path.relative_to(tmp_path / "app")) for path in file_states(tmp_path / "app")} == {"a.py", "b/c.py"}
