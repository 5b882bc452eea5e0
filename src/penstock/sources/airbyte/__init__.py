"""Airbyte v1: syncs that are started once or adopted, polled many at a time."""

from __future__ import annotations

from penstock.sources.airbyte.client import BASE_URL, Airbyte
from penstock.sources.airbyte.errors import (
    CLASSES,
    AirbyteAuthFailed,
    AirbyteBusy,
    AirbyteError,
    AirbyteRefused,
    AirbyteUnavailable,
    ErrorClass,
    error_class,
)
from penstock.sources.airbyte.jobs import SUCCEEDED, TERMINAL, Connection, SyncJob, iso_duration, offset_date_time

__all__ = [
    "BASE_URL",
    "CLASSES",
    "SUCCEEDED",
    "TERMINAL",
    "Airbyte",
    "AirbyteAuthFailed",
    "AirbyteBusy",
    "AirbyteError",
    "AirbyteRefused",
    "AirbyteUnavailable",
    "Connection",
    "ErrorClass",
    "SyncJob",
    "error_class",
    "iso_duration",
    "offset_date_time",
]
