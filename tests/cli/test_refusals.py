"""Whatever cannot be right is refused before anything is written, with what, why, what next, and a documented code."""

from __future__ import annotations

from pathlib import Path

import pytest

from haulwright.cli.kit.exits import MEANINGS
from tests.cli.conftest import SHOP, Answer

BROKEN_APPS = {
    "malformed cron": ('app.schedule("s", "61 * * * *", task)', "61 * * * *"),
    "unknown time zone": ('app.schedule("s", "0 * * * *", task, tz="Europe/Berlim")', "Europe/Berlin"),
    "negative duration": ('app.task(name="t", timeout="-5 s")(print)', "-5 s"),
    "absurd lease": ('app.task(name="t", lease="400 days")(print)', "400 days"),
    "negative retries": ('app.task(name="t", retry=-1)(print)', "attempts"),
    "no concurrency": ('app.task(name="t", concurrency=0)(print)', "concurrency"),
}


def is_refused(answer, code, *told):
    assert answer.code == code
    assert code in {int(known) for known in MEANINGS}
    assert answer.out == ""
    assert answer.err.startswith("Error: ")
    assert "Traceback" not in answer.err
    for words in told:
        assert words in answer.err


@pytest.fixture
def app_file(request: pytest.FixtureRequest) -> tuple[str, Path]:
    """A fresh module name in the current folder, for an app that does not work."""
    name = f"broken_{abs(hash(request.node.nodeid))}"
    return name, Path(f"{name}.py")


@pytest.mark.parametrize("line", BROKEN_APPS)
def test_an_app_that_makes_no_sense(on_file, app_file, line, tmp_path):
    name, path = app_file
    code, told = BROKEN_APPS[line]
    path.write_text(f"from haulwright import Haulwright\napp = Haulwright()\n@app.task()\ndef task(): ...\n{code}\n")

    is_refused(on_file("worker", "-A", f"{name}:app", "--until-empty"), 2, told)
    assert not (tmp_path / "haulwright.db").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("import nothing_of_this_name", "nothing_of_this_name"),
        ("app = 1 / 0", "ZeroDivisionError"),
        ("app = (", "SyntaxError"),
        ("raise SystemExit(3)", "SystemExit"),
        ("app = 'text'", "is a str, no Haulwright app"),
        ("from haulwright import Haulwright\nshop = Haulwright()", "Did you mean -A"),
    ],
)
def test_an_app_that_cannot_be_imported(on_file, app_file, text, told, tmp_path):
    name, path = app_file
    path.write_text(text)

    is_refused(on_file("worker", "-A", f"{name}:app", "--once"), 2, told)
    assert not (tmp_path / "haulwright.db").exists()


@pytest.mark.parametrize("words", [["worker", "--once"], ["run", "price", "sku=A1"]])
def test_a_command_that_needs_an_app_without_one(on_file, words, tmp_path):
    is_refused(on_file(*words), 2, "none is named", "HAULWRIGHT_APP")
    assert not (tmp_path / "haulwright.db").exists()


def test_a_module_that_is_not_there(on_file):
    is_refused(on_file("worker", "-A", "not_here.jobs:app"), 2, "There is no module not_here")


def test_a_file_that_is_named_in_place_of_its_module(on_file):
    Path("shop.py").write_text("from haulwright import Haulwright\napp = Haulwright()\n")

    is_refused(on_file("worker", "-A", "shop.py:app"), 2, "Name the module, not its file: shop\n")
    is_refused(on_file("worker", "-A", "./jobs/shop.py:app"), 2, "Name the module, not its file: jobs.shop\n")


def test_an_app_behind_a_dot_and_a_misspelt_module_are_answered_with_what_was_meant(on_file):
    Path("coinshop.py").write_text("from haulwright import Haulwright\napp = Haulwright()\n")

    is_refused(on_file("worker", "-A", "coinshop.app"), 2, "Did you mean -A coinshop:app?")
    is_refused(on_file("worker", "-A", "coinshp:app"), 2, "Did you mean -A coinshop:app?")
    is_refused(on_file("worker", "-A", "nowhere.near:app"), 2, "Go to the folder that contains it")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("worker", "-Q", "slow"), "Did you mean '--queues'?"),
        (("worker", "-c4"), "Did you mean '--concurrency'?"),
        (("worker", "--loglevel", "info"), "Did you mean '--verbose'?"),
        (("worker", "--burst"), "Did you mean '--until-empty'?"),
        (("job", "list", "-n", "5"), "Did you mean '--limit'?"),
        (("worker", "--concurency", "4"), "'--concurrency'"),
        (("beat",), "Did you mean 'worker'?"),
        (("inspect", "active"), "Did you mean 'job list'?"),
        (("worker", "shop:app"), "Did you mean -A shop:app?"),
        (("worker", "high", "low"), "Nothing is expected where 'high' stands."),
        (("job", "show", "last", "more"), "Nothing is expected where 'more' stands."),
    ],
)
def test_what_other_tools_call_it_is_answered_with_our_word(on_file, words, told):
    is_refused(on_file(*words), 2, told)


def test_an_error_of_syntax_is_told_with_its_place_once(on_file, app_file):
    name, path = app_file
    path.write_text("\napp = (\n")

    answer = on_file("worker", "-A", f"{name}:app")

    is_refused(answer, 2, f"SyntaxError: '(' was never closed ({path.absolute()}, line 2).")
    assert answer.err.count("line 2") == 1


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["pirce", "A1"], "Did you mean 'price'?"),
        (["pirce", "sku=A1"], "Did you mean 'price'?"),
        (["price"], "args.sku"),
        (["price", "sku=A1", "amount=many"], "args.amount"),
        (["price", "sku=A1", "colour=red"], "args.colour"),
        (["price", "skuu=A1"], "args.skuu: there is no such argument."),
        (["price", "sku"], "not of the form name=value"),
        (["price", "A1"], "Write its name before it, as in sku=3."),
        (["price", "--sku", "A1"], "What the task takes is given without dashes, as name=value."),
        (["price", "sku=A1", "sku=A2"], "a second time"),
        (["price", "sku=" + "x" * 1_100_000], "larger than"),
        (["price", 'sku="a\\u0000b"'], "NUL"),
        (["price", "sku=A1", "--delay", "-5 s"], "is no time"),
        (["price", "sku=A1", "--delay", "99 years"], "is no time"),
        (["price", "sku=A1", "--delay", "400000 days"], "is more than"),
        (["price", "sku=A1", "--priority", "101"], "from -100 to 100"),
        (["price", "sku=A1", "--tenant", ""], "tenant"),
        (["price", "sku=A1", "--key", ""], "job_key"),
    ],
)
def test_a_call_that_does_not_fit_its_task(on_file, words, told, tmp_path):
    is_refused(on_file("run", "-A", SHOP, *words), 2, told)
    assert not (tmp_path / "haulwright.db").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["--poll-interval", "-1"],
        ["--poll-interval", "2 fortnights"],
        ["--stale-check-interval", "0"],
        ["--grace", "2 days"],
        ["--concurrency", "0"],
        ["--concurrency", "many"],
        ["--log-format", "xml"],
        ["--queues", ","],
    ],
)
def test_options_of_a_worker_that_make_no_sense(on_made_file, words):
    is_refused(on_made_file("worker", "-A", SHOP, "--once", *words), 2)
    assert on_made_file("workers", "--all", "--json").json["workers"] == []


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("mysql://user:hunter22@host/db", "There is no database of the kind 'mysql'"),
        ("sqlite:///:memory:", "in memory"),
        ("sqlite:////proc/haulwright.db", "/proc/haulwright.db"),
        ("sqlite:///missing/folder/haulwright.db", "does not exist"),
        ("postgresql://user:hunter22@127.0.0.1:1/db", "cannot be reached"),
    ],
)
@pytest.mark.parametrize("words", [["job", "list"], ["run", "-A", SHOP, "price", "sku=A1"], ["db", "migrate"]])
def test_a_database_that_cannot_be_used(bare, words, url, told):
    answer = bare(*words, "--database", url)
    if words == ["job", "list"] and url.endswith("haulwright.db"):
        is_refused(answer, 3, "There is no Haulwright database")  # a look makes none, so it does not come that far
        return

    is_refused(answer, 69, told)
    assert "hunter22" not in answer.err
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("url", ["jobs.db", "mysql://host/db"])
def test_an_address_that_names_no_database_is_answered_with_ones_that_can_be_written(bare, url):
    answer = bare("job", "list", "--database", url)

    is_refused(answer, 69, "sqlite:///path/to/file.db or postgresql://host:5432/name, with user:password@ before")
    assert "***" not in answer.err


@pytest.mark.proves("MG-04")
def test_a_postgresql_that_was_not_migrated(process, postgres_url):
    asked = process("job", "list", "--database", postgres_url)
    out, err = asked.communicate()

    is_refused(Answer(asked.returncode, out, err), 69, " db migrate")


def test_a_file_that_is_no_database(bare):
    Path("notes.txt").write_text("not a database, but long enough to look like something" * 10)

    is_refused(bare("job", "list", "--database", "sqlite:///notes.txt"), 69, "is not an SQLite database")


@pytest.mark.parametrize(
    ("name", "value"), [("HAULWRIGHT_CONCURRENCY", "-3"), ("HAULWRIGHT_POLL_INTERVAL_SECONDS", "soon")]
)
def test_a_setting_that_makes_no_sense(on_file, monkeypatch, name, value):
    monkeypatch.setenv(name, value)

    is_refused(on_file("worker", "-A", SHOP, "--once"), 2, name, value)


def test_a_log_format_of_the_environment_that_is_none(on_file, monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_LOG_FORMAT", "xml")

    is_refused(on_file("worker", "-A", SHOP, "--once"), 2, "xml")


def test_a_setting_that_does_not_exist(on_file):
    Path("pyproject.toml").write_text("[tool.haulwright]\nconcurency = 3\n")

    is_refused(on_file("job", "list"), 2, "concurency", "concurrency")
