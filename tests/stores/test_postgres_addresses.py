"""Addresses of PostgreSQL: each server of them is tried, what they ask for holds, and no password is repeated."""

from __future__ import annotations

from contextlib import closing
from urllib.parse import quote, urlencode

import pytest
from psycopg.conninfo import conninfo_to_dict

from haulwright.engine.transitions import State
from haulwright.errors import DatabaseUnavailable, DatabaseUnsuitable
from haulwright.stores import migrations
from haulwright.stores.connect import open_database
from haulwright.stores.postgres.address import safe_url
from haulwright.stores.store import Store
from tests.stores.scenes import new_job

SECRET = "hunter2"  # noqa: S105 - what must not be seen

pytestmark = pytest.mark.postgres


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://root:{SECRET}@127.0.0.1:1/db",
        f"postgres://root:{SECRET}@127.0.0.1:1/db",
        f"postgresql+psycopg://root:{SECRET}@127.0.0.1:1/db",
        f"postgresql://127.0.0.1:1/db?user=root&password={SECRET}",
        f"postgresql://root:{SECRET}@no-such-host.invalid/db",
        f"postgresql://root:{SECRET}@127.0.0.1:port/db",
    ],
)
def test_an_unreachable_server_is_told_without_its_password(url):
    with pytest.raises(DatabaseUnavailable, match="cannot be reached") as refusal:
        Store.open(url)

    assert SECRET not in str(refusal.value)
    assert refusal.value.hint


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        (f"postgresql://root:{SECRET}@db1:5432/name", "postgresql://db1:5432/name"),
        (
            f"postgresql://root:{SECRET}@db1:1,db2:2/name?target_session_attrs=read-write",
            "postgresql://db1:1,db2:2/name",
        ),
        (f"postgresql://root:{SECRET}@db1,db2:2/name", "postgresql://db1,db2:2/name"),
        (f"postgresql://root:{SECRET}@/name?host=db1,db2&port=5", "postgresql://db1:5,db2:5/name"),
    ],
)
def test_an_address_is_shown_with_each_server_and_without_its_password(url, shown):
    assert safe_url(url) == shown


def test_an_address_of_several_servers_leads_to_the_one_that_takes_writes(postgres_url, tmp_path):
    parts = conninfo_to_dict(postgres_url)
    several = parts | {"host": f"{tmp_path},{parts['host']}", "target_session_attrs": "read-write"}
    address = f"postgresql:///?{urlencode(several, quote_via=quote)}"
    with closing(Store(open_database(address))) as store:
        migrations.migrate(store.database)
        store.jobs.enqueue([job := new_job()])

        assert store.listing.get(job.id).state is State.QUEUED


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql:/root:{SECRET}@host/db",
        f"postgresql://root:{SECRET}@[::1/db",
        f"postgresql://root:{SECRET}%zz@host/db",
        f"postgresql://root:p@{SECRET}@host/db",
        f"postgresql://root:{SECRET}@host/db?nonsense=1",
    ],
)
def test_an_address_that_cannot_be_understood_is_refused_without_its_password(url):
    with pytest.raises(DatabaseUnsuitable) as refusal:
        Store.open(url)

    assert SECRET not in str(refusal.value)


def test_what_an_address_says_about_time_outs_holds(postgres_url):
    joined = "&" if "?" in postgres_url else "?"
    with closing(open_database(f"{postgres_url}{joined}connect_timeout=3&keepalives_idle=77")) as database:
        given = database.read(lambda connection: connection.raw.info.get_parameters())

    assert (given["connect_timeout"], given["keepalives_idle"], given["keepalives_count"]) == ("3", "77", "3")
