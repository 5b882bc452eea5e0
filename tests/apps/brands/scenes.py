"""What the tests of brands have in common."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from haulwright.apps.brands.application import Brands
from haulwright.apps.brands.rows import Brand, BrandConnection, PaidRun
from haulwright.operations.principal import Principal

PACKAGE = "haulwright.apps.brands"
TENANT = "acme-inc"
OTHER = "other-inc"
ACME = Principal.of_tenant(TENANT)
GLOBEX = Principal.of_tenant(OTHER)
ADMIN = Principal.admin("root")
SUPPORT = Principal.support("sam", tenant=TENANT, reason="ticket 7")
POSTS = "apify~instagram-post-scraper"
VIDEOS = "clockworks~tiktok-scraper"
STARTS = "/apify/v2/actors/*/runs"
SIX = (
    ("instagram", "posts", "acme"),
    ("instagram", "reels", "acme"),
    ("tiktok", "profile_videos", "acme"),
    ("linkedin", "company_posts", "acme"),
    ("youtube", "channel_videos", "acme"),
    ("web", "pages", "https://acme.example/"),
)


def connect(brands: Brands, brand: Brand, *sources: tuple[str, str, str], **options: Any) -> list[BrandConnection]:
    """Connect sources to a brand; without any, its Instagram posts."""
    return [
        brands.connect(Principal.of_tenant(brand.tenant), brand.id, *source, **options)
        for source in sources or (SIX[0],)
    ]


def runs_of(brands: Brands, connection: BrandConnection) -> list[PaidRun]:
    """The runs of a connection, the newest first."""
    rows = brands.tables.read("runs.of_connection", tenant=connection.tenant, connection_id=connection.id, limit=100)
    return [PaidRun.of(row) for row in rows]


def rows(brands: Brands, sql: str) -> list[tuple[Any, ...]]:
    """What a statement of the test's own finds."""
    return brands.app.store.database.read(lambda connection: connection.execute(sql))


def count(brands: Brands, table: str) -> int:
    """How many rows a table has."""
    return int(rows(brands, f"select count(*) from {table}")[0][0])  # noqa: S608 - a name of ours


def row(brands: Brands, columns: str = "status") -> Any:
    """The only job, as the view shows it."""
    values = rows(brands, f"select {columns} from brandbrain_job")[0]  # noqa: S608 - names of ours
    return values[0] if len(values) == 1 else tuple(values)


def moment(value: str | datetime | None) -> datetime | None:
    """A time as either database gives it."""
    return value if value is None or isinstance(value, datetime) else datetime.fromisoformat(value).replace(tzinfo=UTC)
