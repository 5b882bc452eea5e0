"""What a shell completes: the jobs of the database and the tasks of the app; where it cannot look it says nothing."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest
from click.shell_completion import ShellComplete

from haulwright.cli.kit.root import root
from tests.cli.conftest import SHOP


@pytest.fixture
def complete():
    """What is offered for the last word of a line."""

    def run(*words):
        *before, incomplete = words
        shell = ShellComplete(root, {}, "haulwright", "_HAULWRIGHT_COMPLETE")
        return {item.value: item.help for item in shell.get_completions(before, incomplete)}

    return run


def test_jobs_are_offered_by_the_ends_of_their_ids_with_their_task(complete, enqueue, database_url):
    job_id = enqueue("price", "sku=A1")

    for words in (["job", "why"], ["job", "show"], ["event", "list", "--job"]):
        assert complete("--database", database_url, *words, "") == {job_id[-12:]: "price queued"}
    assert complete("--database", database_url, "job", "why", job_id[:9]) == {job_id: "price queued"}
    assert complete("--database", database_url, "job", "why", "zzz") == {}


def test_tasks_are_offered_by_their_names(complete, work, database_url):
    work()

    assert complete("-A", SHOP, "run", "pri") == {"price": None}
    assert complete("--database", database_url, "job", "list", "--task", "pri") == {"price": None}


def test_where_there_is_no_database_and_no_app_nothing_is_offered_and_nothing_made(complete, tmp_path, capfd):
    assert complete("--database", f"sqlite:///{tmp_path}/none.db", "job", "why", "") == {}
    assert complete("-A", "no.such:app", "run", "") == {}

    assert list(tmp_path.glob("none.db*")) == []
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "line", ["raise SystemExit(3)", "import os, sys; sys.exit('no settings')", "raise KeyboardInterrupt"]
)
def test_an_app_that_ends_the_process_on_import_ends_no_completion(complete, tmp_path, monkeypatch, capfd, line):
    tmp_path.joinpath("leaving_app.py").write_text(f"print('hello')\n{line}\n")
    monkeypatch.syspath_prepend(tmp_path)

    assert complete("-A", "leaving_app:app", "run", "") == {}
    assert capfd.readouterr() == ("", "")


@pytest.mark.postgres
def test_a_database_that_does_not_answer_ends_no_completion(complete, monkeypatch, capfd):
    """Somebody listens, and says nothing: the look would take as long as the database is waited for."""
    monkeypatch.setattr("haulwright.cli.kit.completion.PATIENCE_SECONDS", 0.1)
    with closing(socket.create_server(("127.0.0.1", 0))) as silent:
        port = silent.getsockname()[1]

        assert complete("--database", f"postgresql://127.0.0.1:{port}/none", "job", "why", "") == {}

        silent.settimeout(30)
        asked, _ = silent.accept()
        with closing(asked):
            assert asked.recv(8), "the look has begun, and still waits"
    assert capfd.readouterr() == ("", "")
