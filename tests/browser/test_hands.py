"""The dashboard in the hands of a person: by keys alone, while things happen, without scripts."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from haulwright.operations.principal import Principal
from tests.browser.conftest import log_in, new_tab

pytestmark = pytest.mark.xdist_group("browser")  # one browser for all of them


@pytest.fixture
def operations(scene):
    """What somebody else does meanwhile."""
    return scene.app.operations(Principal.admin("somebody"))


def test_a_job_is_looked_for_and_cancelled_by_keys_alone(tab, operations):
    job = operations.jobs.enqueue("import_catalogue", {"name": "by keys"}, tenant="acme").id
    page = tab.open("/ui/overview")
    page.keyboard.press("g")
    page.keyboard.press("j")
    page.wait_for_url("**/ui/jobs")
    page.keyboard.press("/")
    page.keyboard.type("sta")
    expect(page.locator("#suggestions [role=option]").first).to_have_text(re.compile("^state:"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.type("que")
    expect(page.locator("#suggestions [role=option]")).to_have_text(re.compile("^state:queued"))
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Tab")
    expect(page.locator("#q")).to_have_value("state:queued ")
    page.keyboard.press("Enter")
    page.wait_for_url("**/ui/jobs?q=state%3Aqueued*")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/ui/jobs/{job}")
    page.keyboard.press("c")
    page.keyboard.type("ordered twice")
    page.keyboard.press("Enter")

    expect(page.locator(".notice")).to_contain_text("It is cancelled.")
    expect(page.locator("#standing")).to_contain_text("it was cancelled: ordered twice")
    assert str(operations.jobs.get(job).state) == "cancelled"


def test_keys_are_told_and_do_nothing_while_somebody_writes(tab):
    page = tab.open("/ui/jobs")
    page.keyboard.press("?")
    expect(page.locator("dialog#keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.fill("#q", "")
    page.focus("#q")
    page.keyboard.type("g?jxc")

    expect(page.locator("#q")).to_have_value("g?jxc")
    expect(page.locator("dialog#keys")).to_be_hidden()


def test_what_happens_appears_by_itself_and_not_while_it_is_paused(tab, operations):
    with tab.page.expect_request("**/events/stream"):
        page = tab.open("/ui/jobs")
    first = operations.jobs.enqueue("parse_page", {"url": "live"}, tenant="acme").id
    expect(page.locator(f"#job-{first}")).to_be_visible(timeout=20_000)

    page.click("#live")
    expect(page.locator("#live")).to_have_text("Paused")
    streams = [request for request in tab.requests if request.endswith("/events/stream")]
    second = operations.jobs.enqueue("parse_page", {"url": "paused"}, tenant="acme").id
    page.reload()
    expect(page.locator(f"#job-{second}")).to_be_visible()
    assert [request for request in tab.requests if request.endswith("/events/stream")] == streams

    with page.expect_request("**/events/stream"):
        page.click("#live")
    third = operations.jobs.enqueue("parse_page", {"url": "live again"}, tenant="acme").id
    expect(page.locator(f"#job-{third}")).to_be_visible(timeout=20_000)


def test_what_somebody_opened_or_writes_stays_when_the_page_is_read_anew(tab, scene, operations):
    page = tab.open(f"/ui/jobs/{scene.jobs['queued']}")
    page.fill("form[action$=cancel] input[name=reason]", "half a sent")
    page.evaluate("document.activeElement.blur()")
    page.locator("h1").hover()
    operations.jobs.retry(scene.jobs["queued"])
    with page.expect_response(lambda answer: answer.request.headers.get("hx-request") is not None):
        page.evaluate("document.body.dispatchEvent(new CustomEvent('fresh'))")

    expect(page.locator("#events")).to_contain_text("job.")
    expect(page.locator("form[action$=cancel] input[name=reason]")).to_have_value("half a sent")


def test_the_theme_is_chosen_and_kept(tab):
    page = tab.open("/ui/jobs")
    for theme in ("light", "dark"):
        page.click("#theme")
        expect(page.locator("html")).to_have_attribute("data-theme", theme)
    dark = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.click("#theme")
    expect(page.locator("#theme")).to_have_text("Theme: system")
    assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") != dark


def test_hostile_text_does_nothing(tab, scene):
    page = tab.open(f"/ui/jobs/{scene.jobs['hostile']}")

    assert page.locator("main img").count() == 0
    assert page.locator("main script").count() == 0
    expect(page.locator("main")).to_contain_text("<script>alert(2)</script>")


SMUGGLED = """
  window.ran = false;
  document.body.setAttribute("hx-on:click", "window.ran = true");
  htmx.process(document.body, true);
  document.body.click();
"""
WAYS = (
    "document.body.innerHTML = '<b>x</b>'",
    "document.body.append(Object.assign(document.createElement('script'), {text: 'window.ran = true'}))",
    "setTimeout('window.ran = true')",
    "document.body.setAttribute('onclick', 'window.ran = true')",
)


def test_no_text_becomes_code(tab):
    """What htmx would run of an attribute is taken from it, and the browser refuses all other ways."""
    page = tab.open("/ui/jobs")
    page.evaluate(SMUGGLED)
    for way in WAYS:
        outcome = page.evaluate(f"(() => {{ try {{ {way}; return 'done'; }} catch (e) {{ return e.name; }} }})()")
        assert (way, outcome) == (way, "TypeError")
    assert page.evaluate("window.ran") is False
    assert tab.faults
    tab.faults.clear()


def test_pages_are_read_and_forms_sent_without_scripts(browser, scene, operations):
    job = operations.jobs.enqueue("import_catalogue", {"name": "without scripts"}, tenant="acme").id
    context = browser.new_context(java_script_enabled=False)
    tab = new_tab(context, scene)
    log_in(tab, scene)
    page = tab.page
    page.click("nav >> text=Jobs")
    page.fill("#q", "state:queued")
    page.click(".filter button")
    page.click(f"a[href$='{job}']")
    expect(page.locator("#standing")).to_contain_text("queued")
    page.fill("form[action$=cancel] input[name=reason]", "no scripts here")
    page.click("form[action$=cancel] button")
    expect(page.locator(".notice")).to_contain_text("It is cancelled.")
    context.close()
    assert str(operations.jobs.get(job).state) == "cancelled"
    assert tab.faults == []


def test_who_logs_out_is_out(browser, scene):
    context = browser.new_context()
    tab = new_tab(context, scene)
    log_in(tab, scene)
    tab.page.click(".who summary")
    tab.page.click("text=Log out")
    tab.page.wait_for_url("**/ui/login")
    tab.open("/ui/jobs")
    assert "/ui/login?next=" in tab.page.url
    context.close()
    assert tab.faults == []
