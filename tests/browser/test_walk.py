"""Every page in a real browser: nothing is blocked or comes from elsewhere, everybody can use it, nothing is cut."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.browser.conftest import log_in, new_tab

pytestmark = pytest.mark.xdist_group("browser")  # one browser for all of them
SCREENSHOTS = os.environ.get("HAULWRIGHT_SCREENSHOTS")
"""A folder for a picture of each page; none are taken without it."""
DIFFERENT = {
    "overview",
    "jobs",
    "jobs-wrong",
    "jobs-none",
    "job-dead",
    "job-queued",
    "bulk",
    "bulk-new",
    "bulk-action",
    "acting",
    "login",
}
"""Pages that another one does not stand for, for whom it takes a second each."""
SIZES = {"desk": (1440, 900), "phone": (390, 844)}


def pages(scene):
    """Where a person can be, with a name for each."""
    jobs = {f"job-{name}": f"/ui/jobs/{job_id}" for name, job_id in scene.jobs.items()}
    return {
        "overview": "/ui/overview",
        "jobs": "/ui/jobs",
        "jobs-wrong": "/ui/jobs?q=task:fetch_price%20stat:dead",
        "jobs-none": "/ui/jobs?q=task:nobody",
        **jobs,
        "bulk": "/ui/bulk",
        "bulk-new": "/ui/bulk/new?act=requeue&q=task:parse_page%20state:dead",
        "bulk-none": "/ui/bulk/new?act=cancel&q=task:nobody",
        "bulk-action": f"/ui/bulk/{scene.jobs['bulk']}",
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
    for name, path in pages(scene).items():
        tab.open(path)
        if SCREENSHOTS:
            tab.page.screenshot(path=Path(SCREENSHOTS) / f"{name}-{size}-{theme}.png", full_page=True)
        problems[name] = tab.layout_problems()
        if size == "desk" and name in DIFFERENT:
            problems[name] += tab.accessibility_problems()
    context.close()
    assert {name: found for name, found in problems.items() if found} == {}
    assert tab.faults == []
