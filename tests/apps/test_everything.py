"""The applications stand side by side on one app, each with its tables, and say what is missing."""

from __future__ import annotations

from contextlib import closing

import pytest

from haulwright import Haulwright
from haulwright.application.application import application
from haulwright.discovery import installed_applications
from haulwright.errors import NotFound, SchemaMismatch
from haulwright.stores import migrations
from haulwright.stores.connect import open_database

APPLICATIONS = {name: spec.package for name, spec in installed_applications().specs.items()}


@pytest.mark.parametrize("name", APPLICATIONS)
def test_the_tables_of_an_application_are_there_when_its_database_is_opened(database_url, name):
    with closing(open_database(database_url)) as database:
        migrations.migrate(database)
        if database.dialect == "postgres":
            migrations.migrate(database, APPLICATIONS[name])

    with closing(Haulwright(database_url)) as app:
        application(name, app)
        assert migrations.status(app.store.database, APPLICATIONS[name]).current


def test_postgresql_is_migrated_on_purpose_and_the_refusal_says_how(postgres_url):
    with closing(open_database(postgres_url)) as database:
        migrations.migrate(database)

    with closing(Haulwright(postgres_url)) as app:
        application("syncs", app)
        with pytest.raises(SchemaMismatch, match="tables of syncs") as refusal:
            _ = app.store
    assert refusal.value.hint == "Run: haulwright db migrate syncs"


def test_an_application_that_comes_after_the_database_was_opened_has_its_tables_too(sqlite_url):
    with closing(Haulwright(sqlite_url)) as app:
        _ = app.store
        syncs = application("syncs", app)

        assert migrations.status(app.store.database, APPLICATIONS["syncs"]).current
        assert application("syncs", app) is syncs


def test_all_applications_fit_on_one_app():
    with closing(Haulwright("sqlite:///never-opened.db")) as app:
        for name in APPLICATIONS:
            application(name, app)

        assert set(app.applications) == set(APPLICATIONS)
        assert app.tables == tuple(APPLICATIONS.values())


def test_an_application_that_does_not_exist_is_not_found(sqlite_url):
    with closing(Haulwright(sqlite_url)) as app, pytest.raises(NotFound):
        application("weather", app)


@pytest.mark.parametrize("name", APPLICATIONS)
def test_every_task_of_an_application_is_audited(sqlite_url, name):
    with closing(Haulwright(sqlite_url)) as app:
        application(name, app)

        assert app.tasks
        assert [task for task in app.tasks.values() if not task.options.audit] == []
