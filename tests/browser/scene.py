"""What stands in the database of the browser tests: a job of every kind, some that need somebody, and hostile text."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from haulwright import Context, Haulwright
from haulwright.operations.principal import Principal

HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)</script> \u202egnp.exe\u202c \x1b[2J 😀 مرحبا'


@dataclass(frozen=True)
class Scene:
    """A server and what is in it."""

    app: Haulwright
    address: str
    token: str
    jobs: dict[str, str]
    """Ids of jobs by what they show."""


def set_scene(folder: Path) -> tuple[Haulwright, dict[str, str]]:
    """An app on a file, with work that was done, failed, waits, and is served by nobody."""
    app = Haulwright(f"sqlite:///{folder}/haulwright.db")
    shop = app.source("shop.example", rate="30/min", breaker="5 failures / 5 min")

    @app.task(queue="prices")
    def fetch_price(ctx: Context, sku: str) -> dict[str, object]:
        price = ctx.effect("read the page", lambda: {"sku": sku, "price": "12.90", "currency": "EUR"})
        ctx.effect("tell the warehouse", lambda: "told")
        return price

    @app.task(queue="prices", audit=True, retry=1)
    def parse_page(url: str) -> None:
        message = f"no price on {url}: the layout of the shop has changed, and the element .price is gone"
        raise LookupError(message)

    @app.task(queue="mail", retry=5)
    def send_letter(to: str) -> None:
        message = f"the server of {to.partition('@')[2]} closed the connection"
        raise ConnectionError(message)

    @app.task(queue="imports", source=shop)
    def import_catalogue(name: str) -> None: ...

    @app.task(queue="prices")
    def echo(text: str) -> str:
        return text

    operations = app.operations(Principal.admin("seed"))
    operations.schema.migrate()
    jobs = {"bulk": operations.bulk.start("retry", f"args.text:{json.dumps(HOSTILE, ensure_ascii=False)}").job.id}
    app.run_worker(until_empty=True, queues=["default"])
    for number in range(70):
        jobs["succeeded"] = operations.jobs.enqueue("fetch_price", {"sku": f"A-{number:04}"}, tenant="acme").id
    for number in range(3):
        url = f"https://shop.example/products/{number}?" + "color=blue&" * 12
        jobs["dead"] = operations.jobs.enqueue("parse_page", {"url": url}, tenant="globex").id
    jobs["retrying"] = operations.jobs.enqueue("send_letter", {"to": "ada@example.com"}, tenant="acme").id
    jobs["hostile"] = operations.jobs.enqueue("echo", {"text": HOSTILE}, tenant="acme", tags=["<b>bold</b>"]).id
    jobs["large"] = operations.jobs.enqueue("echo", {"text": "word " * 20_000}, tenant="acme").id
    app.run_worker(until_empty=True, queues=["prices", "mail"])
    jobs["cancelled"] = operations.jobs.enqueue("import_catalogue", {"name": "spring"}, tenant="acme").id
    operations.jobs.cancel(jobs["cancelled"], "ordered twice")
    for name in ("summer", "autumn", "winter"):
        jobs["queued"] = operations.jobs.enqueue("import_catalogue", {"name": name}, tenant="acme").id
    operations.queues.pause("mail")
    operations.sources.pause("shop.example", seconds=3600)
    return app, jobs
