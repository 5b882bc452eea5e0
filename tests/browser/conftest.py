"""A real Chromium before a real server: one of each for all tests here, and a tab that notes whatever goes wrong in it.

The browser is the machine's own, from Debian's package; none is ever downloaded. Where there is none these tests are
skipped at home and fail in continuous integration (CI=true).
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Request, sync_playwright

from tests.browser.scene import Scene, set_scene
from tests.support.dashboard import people

NAMES = ("chromium", "chromium-browser", "google-chrome")
AXE = Path(__file__).parent / "vendor" / "axe.min.js"
VIOLATIONS = """document.addEventListener('securitypolicyviolation', (event) => {
  console.error(`CSP: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium, started once a file: as long as Playwright is there, its event loop runs in this thread."""
    path = next((found for name in NAMES if (found := shutil.which(name))), None)
    if path is None:
        reason = "there is no Chromium on this machine: apt-get install chromium"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    options = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=options)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A server with jobs of every kind."""
    app, jobs = set_scene(tmp_path_factory.mktemp("scene"))
    with people(app) as served:
        token = app.operations().tokens.create("ada", role="admin", tenant=None).token
        yield Scene(app, served.address, token, jobs)


@dataclass
class Tab:
    """A page of the browser, and what went wrong in it."""

    page: Page
    address: str
    faults: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)

    def open(self, path: str) -> Page:
        """Go to a page, and wait until it stands."""
        self.page.goto(f"{self.address}{path}", wait_until="load")
        return self.page

    def accessibility_problems(self) -> list[str]:
        """What axe finds that is serious: which rule, and where."""
        self.page.evaluate(f"{AXE.read_text()}; null")
        result = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [
            f"{violation['id']}: {node['target']} {node['failureSummary']}"
            for violation in result["violations"]
            if violation["impact"] in {"serious", "critical"}
            for node in violation["nodes"]
        ]

    def layout_problems(self) -> list[str]:
        """What is cut by the window, or lies upon something else."""
        problems: list[str] = self.page.evaluate(LAYOUT)
        return problems


LAYOUT = """() => {
  const problems = [];
  const root = document.documentElement;
  if (root.scrollWidth > root.clientWidth) problems.push(`the page is ${root.scrollWidth} wide in ${root.clientWidth}`);
  const inScroller = (e) => e.closest(".wide, pre, .suggestions, details:not([open]) > :not(summary), dialog, .skip");
  const seen = [...document.querySelectorAll("a, button, input, h1, h2, h3, time, dt, dd, label, summary, .state")]
    .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !inScroller(e));
  const lines = (e) => [...e.getClientRects()].map((box) => [e, box]); // of what is wrapped, each line for itself
  const boxes = seen.flatMap(lines).filter(([, box]) => box.width && box.height);
  const name = (e) => `<${e.tagName.toLowerCase()} ${e.id || e.className}> ${e.textContent.trim().slice(0, 30)}`;
  for (const [e, box] of boxes) {
    if (box.right > root.clientWidth + 1 || box.left < -1) problems.push(`${name(e)} is cut`);
  }
  for (let i = 0; i < boxes.length; i += 1) {
    for (let j = i + 1; j < boxes.length; j += 1) {
      const [a, one] = boxes[i], [b, other] = boxes[j];
      if (a.contains(b) || b.contains(a)) continue;
      const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
      if (wide > 2 && high > 4) problems.push(`${name(a)} lies upon ${name(b)}`);
    }
  }
  return problems.slice(0, 10);
}"""


def new_tab(context: BrowserContext, scene: Scene) -> Tab:
    """A tab that notes errors of the console, violations of the policy, and requests to anybody else."""
    context.add_init_script(VIOLATIONS)
    tab = Tab(context.new_page(), scene.address)
    host = urlsplit(scene.address).netloc

    def note(request: Request) -> None:
        tab.requests.append(request.url)
        if urlsplit(request.url).netloc not in {host, ""}:
            tab.faults.append(f"a request to {request.url}")

    tab.page.on("request", note)
    tab.page.on("console", lambda line: tab.faults.append(line.text) if line.type in {"error", "warning"} else None)
    tab.page.on("pageerror", lambda error: tab.faults.append(str(error)))
    return tab


@pytest.fixture
def tab(browser: Browser, scene: Scene) -> Iterator[Tab]:
    """A tab of somebody who has logged in, with whatever went wrong in it told at the end."""
    context = browser.new_context(viewport={"width": 1440, "height": 900}, reduced_motion="reduce")
    tab = new_tab(context, scene)
    log_in(tab, scene)
    yield tab
    context.close()
    assert tab.faults == []


def log_in(tab: Tab, scene: Scene) -> None:
    """Come in by the login page."""
    page = tab.open("/ui/login")
    page.fill("#token", scene.token)
    page.click("button")
    page.wait_for_url("**/ui/overview")
