"""The pages of the engine's nouns in a real browser: nothing is blocked, everybody can use it, nothing is cut."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.browser.conftest import log_in, new_tab

pytestmark = pytest.mark.xdist_group("browser")  # one browser for all of them
SCREENSHOTS = os.environ.get("HAULWRIGHT_SCREENSHOTS")
"""A folder for a picture of each page; none are taken without it."""
WINDOWS = {"desk-light": (1440, 900), "phone-dark": (390, 844)}
GROUP = "task=parse_page&error_class=LookupError&error_code=lookup_error"


@pytest.fixture(scope="module")
def pages(scene):
    """Where a person can be, with a name for each; two slots of the schedule were opened by hand."""
    app = scene.app
    app.schedule(
        "nightly", "30 2 * * *", app.tasks["fetch_price"], args={"sku": "A-1"}, tz="Europe/Berlin", tenant="acme"
    )
    schedules = app.operations().schedules
    list(schedules.backfill("nightly", 1_777_600_000_000_000, 1_778_000_000_000_000))
    return {
        "errors": "/ui/errors",
        "requeue": f"/ui/errors/requeue?{GROUP}",
        "queues": "/ui/queues",
        "queue": "/ui/queues/mail",
        "workers": "/ui/workers?all=1",
        "workers-none": "/ui/workers",
        "schedules": "/ui/schedules",
        "schedule": "/ui/schedules/nightly",
        "backfill": "/ui/schedules/nightly/backfill?first=2026-05-01T00:00&last=2026-05-09T00:00",
        "sources": "/ui/sources",
        "source": "/ui/sources/shop.example",
        "audit": "/ui/audit",
        "audit-wrong": "/ui/audit?name=queue.pausd",
        "doctor": "/ui/doctor",
        "settings": "/ui/settings",
        "tasks": "/ui/tasks",
        "task": f"/ui/tasks/fetch_price?job={scene.jobs['succeeded']}",
    }


@pytest.mark.parametrize("window", WINDOWS)
def test_each_page_stands_as_it_should(browser, scene, pages, window):
    width, height = WINDOWS[window]
    theme = window.partition("-")[2]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
    )
    tab = new_tab(context, scene)
    log_in(tab, scene)
    problems = {}
    for name, path in pages.items():
        tab.open(path)
        if SCREENSHOTS:
            tab.page.screenshot(path=Path(SCREENSHOTS) / f"{name}-{window}.png", full_page=True)
        problems[name] = tab.layout_problems()
        if window.startswith("desk"):
            problems[name] += tab.accessibility_problems()
    context.close()
    assert {name: found for name, found in problems.items() if found} == {}
    assert tab.faults == []
