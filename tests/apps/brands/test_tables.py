"""The database itself keeps what brands promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from haulwright.apps.brands.evidence.normalization import normalize
from tests.apps.brands.scenes import ACME, TENANT, connect, rows, runs_of

INSERT = (
    "insert into brands_evidence (tenant, id, brand_id, connection_id, run_id, platform, capability, content_type, "
    "external_id, canonical_url, body, metrics, media, hashtags, links, observed_at, created_at, updated_at) "
    "select tenant, '01a1e2ec-def9-72f8-a441-77d89bd465b1', brand_id, connection_id, run_id, {platform}, capability, "
    "content_type, {external_id}, {url}, body, metrics, media, hashtags, links, 0, 0, 0 from brands_evidence limit 1"
)


@pytest.mark.proves("NM-03")
@pytest.mark.parametrize(
    "said",
    [
        ("platform", "external_id", "canonical_url"),
        ("'instagram'", "null", "canonical_url"),
        ("'instagram'", "''", "canonical_url"),
        ("'web'", "null", "null"),
        ("'web'", "null", "''"),
    ],
)
def test_the_database_refuses_a_second_row_for_one_thing_and_one_without_identity(brands, brand, settle, said):
    connect(brands, brand, settings={"cap": 1})
    brands.compile(ACME, brand.id)
    settle()
    sql = INSERT.format(**dict(zip(("platform", "external_id", "url"), said, strict=True)))

    with pytest.raises(Exception, match=r"(?i)unique|check"):
        brands.app.store.database.transact(lambda connection: connection.execute(sql))


def test_one_unfinished_run_a_connection_is_kept_by_the_database(brands, brand, bench):
    (connection,) = connect(brands, brand)
    brands.compile(ACME, brand.id)
    bench.drain()
    (run,) = runs_of(brands, connection)
    order = {"id": "01a1e2ec-def9-72f8-a441-77d89bd465b1", "brand_id": brand.id, "connection_id": connection.id}

    with pytest.raises(Exception, match=r"(?i)unique"):
        brands.tables.write(
            "runs.order", tenant=TENANT, job_id=run.job_id, actor="a", input="{}", input_hash="h", marked=True, cap=1,
            **order,
        )  # fmt: skip


@pytest.mark.proves("NM-06")
def test_normalizing_says_what_it_created_and_what_it_updated(brands, brand, settle):
    (connection,) = connect(brands, brand, settings={"cap": 5})
    brands.compile(ACME, brand.id)
    settle()
    (run,) = runs_of(brands, connection)
    brands.app.store.database.transact(
        lambda c: [c.execute(f"delete from brands_evidence{part}") for part in ("_refs", "")]  # noqa: S608 - ours
    )
    known = brands.registry.get("instagram", "posts")

    first = brands.tables.transact(lambda writing: normalize(writing, run, known, 3, 0.5))
    second = brands.tables.transact(lambda writing: normalize(writing, run, known, 5, 0.5))

    assert [(one.created, one.updated) for one in (first, second)] == [(3, 0), (2, 3)]
    assert rows(brands, "select count(*) from brands_evidence where revision = 2") == [(3,)]


@pytest.mark.proves("TS-02")
def test_these_tests_run_on_a_real_file_and_on_a_real_server(brands, bench):
    if bench.store.database.dialect == "sqlite":
        path = Path(bench.database_url.removeprefix("sqlite:///"))
        assert path.read_bytes().startswith(b"SQLite format 3")
        assert rows(brands, "pragma database_list")[0][2] == str(path)
    else:
        assert rows(brands, "select version()")[0][0].startswith("PostgreSQL")
