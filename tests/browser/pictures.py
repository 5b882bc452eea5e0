"""The pictures of the documentation: `make screenshots` takes them anew, into docs/images.

No test of the suite, which leaves what is committed alone. Time stands still in them and moves by hand, so that
nearly the same pages come again on any machine: ids differ, and by how much a retry was put off.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from haulwright import Context, Haulwright, Retry
from haulwright.operations.principal import Principal
from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.testing.harness import Harness
from tests.apps.brief.scenes import World
from tests.browser.conftest import log_in, new_tab
from tests.browser.scene import Scene
from tests.browser.small_png import small_png
from tests.support.dashboard import people

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "images"
NOON = datetime(2026, 9, 1, 12, tzinfo=UTC)
WIDTH, LARGEST_BYTES = 1440, 150_000
HEIGHT = 1200
"""A longer page is cut here: below it is more of the same."""


def shop(bench: Harness) -> Haulwright:
    """An app with tasks that ask others, act, and now and then fail."""
    app = Haulwright()
    catalogue = app.source(
        "catalogue.example", rate="600/min", concurrency=4, budget="20000/day", breaker="50 failures / 5 min"
    )
    payments = app.source("payments.example", rate="60/min", budget="5000/day")
    app.source("mail.example", rate="120/min", burst=10)
    luck = Random(7)  # noqa: S311 - the same work each time

    @app.task(name="fetch_price", queue="prices", source=catalogue, retry=Retry(3, base="1 min"))
    def fetch_price(ctx: Context, sku: str) -> dict[str, object]:
        def read() -> dict[str, object]:
            with catalogue.enter() as visit:
                bench.advance(luck.uniform(0.05, 0.9))
                if luck.random() < 0.04:
                    visit.failed()
                    message = "the server closed the connection"
                    raise ConnectionError(message)
            return {"sku": sku, "price": "12.90", "currency": "EUR"}

        return dict(ctx.effect("read the page", read))

    @app.task(name="parse_page", queue="prices", retry=1)
    def parse_page(path: str) -> None:
        message = f"no price on {path}: the element .price is gone"
        raise LookupError(message)

    @app.task(name="charge_order", queue="orders", source=payments, retry=Retry(5, base="1 min"))
    def charge_order(ctx: Context, order: str, amount: str) -> dict[str, object]:
        def charge() -> dict[str, object]:
            with payments.enter():
                bench.advance(0.42)
            return {"charge": f"ch-{order}", "amount": amount, "currency": "EUR"}

        receipt = dict(ctx.effect("charge the card", charge))
        ctx.effect("reserve the goods", lambda: bench.advance(0.08) and {"shelf": "B-12", "pieces": 2})
        bench.advance(10)
        message = f"mail.example did not answer about {receipt['charge']} within 10 s"
        raise TimeoutError(message)

    @app.task(name="import_catalogue", queue="imports")
    def import_catalogue(name: str) -> None: ...

    return bench.use(app)


def hour_of_work(bench: Harness, app: Haulwright) -> str:
    """An hour minute by minute, and one job of it that waits for its second attempt."""
    luck, job = Random(11), ""  # noqa: S311 - as above
    operations = app.operations(Principal.admin("ada", "the supplier sends a new list at nine"))
    for minute in range(60):
        began = bench.now
        for number in range(luck.randint(4, 9)):
            sku = f"A-{minute * 10 + number:04}"
            operations.jobs.enqueue("fetch_price", {"sku": sku}, tenant=luck.choice(("acme", "globex")))
        if minute in {22, 23, 24, 51, 59}:
            operations.jobs.enqueue("parse_page", {"path": f"/products/{minute}"}, tenant="globex")
        if minute == 50:
            operations.queues.pause("imports")
            for name in ("spring", "summer", "autumn"):
                operations.jobs.enqueue("import_catalogue", {"name": name}, tenant="acme")
        if minute == 57:
            order = {"order": "2026-0917", "amount": "31.80"}
            job = operations.jobs.enqueue("charge_order", order, tenant="acme", correlation_id="order-2026-0917").id
        bench.drain()
        if minute == 57:
            operations.sources.pause("payments.example", seconds=1800)
        if minute < 59:
            bench.advance(max(1.0, 60 - (bench.now - began).total_seconds()))
    for number in range(4):
        operations.jobs.enqueue("fetch_price", {"sku": f"B-{number:04}"}, tenant="acme", delay=60 * (number + 1))
    how_long = "update haulwright_traffic set busy_us = requests * 447000"  # else measured on the machine's own clock
    bench.store.database.transact(lambda connection: connection.execute(how_long))
    return job


def papers(bench: Harness, sandbox: Sandbox) -> tuple[Haulwright, str]:
    """The brief of a day, from two papers."""
    world = World.open(bench, sandbox)
    for paper in ("harbour-times", "northern-post"):
        world.paper(paper, name=paper.replace("-", " ").title())
    world.read()
    world.cluster()
    return world.app, str(world.publish()["day"])


@pytest.fixture
def bench(tmp_path) -> Iterator[Harness]:
    """A clock in our hands."""
    with closing(Harness(f"sqlite:///{tmp_path}/haulwright.db", tmp_path)) as bench:
        bench.freeze(NOON)
        yield bench


def take(browser, app, pictures, *, role="admin", tenant=None):
    """Take a picture of each page, by name."""
    with people(app) as served:
        token = app.operations().tokens.create("ada", role=role, tenant=tenant).token
        context = browser.new_context(viewport={"width": WIDTH, "height": 900}, reduced_motion="reduce")
        tab = new_tab(context, Scene(app, served.address, token, {}))
        log_in(tab, Scene(app, served.address, token, {}))
        FOLDER.mkdir(exist_ok=True)
        for name, path in pictures.items():
            page = tab.open(path)
            assert tab.layout_problems() == []
            words = page.locator("body").inner_text()
            assert [name for name in (str(ROOT), str(Path.home()), os.uname().nodename) if name in words] == []
            height = min(HEIGHT, int(page.evaluate("document.querySelector('main').getBoundingClientRect().bottom")))
            file = FOLDER / f"{name}.png"
            file.write_bytes(
                small_png(page.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": WIDTH, "height": height}))
            )
            assert file.stat().st_size < LARGEST_BYTES, (name, file.stat().st_size)
        context.close()
    assert tab.faults == []


def test_pictures_of_the_engine(browser, bench):
    with ThreadPoolExecutor(1) as pool:  # in the thread of the tests runs the event loop of Playwright
        app = pool.submit(shop, bench).result()
        job = pool.submit(hour_of_work, bench, app).result()
    pages = {
        "overview": "/ui/overview",
        "jobs": "/ui/jobs?limit=20",
        "job": f"/ui/jobs/{job}",
        "sources": "/ui/sources",
    }
    take(browser, app, pages)


def test_a_picture_of_the_brief(browser, bench):
    clock = SandboxClock(lambda: bench.clock.now() / 1_000_000)
    with Sandbox(seed=7, clock=clock) as sandbox:
        with ThreadPoolExecutor(1) as pool:
            app, day = pool.submit(papers, bench, sandbox).result()
        take(browser, app, {"brief": f"/ui/brief/days/{day}"}, role="tenant", tenant="acme")
