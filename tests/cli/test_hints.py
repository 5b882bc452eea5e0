"""What a hint says can be typed as it stands: for the same app, on the same database, and without a secret."""

from __future__ import annotations

import os
import pty
import shlex

import pytest

from haulwright.cli.kit.hints import typable
from haulwright.engine.ids import new_id
from tests.cli.conftest import SHOP

WORKER = "haulwright worker --queues default"


def completed(text, *, app=None, database=None, setting=""):
    return typable(text, app=app, database=database, names_app=lambda: bool(setting))


@pytest.mark.parametrize(
    ("flags", "hint"),
    [
        ({"app": "shop:app"}, "haulwright -A shop:app worker --queues default"),
        ({"setting": "shop:app"}, WORKER),
        ({}, "haulwright -A MODULE:APP worker --queues default"),
        (
            {"app": "shop:app", "database": "sqlite:///my jobs.db"},
            "haulwright -A shop:app --database 'sqlite:///my jobs.db' worker --queues default",
        ),
    ],
)
def test_a_worker_is_named_with_its_app_unless_a_setting_names_it(flags, hint):
    assert completed(WORKER, **flags) == hint


def test_the_app_that_a_hint_names_itself_stays():
    hint = "haulwright worker -A haulwright.apps.syncs.worker:app --queues syncs"

    assert completed(hint, app="shop:app") == hint


def test_what_only_looks_at_the_database_needs_no_app():
    assert completed("See jobs with: haulwright job list") == "See jobs with: haulwright job list"


def test_what_is_no_command_is_left_alone():
    hint = "Subclass haulwright.Observer; install haulwright[http]; start a worker."

    assert completed(hint, app="shop:app", database="sqlite:///x.db") == hint


def test_a_password_is_not_repeated():
    hint = completed(WORKER, database="postgresql://ann:hunter2@host/db", setting="shop:app")

    assert hint == "haulwright --database 'postgresql://***@host/db' worker --queues default"


def test_the_next_step_after_run_starts_the_worker_that_is_missing(haulwright, typable_url):
    answer = haulwright("run", "-A", SHOP, "price", "sku=A1")
    next_step = answer.err.splitlines()[-1].removeprefix("Next: haulwright ")

    assert next_step == f"-A {SHOP} --database {typable_url} worker --queues default"


def test_the_next_step_can_be_typed(on_file, bare):
    answer = on_file("run", "-A", SHOP, "price", "sku=A1")
    words = shlex.split(answer.err.splitlines()[-1].removeprefix("Next: haulwright "))

    assert bare(*words, "--until-empty").code == 0
    assert on_file("job", "show", answer.out.strip(), "--json").json["state"] == "succeeded"


def test_doctor_says_how_the_missing_worker_is_started(haulwright, enqueue, typable_url):
    enqueue("price", "sku=A1")

    out = " ".join(haulwright("doctor", "-A", SHOP).out.split())

    assert f"next: haulwright -A {SHOP} --database {typable_url} worker --queues default" in out


@pytest.mark.parametrize("words", [("job", "show"), ("job", "why"), ("dead", "requeue"), ("effect", "list")])
def test_an_id_that_no_job_has_is_answered_with_where_to_look(on_made_file, words):
    answer = on_made_file(*words, new_id())

    assert answer.code == 3
    assert answer.err.splitlines()[-1].endswith(" job list")


def test_for_programs_hints_are_the_same_wherever_they_are_asked(on_made_file):
    assert on_made_file("job", "show", new_id(), "--json").error["hint"] == "See jobs with: haulwright job list"


def test_a_group_without_a_verb_is_answered_with_its_help_alone(bare):
    answer = bare("job")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("Usage: ")
    assert "Error" not in answer.err
    assert bare("job", "--json").error["message"] == "Missing command."


def test_the_common_options_may_stand_between_a_noun_and_its_verb(bare, on_file, sqlite_url):
    on_file("db", "migrate")

    assert bare("job", "--json", "--database", sqlite_url, "list").json == {"jobs": [], "next": None}
    assert "--database" not in bare("job", "--help").out


@pytest.mark.parametrize(
    ("name", "hint"), [("job.dead", "Did you mean job.dead_lettered?"), ("x", "There are: job.queued, ")]
)
def test_an_event_that_is_none_is_answered_with_the_nearest_or_all_of_them(on_file, name, hint):
    answer = on_file("event", "list", "--name", name)

    assert answer.code == 2
    assert f"--name: '{name}' is no event." in answer.err
    assert hint in answer.err


def test_a_page_that_is_too_long_is_refused_before_a_database_is_made(bare, tmp_path):
    answer = bare("queue", "list", "--limit", "1001", "--database", f"sqlite:///{tmp_path}/new.db")

    assert answer.code == 2
    assert not (tmp_path / "new.db").exists()


def test_top_prints_its_looks_on_a_terminal_that_cannot_draw(process, on_file, sqlite_url):
    on_file("db", "migrate")
    ours, theirs = pty.openpty()
    top = process("top", "--database", sqlite_url, stdout=theirs, stdin=theirs, extra={"TERM": "dumb"})
    os.close(theirs)

    line = os.read(ours, 4096).decode()
    top.terminate()
    top.communicate(timeout=90)
    os.close(ours)

    assert "workers 0" in line
    assert "\x1b" not in line
