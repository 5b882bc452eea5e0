"""Every figure that can be set: its name, its meaning, its value, and where the value came from.

The last one that says something wins: the default, `[tool.penstock]` in the nearest pyproject.toml, the environment.
Flags of a command and arguments in code stand above all three. A secret is never shown.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.errors import InvalidValue
from penstock.redaction import MASK, redact

DAY = 86400.0
_SWITCH = {"true": True, "1": True, "yes": True, "on": True, "false": False, "0": False, "no": False, "off": False}


@dataclass(frozen=True, slots=True)
class Figure:
    """One thing that can be set."""

    name: str
    kind: type
    default: Any
    meaning: str
    variables: tuple[str, ...]
    """The environment variables that set it, the first that is there wins."""
    minimum: float = 0.0
    maximum: float = 10 * 365 * DAY
    secret: bool = False


def _figure(name: str, default: Any, meaning: str, *others: str, kind: type | None = None, **limits: Any) -> Figure:
    known = kind or (str if default is None else type(default))
    return Figure(name, known, default, meaning, (f"PENSTOCK_{name.upper()}", *others), **limits)


FIGURES: tuple[Figure, ...] = (
    _figure("database_url", "sqlite:///penstock.db", "where the jobs are", "DATABASE_URL", secret=True),
    _figure("app", None, "the application, as package.module:name"),
    _figure("worker_name", None, "the name that a worker goes by; nothing is decided by it", "WORKER_ID"),
    _figure("queues", "default", "the queues that a worker serves, comma separated, the first first"),
    _figure("concurrency", 8, "runs at once in one worker process", minimum=1, maximum=10_000),
    _figure("poll_interval_seconds", 5.0, "the longest sleep of an idle worker", minimum=0.01, maximum=3600),
    _figure("stale_check_interval_seconds", 60.0, "between two sweeps for lost leases", minimum=0.1, maximum=3600),
    _figure("grace_seconds", 25.0, "what a stopping worker gives its runs to finish", maximum=86400),
    _figure("keep_succeeded_seconds", 30 * DAY, "how long succeeded jobs are kept"),
    _figure("keep_skipped_seconds", 30 * DAY, "how long skipped jobs are kept"),
    _figure("keep_cancelled_seconds", 30 * DAY, "how long cancelled jobs are kept"),
    _figure("keep_dead_seconds", 90 * DAY, "how long dead letters are kept"),
    _figure("keep_events_seconds", 180 * DAY, "how long events are kept"),
    _figure("keep_slots_seconds", 180 * DAY, "how long the slots of schedules are kept"),
    _figure("stuck_effect_seconds", 240.0, "when an intent without a run counts as abandoned", minimum=1),
    _figure(
        "cache_ttl_seconds", 3600.0, "how long a source declared with cache=True keeps answers", "CACHE_TTL_SECONDS"
    ),
    _figure("cache_enabled", True, "whether answers of sources are kept at all", "CACHE_ENABLED"),  # noqa: FBT003 - its default
    _figure("log_format", "text", "text for people, json for programs"),
    _figure("apify_token", None, "the token of the Apify account that pays for runs", "APIFY_TOKEN", secret=True),
    _figure("apify_base_url", "https://api.apify.com", "where Apify answers", "APIFY_BASE_URL"),
    _figure("airbyte_base_url", "https://api.airbyte.com/v1", "where Airbyte answers", "AIRBYTE_BASE_URL"),
    _figure(
        "airbyte_api_token",
        None,
        "a token for Airbyte; client credentials are better",
        "AIRBYTE_API_TOKEN",
        secret=True,
    ),
    _figure("airbyte_client_id", None, "the client that asks Airbyte for tokens", "AIRBYTE_CLIENT_ID"),
    _figure("airbyte_client_secret", None, "the secret of that client", "AIRBYTE_CLIENT_SECRET", secret=True),
    _figure("airbyte_workspace_id", None, "the workspace whose syncs are polled", "AIRBYTE_WORKSPACE_ID"),
    _figure("brief_ingest_cron", "*/15 * * * *", "when the feeds of the brief are asked"),
    _figure("brief_cluster_cron", "5,20,35,50 * * * *", "when new articles are gathered into events"),
    _figure("brief_retention_cron", "30 3 * * *", "when old articles are removed"),
    _figure("brief_cron", "0 6 * * *", "when the brief of the day is published"),
    _figure("brief_tz", "UTC", "the time zone of these four, and of the day of a brief"),
    _figure("brief_attempts", 3, "runs of one of their slots; 1 is at most once", minimum=1, maximum=100),
    _figure("brief_feed_rate", "60/min", "requests to one host of feeds"),
    _figure("brief_feed_burst", 10, "how many of them may go at once after a quiet time", minimum=1, maximum=10_000),
    _figure("brief_feed_concurrency", 4, "how many of them may be under way", minimum=1, maximum=10_000),
    _figure("brief_private_hosts", "", "hosts and networks of feeds that need not be public, comma separated"),
    _figure(
        "brief_keep_articles_seconds", 90 * DAY, "how long articles that no brief cites are kept", minimum=30 * DAY
    ),
    _figure("brief_events", 20, "how many events a brief tells of", minimum=1, maximum=200),
    # brands
    _figure("brands_attempts", 3, "how often a compile, or a source of it, is tried", minimum=1, maximum=1000),
    _figure(
        "brands_lease_seconds", 600.0, "the lease of a compile, and what one run of it may take", minimum=1, maximum=DAY
    ),
    _figure("brands_request_seconds", 30.0, "what one request to Apify may take", minimum=0.001, maximum=3600),
    _figure("brands_fresh_seconds", DAY, "how long what a run found is used instead of bought anew", minimum=0.001),
    _figure("brands_poll_interval_seconds", 5.0, "between two looks at a run", minimum=0.001, maximum=3600),
    _figure("brands_poll_timeout_seconds", 300.0, "after so long a run is aborted", minimum=0.001, maximum=DAY),
    _figure(
        "brands_lag_seconds", 5.0, "how long an interrupted start is looked for at Apify", minimum=0.001, maximum=60
    ),
    _figure("brands_max_charge_usd", 1.0, "what one run may cost", minimum=0.001, maximum=10_000),
    _figure("brands_bad_items_ratio", 0.5, "a larger share of unusable items fails a run", minimum=0.001, maximum=1),
    _figure("brands_evidence_items", 2_000, "how many items of a source a compile looks at", minimum=1, maximum=50_000),
    _figure("brands_keep_raw_seconds", 90 * DAY, "how long the raw items of finished runs are kept", minimum=1),
    _figure("brands_cron", "41 * * * *", "when runs that were left behind and old raw items are looked after"),
    _figure("brands_disabled", None, "capabilities that are switched off, comma separated"),
    _figure("brands_capabilities", None, "a TOML file with capabilities of your own"),
    _figure("brands_draft_usd", 1.0, "what one draft of a model may cost", maximum=10_000),
    _figure("brands_prompt_usd", None, "the price of a million prompt tokens", kind=float, maximum=1e6),
    _figure("brands_completion_usd", None, "the price of a million completion tokens", kind=float, maximum=1e6),
    _figure("openai_api_key", None, "the key of the account that pays for a model", "OPENAI_API_KEY", secret=True),
    _figure("openai_base_url", "https://api.openai.com/v1", "where the model answers", "OPENAI_BASE_URL"),
    # syncs
    _figure("syncs_cron", "*/5 * * * *", "when syncs that are due are dispatched", "SYNCS_CRON"),
    _figure("syncs_min_interval", "60 s", "between two triggers of a connection", "SYNCS_MIN_INTERVAL"),
    _figure("syncs_account_rate", "1/min", "triggers for one external account", "SYNCS_ACCOUNT_RATE"),
    _figure("syncs_api_rate", "60/min", "requests to Airbyte with one credential", "SYNCS_API_RATE"),
    _figure("syncs_api_burst", 10, "how many of them may go at once", "SYNCS_API_BURST", minimum=1, maximum=10_000),
    _figure("syncs_api_concurrency", 4, "and be under way", "SYNCS_API_CONCURRENCY", minimum=1, maximum=10_000),
    _figure("syncs_poll", "30 s", "between two looks at a workspace while it has syncs", "SYNCS_POLL"),
    _figure("syncs_longest", "24 h", "a sync that takes longer is stopped", "SYNCS_LONGEST"),
    # documents
    _figure("documents_folder", "runs/content", "where the files of documents are"),
    _figure("documents_staging", None, "where they are until they are whole; else .staging in that folder"),
    _figure("documents_private_hosts", "", "hosts and networks of documents that need not be public, comma separated"),
    _figure("documents_host_rate", "120/min", "requests to one host of documents"),
    _figure("documents_host_burst", 10, "how many of them may go at once", minimum=1, maximum=10_000),
    _figure("documents_host_concurrency", 4, "how many of them may be under way", minimum=1, maximum=10_000),
    _figure("documents_attempts", 5, "how often a document is tried", minimum=1, maximum=1000),
    _figure("documents_lease_seconds", 120.0, "the lease of a document", minimum=1, maximum=DAY),
    _figure("documents_largest_bytes", 2 * 1024**3, "a larger document is refused", minimum=1, maximum=64 * 1024**3),
    _figure("documents_cron", "*/5 * * * *", "when it is looked whether documents should be reconciled"),
    _figure("documents_reconcile_seconds", 3600.0, "after so long they are, whatever happened", minimum=60),
    _figure("documents_stale_part_seconds", 3600.0, "how long a part without a job is left alone"),
    _figure("documents_reading_seconds", 30.0, "how long the text of a PDF may take to read", minimum=1, maximum=3600),
    _figure("documents_reading_bytes", 1024**3, "how much memory that may take", minimum=256 * 1024**2, maximum=2**40),
    # prices
    _figure(
        "prices_lease_seconds",
        300.0,
        "the lease of a collection: without a heartbeat for so long it is taken back",
        "JOB_LOCK_TIMEOUT_SECONDS",
        minimum=1,
        maximum=DAY,
    ),
    _figure("prices_private_hosts", "", "hosts and networks of price sources that need not be public, comma separated"),
)


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of a figure and where it came from."""

    figure: Figure
    value: Any
    origin: str

    @property
    def shown(self) -> str:
        """The value as people may see it."""
        if self.value is None:
            return ""
        if self.figure.secret and "://" not in str(self.value):
            return MASK
        if self.figure.secret:
            return redact(str(self.value).split("?", 1)[0])
        return str(self.value)


class Settings:
    """All figures of this process."""

    def __init__(self, values: Mapping[str, Setting]) -> None:
        self._values = dict(values)

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
        """Read the figures from the project file and the environment; what makes no sense is refused."""
        environ = os.environ if environ is None else environ
        project, path = _project_table(folder or Path.cwd())
        unknown = sorted(set(project) - {figure.name for figure in FIGURES})
        if unknown:
            known = ", ".join(figure.name for figure in FIGURES)
            hint = f"Known are: {known}."
            raise InvalidValue(f"[tool.penstock] in {path}", unknown[0], "is not a setting", hint=hint)
        return cls({figure.name: _resolve(figure, project, path, environ) for figure in FIGURES})

    def __getitem__(self, name: str) -> Any:
        return self._values[name].value

    def setting(self, name: str) -> Setting:
        """One figure with its origin."""
        return self._values[name]

    def with_flag(self, name: str, value: Any, flag: str) -> Settings:
        """The same with what a flag of a command says; None says nothing. What makes no sense is refused."""
        if value is None:
            return self
        figure = self._values[name].figure
        return Settings({**self._values, name: Setting(figure, _parse(figure, value, flag), flag)})

    def all(self) -> list[Setting]:
        """Every figure with its origin, in the order of this file."""
        return list(self._values.values())


def _resolve(figure: Figure, project: Mapping[str, Any], path: Path | None, environ: Mapping[str, str]) -> Setting:
    for variable in figure.variables:
        if environ.get(variable):
            return Setting(figure, _parse(figure, environ[variable], variable), variable)
    if figure.name in project:
        return Setting(figure, _parse(figure, project[figure.name], str(path)), str(path))
    return Setting(figure, figure.default, "default")


def _parse(figure: Figure, raw: Any, origin: str) -> Any:
    what = f"{figure.name} ({origin})"
    if figure.kind is str:
        return str(raw)
    if figure.kind is bool:
        return _switch(figure, raw, what)
    try:
        value = figure.kind(raw)
    except (TypeError, ValueError):
        raise InvalidValue(what, raw, "is not a number", hint=f"It is {figure.meaning}.") from None
    if not figure.minimum <= value <= figure.maximum:
        limits = f"is not between {figure.minimum:g} and {figure.maximum:g}"
        raise InvalidValue(what, raw, limits, hint=f"It is {figure.meaning}.")
    return value


def _switch(figure: Figure, raw: Any, what: str) -> bool:
    word = str(raw).strip().lower()
    if word not in _SWITCH:
        raise InvalidValue(what, raw, "is neither true nor false", hint=f"It is {figure.meaning}.")
    return _SWITCH[word]


def _project_table(folder: Path) -> tuple[Mapping[str, Any], Path | None]:
    for place in (folder, *folder.parents):
        path = place / "pyproject.toml"
        if path.is_file():
            try:
                table = tomllib.loads(path.read_text("utf-8")).get("tool", {}).get("penstock", {})
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise InvalidValue(str(path), "the file", f"cannot be read as TOML: {error}") from None
            return table, path
    return {}, None
