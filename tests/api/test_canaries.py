"""Secrets that are put into every credential come out of no answer, no line of the log, no event and no metric."""

from __future__ import annotations

import json
import logging
import re
from contextlib import closing

import pytest

from haulwright import Permanent
from haulwright.operations.principal import Principal
from tests.api.application_scenes import DAY, app_with_all, furnish_applications
from tests.support.api import serving

MARK = "canary"
CREDENTIALS = {
    name: f"{MARK}-{number}-5f3a9c1e7b2d4860"
    for number, name in enumerate(
        ("APIFY_TOKEN", "AIRBYTE_API_TOKEN", "AIRBYTE_CLIENT_SECRET", "OPENAI_API_KEY", "HAULWRIGHT_JWT_SECRET")
    )
}
IN_ADDRESS = f"{MARK}-address-5f3a9c1e7b2d4860"
FORGED = f"eyJhbGciOiJub25lIn0.{MARK}-forged-5f3a9c1e7b2d4860."
ONCE = "tokens_create"
"""The one answer that shows a secret, to whoever made it."""


@pytest.fixture
def credentials(monkeypatch):
    for name, secret in CREDENTIALS.items():
        monkeypatch.setenv(name, secret)


def leaks(place, text):
    return [(place, found) for found in re.findall(rf"{MARK}-\w+-5f3a9c1e7b2d4860|hw_\w{{20,}}", text)]


@pytest.mark.usefixtures("credentials")
def test_no_secret_comes_out_of_an_answer_a_log_an_event_or_a_metric(database_url, caplog):
    caplog.set_level(logging.DEBUG)
    found = []
    with closing(app_with_all(database_url)) as app, serving(app) as served:
        whole = {**CREDENTIALS, "address": f"https://bot:{IN_ADDRESS}@shop.example/?access_token={IN_ADDRESS}"}

        @app.task(name="leaky", retry=1)
        def leaky() -> None:
            raise Permanent(f"GET {whole['address']} with Authorization: Bearer {whole['APIFY_TOKEN']}: {whole}")

        ids = furnish_applications(app, "acme")["acme"]
        app.applications["brief"].add(Principal.of_tenant("acme"), f"https://bot:{IN_ADDRESS}@paper.example/feed")
        failed = leaky.using(tenant="acme", queue="leaks").enqueue()
        app.run_worker(queues=["leaks"], until_empty=True)
        names = {**ids, "job_id": failed.id, "name": "leaks", "day": DAY, "task": "leaky"}

        for caller in (served.client("acme"), served.admin(), served.anonymous(Authorization=f"Bearer {FORGED}")):
            for path, methods in served.document["paths"].items():
                if "get" not in methods or (path.endswith("/stream") and "{job_id}" not in path):
                    continue
                url = re.sub(r"\{(\w+)\}", lambda name: names.get(name[1], "nothing"), path)
                answer = caller.get(f"{served.address}{url}")
                found += leaks(path, answer.text + json.dumps(dict(answer.headers)))
            broken = caller.post("/jobs", json={"task": f"no-{IN_ADDRESS}", "Authorization": FORGED})
            found += leaks("problem", re.sub(f"no-{IN_ADDRESS}", "", broken.text))
        metrics = served.admin().get(f"{served.address}/metrics").text
        events = app.operations().events.page(limit=1000).rows

    assert "leaky" in metrics or "haulwright_" in metrics
    found += leaks("metrics", metrics)
    found += [leak for event in events for leak in leaks(event.name, json.dumps(event.data, default=str))]
    found += leaks("log", "\n".join(record.getMessage() for record in caplog.records))
    assert found == []
