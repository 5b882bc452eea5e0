"""Figures for a monitor: what really happened, in a text that monitors read, and nothing that is nobody's business."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from haulwright import Haulwright, Retry
from haulwright.api import open_metrics
from haulwright.api.open_metrics import MEDIA_TYPE
from haulwright.engine.ids import first_id_of
from haulwright.operations import metrics
from haulwright.operations.principal import Principal
from tests.api.conftest import serving
from tests.operations.fleet import worker
from tests.stores.scenes import claim, new_job

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
SAMPLE = re.compile(r'(?P<name>[a-z_]+)(?:\{(?P<labels>(?:[a-z_]+="(?:[^"\\]|\\.)*",?)*)\})? (?P<value>[-+0-9.e]+)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
SUFFIXES = {"gauge": ("",), "gaugehistogram": ("_bucket", "_gcount", "_gsum")}
NAME = re.compile(r"haulwright_[a-z_]+")


def parse(text):
    """The samples of an OpenMetrics text by name and labels. Strict: what is not of the format is an error."""
    *lines, end, empty = text.split("\n")
    assert (end, empty) == ("# EOF", "")
    samples, types, family = {}, {}, ""
    for line in lines:
        if line.startswith("# TYPE "):
            _, _, family, kind = line.split(" ")
            assert family not in types
            types[family] = kind
        elif line.startswith("# HELP "):
            assert line.split(" ")[2] == family
        else:
            match = SAMPLE.fullmatch(line)
            assert match, line
            assert match["name"] in {family + suffix for suffix in SUFFIXES[types[family]]}, line
            key = (match["name"], *sorted(LABEL.findall(match["labels"] or "")))
            assert key not in samples
            samples[key] = float(match["value"])
    return samples


@pytest.fixture
def app(database_url):
    app = Haulwright(database_url)

    @app.task(event_fields=("connector_id", "rows"), retry=1)
    def sync(connector_id: str) -> dict[str, int]:
        if connector_id == "bad":
            raise ConnectionError("api_key=tok_canary")
        return {"rows": 40}

    @app.task(retry=Retry(2, base=0), queue="slow")
    def stumble() -> None:
        raise TimeoutError("no")

    app.operations().schema.migrate()
    return app


def scrape(served, client=None):
    answer = (client or served.client(None, role="monitor")).get(f"{served.address}/metrics")
    assert (answer.status_code, answer.headers["content-type"]) == (200, MEDIA_TYPE), answer.text
    return parse(answer.text)


@pytest.mark.proves("ME-01", "ME-02")
def test_what_happened_is_measured(app, monkeypatch):
    monkeypatch.setattr(open_metrics, "KEPT_SECONDS", 0.0)
    with serving(app) as served:
        client = served.client()
        for connector in ("good", "good", "good", "bad"):
            client.post("/jobs", json={"task": "sync", "args": {"connector_id": connector}})
        client.post("/jobs", json={"task": "stumble"})
        waiting = scrape(served)
        dead_worker = worker()
        app.store.workers.register(dead_worker, ["orphans"], ["sync"])
        app.store.jobs.enqueue([new_job(queue="orphans") for _ in range(2)])
        claim(app.store, dead_worker.id, 2, "orphans")
        app.store.recovery.recover([dead_worker.id])
        app.run_worker(queues=["default", "slow"], until_empty=True)
        seen = scrape(served)

    assert waiting["haulwright_queue_jobs", ("queue", "default"), ("state", "due")] == 4
    assert waiting["haulwright_oldest_due_seconds", ("queue", "default")] > 0
    assert waiting["haulwright_queued_per_minute", ("queue", "default")] == 4 / 5

    assert seen["haulwright_connector_success_ratio", ("connector", "good")] == 1
    assert seen["haulwright_connector_success_ratio", ("connector", "bad")] == 0
    assert seen["haulwright_rows_processed", ("connector", "good")] == 120
    assert seen["haulwright_dead_letters", ("tenant", "acme")] == 2
    assert seen["haulwright_retries", ("error", "TimeoutError")] == 1
    assert seen["haulwright_startup_recoveries",] == 2
    assert seen["haulwright_lease_losses", ("detected_by", "worker_startup_recovery")] == 2
    assert seen["haulwright_jobs_ended", ("outcome", "succeeded"), ("queue", "default")] == 3
    assert seen["haulwright_jobs_ended", ("outcome", "dead"), ("queue", "default")] == 1
    assert seen["haulwright_jobs_ended", ("outcome", "dead"), ("queue", "slow")] == 1
    assert seen["haulwright_run_mean_seconds", ("task", "sync")] > 0
    for name in ("haulwright_run_seconds", "haulwright_wait_seconds"):
        buckets = [
            value for key, value in seen.items() if key[:1] == (f"{name}_bucket",) and ("queue", "default") in key
        ]
        assert buckets == sorted(buckets)
        assert buckets[-1] == seen[f"{name}_gcount", ("queue", "default")] == 4
        assert seen[f"{name}_gsum", ("queue", "default")] > 0


def test_who_may_not_look_sees_nothing_and_a_monitor_sees_nothing_else(served):
    for stranger in (served.client(), served.support()):
        assert stranger.get(f"{served.address}/metrics").status_code == 403
    assert served.anonymous().get(f"{served.address}/metrics").status_code == 401
    monitor = served.client(None, role="monitor")
    scrape(served, served.admin())  # what was made for an admin is no way in for others
    assert served.client().get(f"{served.address}/metrics").status_code == 403
    scrape(served, monitor)
    assert monitor.get("/jobs").status_code == 403
    assert monitor.post("/jobs", json={"task": "sync", "args": {"connector_id": "x"}}).status_code == 403
    assert monitor.get("/events/stream").status_code == 403


def test_scrapes_within_seconds_ask_the_database_once(served, monkeypatch):
    reads = []
    read = metrics.MetricOperations.read
    monkeypatch.setattr(metrics.MetricOperations, "read", lambda noun: reads.append(noun) or read(noun))
    monitor = served.client(None, role="monitor")
    assert scrape(served, monitor) == scrape(served, monitor)
    assert len(reads) == 1


def test_labels_are_bounded_and_say_no_secret(app, monkeypatch):
    monkeypatch.setattr(metrics, "MOST_LABELS", 3)
    app.store.jobs.enqueue([new_job(tenant=f"t{number}", queue=f"q{number}") for number in range(9)])
    app.operations(Principal.of_tenant("t1")).jobs.enqueue("sync", {"connector_id": 'odd "name"\n\\'})
    app.run_worker(queues=["default"], until_empty=True)

    text = open_metrics.open_metrics(app.operations().metrics.read())

    samples = parse(text)
    queued = {key[1][1]: value for key, value in samples.items() if key[0] == "haulwright_queued_per_minute"}
    assert len(queued) == 4
    assert sum(queued.values()) == pytest.approx(10 / 5)
    assert queued["other"] == pytest.approx(7 / 5)
    assert samples["haulwright_more_queues",] == 1
    assert samples["haulwright_rows_processed", ("connector", r"odd \"name\"\n\\")] == 40
    assert "canary" not in text
    app.close()


INDEXES = {
    "runs": ("history_finished",),
    "waits": ("history_finished",),
    "connectors": ("history_finished",),
    "retries": ("events_at", "events_job"),
    "dead": ("history_unresolved",),
    "waiting": ("jobs_waiting",),
    "queued": ("haulwright_jobs", "haulwright_history"),
}


@pytest.mark.parametrize("entry", sorted(INDEXES))
def test_a_window_is_read_by_its_index_and_not_all_of_history(app, entry):
    database = app.store.database
    (statement,) = app.store.metrics._book[entry]
    params = {"since": 0, "limit": 10, "first": first_id_of(0)}

    def explain(connection):
        if database.dialect == "sqlite":
            return connection.run(("explain query plan " + statement,), params)
        connection.execute("set local enable_seqscan = off")  # an empty table is read as it is
        return connection.run(("explain " + statement,), params)

    plan = str(database.transact(explain))
    assert all(index in plan for index in INDEXES[entry])
    assert "Seq Scan on haulwright" not in plan
    assert not re.search(r"SCAN haulwright_\w+'", plan)  # on SQLite: a scan that names no index
    app.close()


def test_the_board_and_the_alerts_name_only_what_there_is(served):
    served.app.store.jobs.enqueue([new_job()])
    families = set(re.findall(r"# TYPE (\S+)", served.admin().get(f"{served.address}/metrics").text))
    there = families | {name + suffix for name in families for suffix in SUFFIXES["gaugehistogram"]}
    board = json.loads((DEPLOY / "grafana" / "haulwright.json").read_text())
    targets = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    alerts = (DEPLOY / "prometheus" / "alerts.yml").read_text()
    named = set(NAME.findall(" ".join(targets))) | set(NAME.findall(alerts))
    assert len(named) > 15
    assert named <= there


def test_the_page_says_what_each_figure_is(served):
    text = served.admin().get(f"{served.address}/metrics").text
    page = (DEPLOY.parent / "docs" / "how-to" / "scrape-the-metrics.md").read_text()
    assert set(re.findall(r"# TYPE (\S+)", text)) == set(re.findall(r"^\| `(haulwright_[a-z_]+)`", page, re.MULTILINE))
