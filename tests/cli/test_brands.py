"""`haulwright brand` from the first word to the snapshot, against the sandbox, on both databases."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from haulwright import Haulwright
from haulwright.apps import brands
from haulwright.apps.brands.cli import command
from haulwright.clock import CLOCK_VARIABLE, TESTING_VARIABLE
from haulwright.engine.ids import new_id
from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.testing.harness import Harness

LOOKS = 40
"""How often the work is looked at again before a test gives up."""


@pytest.fixture
def package():
    return "haulwright.apps.brands"


@pytest.fixture
def bench(made_database_url, tmp_path, monkeypatch):
    """A worker without threads, whose clock the commands go by too."""
    monkeypatch.setattr("haulwright.sources.source.FINGERPRINT_ROUNDS", 10)
    monkeypatch.setenv(CLOCK_VARIABLE, str(tmp_path / "haulwright-clock"))
    monkeypatch.setenv(TESTING_VARIABLE, "1")
    with closing(Harness(made_database_url, tmp_path)) as bench:
        yield bench


@pytest.fixture
def sandbox(bench, monkeypatch):
    with Sandbox(seed=7, clock=SandboxClock(lambda: bench.clock.now() / 1_000_000)) as sandbox:
        sandbox.apify.longest_wait_seconds = 0
        monkeypatch.setenv("APIFY_TOKEN", "token-of-mine")
        monkeypatch.setenv("APIFY_BASE_URL", f"{sandbox.url}/apify")
        yield sandbox


@pytest.fixture
def brand(bare, bench, sandbox):
    """The command group on a database that has its tables."""
    del sandbox
    return lambda *words: bare("brand", *words, "--database", bench.database_url)


@pytest.fixture
def acme(brand):
    """A brand with a source."""
    brand_id = brand("add", "Acme", "--answer", "what_we_do=We bake bread.").out.strip()
    assert brand("connect", brand_id, "instagram.posts", "@acme", "--set", "cap=5").code == 0
    return brand_id


@pytest.fixture
def work(bench):
    """Work and let time pass until nothing is left to do."""

    def run():
        app = Haulwright()
        brands.install(app)
        bench.use(app)
        for _ in range(LOOKS):
            bench.drain()
            if not any(queue.due + queue.parked + queue.running for queue in bench.store.queues.counts()):
                return
            bench.advance("10 s")
        pytest.fail("something is still to be done")

    return run


@pytest.fixture
def compiled(brand, acme, work):
    """A brand that was compiled."""
    brand("compile", acme)
    work()
    return acme


def test_a_brand_is_added_with_its_answers_and_listed(brand, tmp_path):
    file = tmp_path / "answers.json"
    file.write_text(json.dumps({"audience": ["cafés"], "tone": "cold"}))

    made = brand("add", "Acme", "--answers", str(file), "--answer", "tone=warm", "--json").json

    assert made["answers"] == {"audience": ["cafés"], "tone": "warm"}
    assert [one["id"] for one in brand("list", "--json").json["brands"]] == [made["id"]]
    assert brand("list", "--tenant", "other", "--json").json["brands"] == []


@pytest.mark.parametrize("content", ["{", "[]", '"text"'])
def test_answers_that_are_no_object_are_refused(brand, tmp_path, content):
    file = tmp_path / "answers.json"
    file.write_text(content)

    answer = brand("add", "Acme", "--answers", str(file), "--json")

    assert (answer.code, answer.error["code"]) == (2, "invalid_value")
    assert brand("list", "--json").json["brands"] == []


def test_a_source_is_connected_once_and_can_be_switched_off(brand, acme):
    again = brand("connect", acme, "instagram.posts", "https://www.instagram.com/acme/", "--disabled", "--json").json

    assert (again["source"], again["identifier"], again["enabled"]) == ("instagram.posts", "acme", False)
    assert brand("compile", acme, "--plan", "--json").json["sources"] == []


def test_a_source_that_there_is_not_is_refused_with_the_nearest(brand, acme):
    answer = brand("connect", acme, "instagram.post", "acme")

    assert answer.code == 2
    assert "instagram.posts" in answer.err


def test_a_plan_says_what_would_be_bought_and_buys_nothing(brand, acme, sandbox):
    (planned,) = brand("compile", acme, "--plan", "--json").json["sources"]

    assert (planned["decision"], planned["cap"]) == ("buy", 5)
    assert planned["reason"] == "No successful run exists for this source"
    assert "would be bought" in brand("compile", acme, "--plan").out
    assert sandbox.books.paid_runs() == []


def test_a_compile_goes_from_sources_to_a_snapshot(brand, compiled, sandbox):
    told = brand("status", compiled, "--json").json
    (source,) = told["sources"]

    assert (told["run"]["status"], source["outcome"]["outcome"]) == ("succeeded", "refreshed")
    assert source["outcome"]["raw_items_count"] == 5
    assert len(sandbox.books.paid_runs()) == 1
    shown = brand("show", compiled)
    assert "We bake bread." in shown.out
    assert "Made by extractive, without a model." in shown.out


def test_a_second_compile_buys_nothing_and_the_plan_says_why(brand, compiled, sandbox, work):
    (planned,) = brand("compile", compiled, "--plan", "--json").json["sources"]
    brand("compile", compiled)
    work()

    (source,) = brand("status", compiled, "--json").json["sources"]

    assert planned["decision"] == "reuse"
    assert "TTL=24h" in planned["reason"]
    assert source["outcome"]["outcome"] == "reused"
    assert len(sandbox.books.paid_runs()) == 1


def test_two_snapshots_are_compared_by_their_numbers(brand, compiled, work):
    brand("connect", compiled, "web.pages", "https://acme.example", "--set", "cap=3")
    brand("compile", compiled)
    work()

    newest = brand("diff", compiled, "1", "--json").json

    assert brand("status", compiled, "--json").json["snapshot"] == 2
    assert len(newest["evidence"]["added"]) == 3
    assert "added" in brand("diff", compiled, "1", "2").out
    assert brand("diff", compiled, "2", "--json").json["empty"]
    assert brand("diff", compiled, "3").code == 3


def test_the_last_two_snapshots_are_compared_where_no_number_is_said(brand, compiled, work):
    alone = brand("diff", compiled)
    brand("connect", compiled, "web.pages", "https://acme.example", "--set", "cap=3")
    brand("compile", compiled)
    work()

    found = brand("diff", compiled, "--json").json

    assert (alone.code, "nothing to compare it with" in alone.err) == (2, True)
    assert (found["old"], found["new"], len(found["evidence"]["added"])) == (1, 2, 3)
    assert brand("show", compiled, "--json").json["number"] == 2


def test_a_prompt_that_there_is_not_is_refused_before_anything_is_asked(brand, acme, sandbox):
    answer = brand("compile", acme, "--prompt-version", "v999", "--json")

    assert (answer.code, answer.error["hint"]) == (2, "There is v1.")
    assert brand("status", acme).code == 3
    assert sandbox.books.requests() == []


def test_old_raw_items_are_removed_after_a_look(brand, compiled, bench):
    bench.advance("91 days")
    would = brand("prune", "--dry-run").out
    gone = brand("prune", "--json").json

    assert "5 raw items of 1 runs would go" in would
    assert gone == {"runs": 1, "items": 5, "dry_run": False}
    assert brand("show", compiled).code == 0


def test_waiting_for_a_compile_shows_what_became_of_its_sources(brand, acme, work):
    words = ("compile", acme, "--request-id", "r-1")
    first = brand(*words).out
    work()

    answer = brand(*words, "--wait")

    assert answer.code == 0
    assert "refreshed" in answer.out
    assert brand(*words, "--wait", "--json").json["run"]["id"] == first.strip()


def test_a_compile_that_is_not_over_in_time_goes_on(brand, acme):
    answer = brand("compile", acme, "--wait", "--timeout", "10 ms", "--json")

    assert (answer.code, answer.error["code"]) == (75, "result_timeout")
    assert brand("status", acme, "--json").json["run"]["status"] == "pending"


def test_a_compile_that_failed_ends_with_1_and_says_why(brand, acme, sandbox, work):
    sandbox.faults.add("status", path="/apify/v2/*", code=404, times=None)
    brand("compile", acme, "--request-id", "r-1")
    work()

    answer = brand("compile", acme, "--request-id", "r-1", "--wait")

    assert answer.code == 1
    assert "failed" in answer.err
    assert "failed" in brand("status", acme).out


def test_a_model_that_cannot_be_called_is_not_claimed(brand, acme, work, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    brand("compile", acme, "--model", "gpt-4")
    work()

    shown = brand("show", acme)

    assert "gpt-4 was asked for and not called" in shown.out
    assert brand("show", acme, "--json").json["ran"]["model"] is None


def test_a_model_writes_the_statements_and_is_named(brand, acme, work, sandbox, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-mine")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{sandbox.url}/model/v1")
    brand("compile", acme, "--model", "sandbox-small")
    work()

    document = brand("show", acme, "--json").json

    assert (document["ran"]["compiler"], document["ran"]["model"]) == ("openai", "sandbox-small")
    assert len(sandbox.books.model_calls()) == 1
    assert "Made by openai with sandbox-small." in brand("show", acme).out


def test_nothing_is_bought_without_a_token(brand, acme, monkeypatch, sandbox):
    monkeypatch.delenv("APIFY_TOKEN")

    answer = brand("compile", acme, "--json")

    assert (answer.code, answer.error["code"]) == (2, "refused")
    assert "APIFY_TOKEN" in answer.error["hint"]
    assert sandbox.books.requests() == []


WORDS = (
    ("status", "{compile}"),
    ("status", "{brand}"),
    ("show", "{brand}"),
    ("compile", "{brand}"),
    ("compile", "{brand}", "--plan"),
    ("connect", "{brand}", "web.pages", "https://acme.example"),
    ("diff", "{brand}"),
    ("diff", "{brand}", "1"),
    ("remove", "{brand}", "--yes"),
    ("update", "{brand}", "--name", "Mine"),
    ("disconnect", "{connection}", "--yes"),
)
"""Every way to name a brand or a compile."""
NAMELESS = {"add", "list", "prune"}


@pytest.mark.proves("TN-02")
def test_another_tenants_brand_looks_like_none_to_every_verb(brand, compiled):
    status = brand("status", compiled, "--json").json
    theirs = {"brand": compiled, "compile": status["run"]["id"], "connection": status["sources"][0]["connection_id"]}

    assert {verb for verb, *_ in WORDS} | NAMELESS == set(command.commands)
    for words in WORDS:
        foreign, absent = (
            brand(*(word.format(**ids) for word in words), "--tenant", "other", "--json")
            for ids in (theirs, {name: new_id() for name in theirs})
        )
        assert (foreign.code, absent.code, foreign.error["code"]) == (3, 3, "not_found"), words
    assert brand("list", "--tenant", "other", "--json").json["brands"] == []
    assert brand("show", compiled).code == 0


def test_a_brand_is_removed_with_all_that_was_found(brand, compiled):
    unsure = brand("remove", compiled)
    gone = brand("remove", compiled, "--yes", "--json").json

    assert (unsure.code, "--yes" in unsure.err) == (2, True)
    assert gone["rows"] > 5
    assert brand("show", compiled).code == 3
    assert brand("list", "--json").json["brands"] == []


def test_answers_are_changed_and_a_source_is_removed(brand, compiled):
    changed = brand("update", compiled, "--answer", "audience=cafés", "--forget", "what_we_do", "--json").json
    connection = brand("status", compiled, "--json").json["sources"][0]["connection_id"]
    unsure = brand("disconnect", connection)
    gone = brand("disconnect", connection, "--yes", "--json").json

    assert changed["answers"] == {"audience": "cafés"}
    assert (unsure.code, gone["connection"]) == (2, connection)
    assert gone["rows"] > 5
    assert "No source is connected" in brand("compile", compiled, "--plan").err


def test_a_brand_of_a_tenant_is_gone_on_with_for_that_tenant(brand):
    said = brand("add", "Acme", "--tenant", "globex")

    assert said.err.strip().endswith(f"connect {said.out.strip()} instagram.posts HANDLE --tenant globex")


def test_a_compile_that_nobody_will_work_on_says_so(brand, acme):
    assert "brands" in brand("compile", acme).err


def test_whoever_stops_waiting_is_told_that_the_compile_goes_on(brand, acme, monkeypatch):
    def interrupted(_seconds):
        raise KeyboardInterrupt

    monkeypatch.setattr("haulwright.client.waiting.time.sleep", interrupted)

    answer = brand("compile", acme, "--wait")

    assert answer.code == 130
    assert "The compile goes on." in answer.err
    assert " brand status " in answer.err
    assert brand("status", acme, "--json").json["run"]["status"] == "pending"
