"""A small world for tests of the brief: feeds of the sandbox, feeds of the test's own, a worker without threads."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from email.utils import format_datetime
from typing import Any
from xml.sax.saxutils import escape

from haulwright import Haulwright, Principal
from haulwright.apps.brief.application import Brief
from haulwright.apps.brief.feeds import feed_id
from haulwright.apps.brief.settings import BriefSettings
from haulwright.sandbox import Sandbox
from haulwright.testing.harness import Harness

PACKAGE = "haulwright.apps.brief"
YEARLY = "0 0 31 12 *"
USUAL = BriefSettings(feed_rate="1000000/min", feed_burst=100_000, feed_concurrency=100, private_hosts="127.0.0.1")
"""The usual figures, but that feeds may be on this machine and are asked as fast as it goes."""
QUICK = replace(USUAL, ingest_cron=YEARLY, cluster_cron=YEARLY, retention_cron=YEARLY, cron=YEARLY)
"""The same with schedules that keep out of the way: the test says what is done, and when."""
LONG = " The council said that it would look into the matter before the end of the month, and that nobody was hurt." * 2


@dataclass
class World:
    """What a test of the brief works with."""

    bench: Harness
    sandbox: Sandbox
    app: Haulwright
    brief: Brief

    @classmethod
    def open(cls, bench: Harness, sandbox: Sandbox, figures: BriefSettings = QUICK) -> World:
        """The brief on a fresh app, on the database and clock of the bench."""
        app = Haulwright()
        brief = Brief(app, figures=figures)
        bench.use(app)
        return cls(bench, sandbox, app, brief)

    def paper(self, paper: str, tenant: str = "acme", ending: str = "xml", **options: Any) -> str:
        """A feed of the sandbox, and what it is called here."""
        return self.brief.add(Principal.of_tenant(tenant), f"{self.sandbox.url}/feeds/{paper}.{ending}", **options).id

    def add_feed(self, url: str, tenant: str = "acme") -> str:
        """Any feed, and what it is called here."""
        return self.brief.add(Principal.of_tenant(tenant), url, name=url.rpartition("/")[2]).id

    def tell(self, body: bytes, name: str = "own.xml", tenant: str = "acme") -> Any:
        """Have a file of the outside say this from now on, read it as a feed, and return what came of it."""
        self.sandbox.files.put(name, body)
        url = f"{self.sandbox.url}/files/{name}"
        feed = self.brief.feeds.find(tenant, self.id_of(url)) or self.brief.add(
            Principal.of_tenant(tenant), url, name=name
        )
        job = self.brief.fetch_task.using(tenant=tenant).enqueue(feed.id)
        self.bench.drain()
        return self.result(job.id)

    def read(self, tenant: str = "acme") -> list[Any]:
        """Read all feeds of a tenant, and return what came of each."""
        jobs = self.brief.ingest(Principal.of_tenant(tenant))
        self.bench.drain()
        return [self.result(job_id) for job_id in jobs]

    def result(self, job_id: str) -> Any:
        job = self.bench.store.listing.get(job_id)
        assert job.error_message is None, job.error_message
        return None if job.result is None else json.loads(job.result)

    def cluster(self, tenant: str = "acme") -> int:
        """Place what is new, and return how much that was."""
        (handle,) = self.brief.cluster(Principal.of_tenant(tenant))
        self.bench.drain()
        return int(self.result(handle.id))

    def publish(self, tenant: str = "acme", day: str | None = None) -> dict[str, Any]:
        """Publish the brief of a day, and return the newest."""
        self.brief.publish(Principal.of_tenant(tenant), day)
        self.bench.drain()
        return self.brief.publishing.get(tenant)

    def id_of(self, url: str) -> str:
        return feed_id(self.brief.feeds.checked_url(url))

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """What a person reads with SQL."""
        return self.bench.store.database.read(lambda connection: connection.execute(sql))

    def write(self, sql: str) -> None:
        """What a person breaks with SQL."""
        self.bench.store.database.transact(lambda connection: connection.execute(sql))

    def titles(self) -> list[str]:
        return [title for (title,) in self.rows("select title from raw_articles order by title")]


def rss(*items: dict[str, Any], title: str = "Own") -> bytes:
    """A feed of these items; what an item does not say is left out."""
    return (
        f'<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>{escape(title)}</title>'
        f"{''.join(map(_item, items))}</channel></rss>"
    ).encode()


def _item(fields: dict[str, Any]) -> str:
    if "at" in fields:
        fields = {**fields, "pubDate": format_datetime(fields["at"])}
    names = ("title", "link", "guid", "pubDate", "description")
    return f"<item>{''.join(f'<{name}>{escape(fields[name])}</{name}>' for name in names if name in fields)}</item>"
