"""Document 002, lines 139 to 145, 183 to 273, each executed or compared: plans, workers, secrets, operators."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from click.testing import CliRunner

from haulwright.api.auth.jwt import JwtAuthenticator, TokenRules
from haulwright.api.auth.keys import SingleKey, VerificationKey
from haulwright.apps.syncs.credentials import from_environment
from haulwright.apps.syncs.plans import plans
from haulwright.apps.syncs.settings import AirbyteSettings, SyncSettings
from haulwright.cli.kit.root import root
from haulwright.clock import CLOCK_VARIABLE, TESTING_VARIABLE
from haulwright.errors import InvalidValue
from haulwright.settings import Settings
from tests.api.tokens import AUDIENCE, ISSUER, SECRET, Issuer
from tests.apps.syncs.scenes import SECRETS, World, opened
from tests.support.api import serving

line = pytest.mark.line
JOBS = "/airbyte/v1/jobs"
PLANS = plans()
HOUR_US = 3_600_000_000
REPOSITORY = Path(__file__).parents[3]


def chosen(plan, cadence):
    """Whether a plan lets a tenant choose this cadence."""
    try:
        return PLANS[plan].cadence_us(cadence) is not None
    except InvalidValue:
        return False


@pytest.mark.parametrize(
    ("plan", "hours", "configurable"),
    [
        pytest.param("free", 24, False, marks=line("143", "Free is fixed at 24 hours")),
        pytest.param("growth", 6, True, marks=line("144", "Growth may be configured, down to 6 hours")),
        pytest.param("enterprise", 1, True, marks=line("145", "Enterprise may be configured, down to 1 hour")),
    ],
)
def test_the_cadence_of_a_plan(plan, hours, configurable):
    assert PLANS[plan].interval_us(None) == hours * HOUR_US
    assert chosen(plan, "30 h") is configurable
    assert not chosen(plan, f"{hours * 60 - 1} min")


@line(
    "183",
    "what the limits remember is in the memory of a process, and forgotten with it",
    differs="it is in the database: it holds for all workers and after a restart, without Redis",
    page="applications/syncs.md#how-it-works",
)
def test_another_process_does_not_know_what_the_limits_remember(world):
    world.connect(external_account_id="one-shop")
    world.connect("globex", external_account_id="one-shop")
    world.dispatch()
    world.bench.drain()
    world.bench._apps.clear()
    again = World.open(world.bench, world.sandbox)
    again.dispatch(tenant="globex")
    world.bench.drain()

    assert len(again.remote("globex")) == 1


@line("187-191", "a file of SQL creates the tables from psql: db migrate syncs --sql prints it")
@pytest.mark.postgres
def test_the_migration_is_a_file_for_psql(postgres_url, monkeypatch):
    monkeypatch.setenv("HAULWRIGHT_DATABASE_URL", postgres_url)
    printed = CliRunner().invoke(root, ["db", "migrate", "syncs", "--sql"])
    assert printed.exit_code == 0

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(printed.stdout)
        assert connection.execute("select count(*) from ingestion_jobs").fetchone() == (0,)


@line("196-207", "render.yaml describes a worker", missing="deployment files")
def test_there_is_a_file_for_render():
    assert list(REPOSITORY.glob("*/render.yaml")) or (REPOSITORY / "render.yaml").is_file()


def work(database_url, world, *options):
    """What the worker of syncs says while it does what is due, by the test's clock."""
    environ = {**os.environ, "HAULWRIGHT_DATABASE_URL": database_url, "AIRBYTE_CLIENT_ID": "client-shared"}
    environ |= {CLOCK_VARIABLE: str(Path.cwd() / "haulwright-clock"), TESTING_VARIABLE: "1"}
    environ |= {"AIRBYTE_BASE_URL": f"{world.sandbox.url}/airbyte/v1", "AIRBYTE_CLIENT_SECRET": "shared-secret-0001"}
    command = [sys.executable, "-m", "haulwright.apps.syncs", *options]
    return subprocess.run(command, env=environ, capture_output=True, text=True, timeout=100, check=True)


@line("204", "the worker is a module that is started with python -m, and says what it does")
@line("217", "the workspace's syncs run with what the environment names")
def test_the_worker_is_started_as_a_module(world, database_url):
    world.connect()
    world.dispatch()

    ended = work(database_url, world, "--until-empty")

    assert len(world.remote()) == 1
    assert "worker started" in ended.stderr


@line("206", "work is dispatched every five minutes")
def test_the_schedule_is_every_five_minutes(app):
    assert SyncSettings.load(Settings.load({})).cron == "*/5 * * * *"
    assert [schedule.cron for schedule, *_ in app.schedules.values()] == ["*/5 * * * *"]


@line("215", "AIRBYTE_BASE_URL is https://api.airbyte.com/v1 unless it is set")
@line("216", "AIRBYTE_API_TOKEN is the token")
@line("217", "AIRBYTE_WORKSPACE_ID is the workspace")
@pytest.mark.proves("CF-01")
def test_the_variables_of_the_environment():
    said = {"AIRBYTE_BASE_URL": "http://a", "AIRBYTE_API_TOKEN": "t-1", "AIRBYTE_WORKSPACE_ID": "w-1"}
    usual, ours = (AirbyteSettings.load(Settings.load(environ)) for environ in ({}, said))

    assert usual.base_url == "https://api.airbyte.com/v1"
    assert (ours.base_url, ours.workspace_id) == ("http://a", "w-1")
    assert from_environment("shared", said).secret.reveal() == "t-1"
    assert (
        Settings.load({"DATABASE_URL": "postgresql://db.example/haul"})["database_url"]
        == "postgresql://db.example/haul"
    )


@line("216", "a token alone is enough to sync")
def test_a_token_alone_is_enough(world, monkeypatch):
    monkeypatch.setenv("AIRBYTE_API_TOKEN", "a-token-of-ours")
    monkeypatch.setenv("AIRBYTE_BASE_URL", f"{world.sandbox.url}/airbyte/v1")
    world.connect()
    world.dispatch()
    world.syncs.clients._vault = from_environment

    world.go("1 min", times=2)

    assert len(world.remote()) == 1


@line(
    "216",
    "the token is required",
    differs="client credentials, which renew themselves, do as well",
    page="applications/syncs.md#credentials",
)
def test_nothing_but_a_token_will_do():
    assert from_environment("shared", {"AIRBYTE_CLIENT_ID": "me", "AIRBYTE_CLIENT_SECRET": "s"}) is None


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("test_isolation.py", marks=line("224-225", "a file of tests is about isolation")),
        pytest.param(
            "test_retry_and_dlq.py", marks=line("227-228", "a file of tests is about retries and dead letters")
        ),
    ],
)
def test_the_file_of_tests_is_there(name):
    assert (Path(__file__).parent / name).read_text("utf-8").count("def test_") >= 2


@line("233", "tenant_id comes from a JWT and from nothing else")
def test_a_tenant_comes_from_a_token(world):
    world.connect(name="ours")
    key = SingleKey(VerificationKey("HS256", SECRET.encode()))
    login, issuer = JwtAuthenticator(key, TokenRules(ISSUER, AUDIENCE)), Issuer("HS256", SECRET.encode())
    own = issuer.token(tenant="acme")
    foreign = issuer.token(tenant="globex")
    with serving(world.app, authenticators=[login]) as served:
        lists = [
            served.anonymous(Authorization=f"Bearer {token}", **{"Haulwright-Tenant": "acme"})
            .get("/syncs/connections")
            .json()["connections"]
            for token in (own, foreign)
        ]

    assert [[one["connector_id"] for one in each] for each in lists] == [["ours"], []]


@line("234", "tokens of Airbyte are never logged or shown")
def test_no_token_is_shown(world, caplog):
    secret = SECRETS["shared"]
    world.connect()
    world.sandbox.faults.add("status", path=JOBS, method="POST", code=500, body=f"bad client_secret={secret}")
    job_id = world.dispatch()
    with caplog.at_level("DEBUG"):
        world.go("1 min", times=4)

    tables = [
        f"select * from {name}"  # noqa: S608 - as written below
        for name in ("haulwright_history", "haulwright_events", "haulwright_effects", "syncs_runs")
    ]
    rows = [repr(world.rows(table)) for table in tables]
    assert world.job(job_id).state.value == "succeeded"
    assert not [text for text in (*rows, caplog.text, repr(world.syncs.clients)) if secret in text]


@line("236", "limits protect Airbyte and the accounts behind it")
def test_there_are_limits_by_default():
    figures = SyncSettings.load(Settings.load({}))

    assert (figures.account_rate, figures.api_rate, figures.min_interval) == ("1/min", "60/min", "60 s")


@pytest.mark.parametrize(
    ("question", "field"),
    [
        pytest.param("queued", "queued", marks=line("242", "jobs queued per minute")),
        pytest.param("by_connector", "success_rate", marks=line("243", "success rate by connector")),
        pytest.param("by_connector", "mean_duration_seconds", marks=line("244", "average duration")),
        pytest.param("dead_letters", "jobs", marks=line("245", "dead letters by tenant")),
        pytest.param("retries", "rate", marks=line("246", "retries by error")),
    ],
)
def test_a_measure_is_taken(world, question, field):
    world.connect(name="good")
    world.sandbox.airbyte.script(connection="acme good", ending="failed")
    world.finish(world.dispatch("good"), "20 s")
    world.connect(name="bad", status="inactive")
    world.finish(world.dispatch("bad"))

    values = [row[field] for row in world.syncs.stats.all()[question] if row[field] is not None]

    assert max(values) > 0


@line("240-246", "a monitor tracks them")
def test_a_monitor_can_track_the_measures(world):
    world.connect(name="good")
    world.finish(world.dispatch("good"), "20 s")
    with serving(world.app) as served:
        text = served.client(None, role="monitor").get(f"{served.address}/metrics").text

    told = {line.partition("{")[0].partition(" ")[0] for line in text.splitlines() if not line.startswith("#")}
    assert {"haulwright_queued_per_minute", "haulwright_connector_success_ratio", "haulwright_run_mean_seconds"} <= told
    assert re.findall(r"# TYPE (haulwright_dead_letters|haulwright_retries) gauge", text) == [
        "haulwright_dead_letters",
        "haulwright_retries",
    ]


STUCK = """
    SELECT job_id, tenant_id, connector_id, started_at
    FROM ingestion_jobs
    WHERE status = 'running'
      AND started_at < NOW() - INTERVAL '2 hours'"""
BY_CODE = """
    SELECT error_code, COUNT(*) as count
    FROM ingestion_jobs
    WHERE status = 'dead_letter'
    GROUP BY error_code
    ORDER BY count DESC"""


@line(
    "252-258",
    "the query for jobs that run for more than two hours runs as it is written",
    differs="SQLite has no intervals: datetime('now', '-2 hours'), or the view syncs_stuck",
    page="applications/syncs.md#in-sql",
    on="sqlite",
)
def test_the_query_for_stuck_jobs(world, database_url):
    world.connect()
    world.sandbox.airbyte.script(ending="never")
    job_id = world.dispatch()
    world.bench.drain()  # on the test's clock, which is years ago
    with closing(opened(database_url)) as connection:
        try:
            rows = connection.execute(STUCK).fetchall()
        except Exception as refused:  # noqa: BLE001 - whatever the driver says
            pytest.fail(str(refused))

    assert [(str(row[0]), *row[1:3]) for row in rows] == [(job_id, "acme", "shop")]


@line("262-269", "the query for dead letters by error code runs as it is written")
def test_the_query_for_dead_letters(world, database_url):
    world.connect(status="inactive")
    world.finish(world.dispatch())

    with closing(opened(database_url)) as connection:
        assert list(map(tuple, connection.execute(BY_CODE).fetchall())) == [("conflict", 1)]


@line("273", "min_interval_seconds can be adjusted, and the headers of Airbyte's own limits are heard")
def test_the_spacing_of_triggers_can_be_adjusted(world):
    assert SyncSettings.load(Settings.load({"SYNCS_MIN_INTERVAL": "120 s"})).min_interval_seconds == 120
    world.connect()
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "300"}
    world.sandbox.faults.add("status", path=JOBS, method="POST", code=429, headers=headers)
    world.dispatch()
    world.go("1 min", times=3)
    assert world.remote() == []

    world.go("1 min", times=4)

    assert len(world.remote()) == 1
    assert re.fullmatch(r"\d+", str(world.remote()[0].id))
