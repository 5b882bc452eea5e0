"""The pages of the applications in a real browser, with what each has after some work."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from haulwright import Haulwright, Principal
from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.settings import BrandSettings
from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.testing.harness import Harness
from tests.apps.brief.scenes import World as BriefWorld
from tests.apps.documents.scenes import World as DocumentsWorld
from tests.apps.prices.scenes import World as PricesWorld
from tests.apps.syncs.scenes import World as SyncsWorld
from tests.browser.conftest import log_in, new_tab
from tests.browser.scene import HOSTILE, Scene
from tests.browser.test_walk import SIZES
from tests.support.dashboard import people

pytestmark = pytest.mark.xdist_group("browser")  # one browser for all of them
WHEN_SHOPS_ARE_FULL = datetime(2026, 9, 1, 12, tzinfo=UTC)


def brief(bench, sandbox, folder):  # noqa: ARG001 - only documents need a folder
    world = BriefWorld.open(bench, sandbox)
    for paper in ("harbour-times", "northern-post"):
        world.paper(paper)
    world.read()
    world.add_feed(f"{sandbox.url}/files/none-{'long' * 30}.xml")
    world.cluster()
    day = world.publish()["day"]
    return world.app, ["/ui/brief", f"/ui/brief/days/{day}"]


def prices(bench, sandbox, folder):  # noqa: ARG001 - as above
    bench.freeze(WHEN_SHOPS_ARE_FULL)
    world = PricesWorld.open(bench, sandbox)
    world.source()
    world.collect(world.intake("Ardish crown", intake_id="crown"))
    world.intake("Ardish crown, of another year", intake_id="another")
    return world.app, ["/ui/prices", "/ui/prices/intakes/crown", "/ui/prices/intakes/another"]


def syncs(bench, sandbox, folder):  # noqa: ARG001 - as above
    world = SyncsWorld.open(bench, sandbox)
    for name in ("shop", "till"):
        world.connect(name=name)
    world.finish(world.dispatch())
    return world.app, ["/ui/syncs", "/ui/syncs/connections/shop", "/ui/syncs/stats"]


def documents(bench, sandbox, folder):
    world = DocumentsWorld.open(bench, sandbox, folder)
    planned = world.add("report.txt", title=HOSTILE[:100])
    world.bench.drain()
    world.add(f"later-{'long' * 40}.pdf")
    return world.app, ["/ui/documents", "/ui/documents?words=report", f"/ui/documents/{planned.key}"]


def brands(bench, sandbox, folder):  # noqa: ARG001 - as above
    acme, app = Principal.of_tenant("acme"), Haulwright()
    application = Brands(app, figures=BrandSettings.load(lag_seconds=0.001))
    bench.use(app)
    brand = application.add(acme, "Nordlys", {"mission": HOSTILE})
    application.connect(acme, brand.id, "instagram", "posts", "acme", settings={"cap": 3})
    for tone in ("calm", "warm"):
        application.update(acme, brand.id, answers={"tone": tone})
        run = application.compile(acme, brand.id)
        for _ in range(60):
            bench.drain()
            if application.compile_run(acme, run.id).is_over:
                break
            bench.advance(10)
    assert application.snapshot(acme, brand.id)["number"] == 2
    return app, ["/ui/brands", f"/ui/brands/{brand.id}", f"/ui/brands/{brand.id}?number=1"]


@pytest.fixture(params=[brief, prices, syncs, documents, brands], ids=lambda make: make.__name__)
def application(request, tmp_path, monkeypatch) -> Iterator[tuple[Scene, list[str]]]:
    """An application after some work, and its pages."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("haulwright.sources.source.FINGERPRINT_ROUNDS", 10)
    monkeypatch.setattr("haulwright.sources.vendor.LOOK_SECONDS", 0.01)
    monkeypatch.setattr("haulwright.sources.airbyte.client.LAG_SECONDS", 0.02)
    with closing(Harness(f"sqlite:///{tmp_path}/haulwright.db", tmp_path)) as bench:
        clock = SandboxClock(lambda: bench.clock.now() / 1_000_000)
        with Sandbox(seed=7, clock=clock) as sandbox:
            monkeypatch.setenv("APIFY_TOKEN", "token-of-mine")
            monkeypatch.setenv("APIFY_BASE_URL", f"{sandbox.url}/apify")
            with ThreadPoolExecutor(1) as pool:  # in the thread of the tests runs the event loop of Playwright
                app, paths = pool.submit(request.param, bench, sandbox, tmp_path / "content").result()
            with people(app) as served:
                token = app.operations().tokens.create("ada", role="tenant", tenant="acme").token
                yield Scene(app, served.address, token, {}), paths


def require_chart(page):
    """The chart is drawn, and still there when the page was read anew."""
    canvas = page.locator("figure[data-chart] canvas")
    expect(canvas).to_be_visible()
    with page.expect_response(page.url):
        page.evaluate("document.body.dispatchEvent(new CustomEvent('fresh'))")
    expect(page.locator(".htmx-request")).to_have_count(0)
    expect(canvas).to_be_visible()


def test_the_pages_of_an_application_stand_as_they_should(browser, application):
    scene, paths = application
    problems = {}
    for size, theme in (("desk", "light"), ("phone", "dark")):
        width, height = SIZES[size]
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=theme, reduced_motion="reduce"
        )
        tab = new_tab(context, scene)
        log_in(tab, scene)
        for path in paths:
            page = tab.open(path)
            if page.locator("figure[data-chart]").count():
                require_chart(page)
            problems[size, path] = tab.layout_problems()
            if size == "desk":
                problems[size, path] += tab.accessibility_problems()
        context.close()
        assert tab.faults == []
    assert {where: found for where, found in problems.items() if found} == {}
