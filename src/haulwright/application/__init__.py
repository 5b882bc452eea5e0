"""The kit for an application: what stands on an app with tables, tasks, settings and verbs of its own.

This is its menu; a name is fetched when it is first asked for. How one is written: docs/how-to/write-an-application.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from haulwright.discovery import lazy_names

if TYPE_CHECKING:
    from haulwright.application.application import Application, app_with
    from haulwright.application.settings import ApplicationSettings, setting
    from haulwright.application.tables import Tables, Writing
    from haulwright.application.verbs import verb

__all__ = ["Application", "ApplicationSettings", "Tables", "Writing", "app_with", "setting", "verb"]

__getattr__ = lazy_names(
    __name__,
    {
        "Application": "application",
        "ApplicationSettings": "settings",
        "Tables": "tables",
        "Writing": "tables",
        "app_with": "application",
        "setting": "settings",
        "verb": "verbs",
    },
)
