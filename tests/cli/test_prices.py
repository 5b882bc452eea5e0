"""`haulwright price`: from an intake and a source to what it is worth, from the command line."""

from __future__ import annotations

import csv
import io
import time
from contextlib import closing

import pytest

from haulwright import Haulwright
from haulwright.apps.prices import Prices
from haulwright.sandbox import Sandbox, SandboxClock

TENANT = ("--tenant", "acme")
RULES = """
url = "{base}/shop/coinhall/api/listings?q={{title}}"
rate = "1000/s"
robots = false

[listing]
format = "json"
item = "listings[*]"
next_page = "next"
fields.id = {{select = "id"}}
fields.title = {{select = "title"}}
fields.url = {{select = "url", type = "url"}}
fields.price = {{select = "price.amount", type = "money"}}
fields.currency = {{select = "price.currency"}}
fields.price_type = {{select = "status"}}
fields.date = {{select = "sold_at", type = "date"}}
"""
INSIDE = RULES.format(base="http://10.0.0.1").encode()


@pytest.fixture(scope="module")
def outside():
    """A shop on loopback at the end of its first year: everything is on sale or sold."""
    with Sandbox(seed=7, clock=SandboxClock.standing(min(time.time(), 1_798_000_000))) as outside:
        outside.shop.script(shop="coinhall", limit={"count": 100_000, "seconds": 60})
        yield outside


@pytest.fixture
def price(haulwright, monkeypatch):
    """`haulwright price ...` on a database that has its tables, where shops on this machine are allowed."""
    monkeypatch.setenv("HAULWRIGHT_PRICES_PRIVATE_HOSTS", "127.0.0.1")
    haulwright("db", "migrate", "prices")
    return lambda *words, **more: haulwright("price", *words, **more)


@pytest.fixture
def source(price, outside):
    answer = price("source", "coinhall", "--rules", "-", *TENANT, given=RULES.format(base=outside.url))
    assert answer.code == 0, answer.err
    return "coinhall"


@pytest.fixture
def intake(price):
    return price("add", "Ardish crown", "--id", "crown", "--year", "1887", "--set", "metal=silver", *TENANT).out.strip()


@pytest.fixture
def work(database_url):
    """Do what is due."""

    def run():
        with closing(Haulwright(database_url)) as app:
            Prices(app)
            return app.run_worker(queues=("prices",), until_empty=True, concurrency=2)

    return run


def test_an_intake_is_added_collected_and_shown(price, source, intake, work, outside):
    job_id = price("collect", intake, *TENANT).out.strip()
    work()

    shown = price("show", intake, *TENANT, "--json").json
    truth = [one for one in outside.shop.pieces("coinhall") if "Ardish crown" in one.title]
    assert len(shown["points"]) == len(truth)
    assert (shown["valuation"]["basis"], shown["valuation"]["currency"]) == ("sold", "GBP")
    assert (shown["jobs"][0]["id"], shown["jobs"][0]["status"]) == (job_id, "succeeded")
    assert price("show", job_id, *TENANT, "--json").json["result"]["points"] == len(truth)
    (listed,) = price("list", "--json").json["intakes"]
    assert (listed["intake_id"], listed["valuation"]["centre"]) == (intake, shown["valuation"]["centre"])
    assert source in shown["points"][0]["source_id"]


def test_people_read_tables(price, source, intake, work):
    price("collect", "--all", *TENANT)
    work()

    told = price("show", intake, *TENANT).out
    assert all(word in told for word in ("worth", "GBP", "confidence", "succeeded", "silver"))
    assert source in price("source", *TENANT).out
    assert "Ardish crown" in price("list").out


def test_the_prices_that_made_the_worth_come_first_and_what_is_left_out_is_said_in_words(price, source, intake, work):
    del source
    price("collect", intake, *TENANT)
    work()

    document = price("show", intake, *TENANT, "--json").json
    text = price("show", intake, *TENANT, "--limit", "1000").out

    counted, others = len(document["valuation"]["points"]), document["valuation"]["left_out"]["other_basis"]
    kinds = [line.split()[2] for line in text.splitlines() if line.startswith("price-coinhall@acme  20")]
    assert counted
    assert others
    assert kinds[:counted] == ["sold"] * counted
    assert f"{others} other kinds of price" in text
    assert "other_basis" not in text
    assert "Ardish crown, 1887" in price("export", intake, *TENANT, "--format", "svg").out


def test_points_and_chart_are_exported(price, source, intake, work, tmp_path):
    del source
    price("collect", intake, *TENANT)
    work()

    rows = list(csv.DictReader(io.StringIO(price("export", intake, *TENANT).out)))
    document = price("export", intake, *TENANT, "--json").json
    price("export", intake, *TENANT, "--format", "svg", "--output", str(tmp_path / "crown.svg"))

    assert [one["dedupe_key"] for one in rows] == [one["dedupe_key"] for one in document["points"]]
    assert "Ardish crown" in (tmp_path / "crown.svg").read_text("utf-8")


def test_a_source_is_shown_switched_off_and_on(price, source, intake):
    shown = price("source", source, *TENANT, "--json").json
    assert (shown["id"], shown["enabled"], shown["rules"]["rate"]) == ("price-coinhall@acme", True, "1000/s")

    assert price("source", source, *TENANT, "--off", "--json").json["enabled"] is False
    assert "is disabled" in price("collect", intake, *TENANT, "--source", source).err
    assert price("source", source, *TENANT, "--on", "--json").json["enabled"] is True


def test_a_key_in_the_address_of_a_source_is_not_shown(price, outside):
    rules = RULES.format(base=outside.url).replace("?q=", "?api_key=hush-hush&q=")

    told = price("source", "keyed", "--rules", "-", *TENANT, given=rules)
    document = price("source", "keyed", *TENANT, "--json")

    assert "hush" not in told.out + told.err + document.out
    assert document.json["rules"]["url"].endswith("?api_key=***&q={title}")


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("add", *TENANT), 2, "described by nothing"),
        (("add", "crown", "--currency", "doubloon", *TENANT), 2, "is not known"),
        (("collect", *TENANT), 2, "Name an intake"),
        (("collect", "crown", *TENANT), 2, "no source"),
        (("collect", "crown", "--source", "nothing", *TENANT), 3, "price source nothing"),
        (("show", "crown"), 3, "intake or job crown"),
        (("show", "nothing", *TENANT), 3, "intake or job nothing"),
        (("export", "nothing", *TENANT), 3, "intake nothing"),
        (("list", "--limit", "0"), 2, "between 1 and 1000"),
        (("source", "--off", *TENANT), 2, "Say which source"),
        (("source", "nothing", *TENANT), 3, "price source nothing"),
    ],
)
def test_what_cannot_be_right_is_refused_with_a_reason(on_file, words, code, why):
    on_file("price", "add", "Ardish crown", "--id", "crown", *TENANT)

    answer = on_file("price", *words)

    assert (answer.code, why in answer.err) == (code, True), answer.err


@pytest.mark.parametrize("given", [b"url = ", b'url = "https://shop.example/x"', b"\xff", b"#" * 300_000, INSIDE])
def test_rules_that_cannot_be_gone_by_are_refused(on_file, tmp_path, given):
    (tmp_path / "rules.toml").write_bytes(given)

    answer = on_file("price", "source", "odd", "--rules", str(tmp_path / "rules.toml"), *TENANT)

    assert answer.code == 2
    assert on_file("price", "source", *TENANT, "--json").json == {"sources": []}


@pytest.mark.proves("CLI-05")
def test_prices_have_a_worker_of_their_own(database_url, price, source, intake, process):
    price("collect", intake, "--source", source, *TENANT)
    words = ("worker", "-A", "haulwright.apps.prices.worker:app", "--queues", "prices", "--until-empty")

    ended = process(*words, extra={"HAULWRIGHT_DATABASE_URL": database_url})

    assert ended.wait(60) == 0, ended.communicate()[1]
    assert price("show", intake, *TENANT, "--json").json["valuation"]["centre"]
    ended.communicate()
