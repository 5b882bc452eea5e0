"""Every page in a real browser: nothing is blocked or comes from elsewhere, everybody can use it, nothing is cut."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.browser.conftest import log_in, new_tab

pytestmark = pytest.mark.xdist_group("browser")  # one browser for all of them
SCREENSHOTS = os.environ.get("HAULWRIGHT_SCREENSHOTS")
"""A folder for a picture of each page; none are taken without it."""
SIMILAR = {"job-succeeded", "job-retrying", "job-cancelled", "job-hostile", "job-large", "bulk-none"}
"""Pages for which another one stands where axe is asked, which takes a second each."""
SIZES = {"desk": (1440, 900), "phone": (390, 844)}


def pages(scene):
    """Where a person can be beside what the navigation leads to, with a name for each."""
    jobs = {f"job-{name}": f"/ui/jobs/{job_id}" for name, job_id in scene.jobs.items()}
    return {
        "jobs-wrong": "/ui/jobs?q=task:fetch_price%20stat:dead",
        "jobs-none": "/ui/jobs?q=task:nobody",
        **jobs,
        "bulk-new": "/ui/bulk/new?act=requeue&q=task:parse_page%20state:dead",
        "bulk-none": "/ui/bulk/new?act=cancel&q=task:nobody",
        "bulk-action": f"/ui/bulk/{scene.jobs['bulk']}",
        "queue": "/ui/queues/mail",
        "acting": "/ui/acting",
        "login": "/ui/login",
    }


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_each_page_stands_as_it_should(browser, scene, theme, size):
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
    )
    tab = new_tab(context, scene)
    log_in(tab, scene)
    problems = {}
    entries = [urlsplit(link.get_attribute("href")).path for link in tab.page.locator(".top nav a").all()]
    for name, path in {**{entry.rpartition("/")[2]: entry for entry in entries}, **pages(scene)}.items():
        tab.open(path)
        if SCREENSHOTS:
            tab.page.screenshot(path=Path(SCREENSHOTS) / f"{name}-{size}-{theme}.png", full_page=True)
        problems[name] = tab.layout_problems()
        if size == "desk" and name not in SIMILAR:
            problems[name] += tab.accessibility_problems()
    context.close()
    assert {name: found for name, found in problems.items() if found} == {}
    assert tab.faults == []
