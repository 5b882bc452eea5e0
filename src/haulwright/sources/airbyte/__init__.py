"""Airbyte v1: syncs that are started once or adopted, polled many at a time."""

from __future__ import annotations

from haulwright.sources.airbyte.client import BASE_URL, Airbyte
from haulwright.sources.airbyte.errors import (
    CLASSES,
    AirbyteAuthFailed,
    AirbyteBusy,
    AirbyteError,
    AirbyteRefused,
    AirbyteUnavailable,
    ErrorClass,
    error_class,
)
from haulwright.sources.airbyte.jobs import (
    SUCCEEDED,
    TERMINAL,
    AirbyteConnection,
    SyncJob,
    iso_duration,
)

__all__ = [
    "BASE_URL",
    "CLASSES",
    "SUCCEEDED",
    "TERMINAL",
    "Airbyte",
    "AirbyteAuthFailed",
    "AirbyteBusy",
    "AirbyteConnection",
    "AirbyteError",
    "AirbyteRefused",
    "AirbyteUnavailable",
    "ErrorClass",
    "SyncJob",
    "error_class",
    "iso_duration",
]
