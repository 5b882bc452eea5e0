"""Every figure that can be set: its name, its meaning, its value, and where the value came from.

The last one that says something wins: the default, `[tool.haulwright]` in the nearest pyproject.toml, the environment.
Flags of a command and arguments in code stand above all three. A secret is never shown.

The engine's own figures stand here. Those of an application stand in its settings module, which is imported when one
of them is asked for, when all are listed, or when the project file has a name that is none of the engine's.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from haulwright.discovery import BrokenApplication, installed_applications
from haulwright.errors import InvalidValue, Refused
from haulwright.redaction import MASK, redact

DAY = 86400.0
LONGEST: Final = 10 * 365 * DAY
ENGINE: Final = "engine"
PREFIX: Final = "HAULWRIGHT_"
_NO_FIGURES: Final = frozenset(
    {"HAULWRIGHT_TEST_DATABASE_URL", "HAULWRIGHT_TEST_CLOCK", "HAULWRIGHT_TESTING", "HAULWRIGHT_SUPERVISOR_PID"}
)
"""Variables of ours that are no settings: those of tests, and what a supervisor tells its workers."""
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
    maximum: float = LONGEST
    secret: bool = False
    owner: str = ENGINE
    """The application that it belongs to, or the engine."""


def figure(name: str, default: Any, meaning: str, *others: str, kind: type | None = None, **limits: Any) -> Figure:
    """A figure of this name; `others` are environment variables beside HAULWRIGHT_NAME that set it as well."""
    kind = kind or (str if default is None else type(default))
    return Figure(name, kind, default, meaning, (f"HAULWRIGHT_{name.upper()}", *others), **limits)


FIGURES: tuple[Figure, ...] = (
    figure("database_url", "sqlite:///haulwright.db", "where the jobs are", "DATABASE_URL", secret=True),
    figure("app", None, "the application, as package.module:name"),
    figure("worker_name", None, "the name that a worker goes by; nothing is decided by it", "WORKER_ID"),
    figure("queues", "default", "the queues that a worker serves, comma separated, the first first"),
    figure("concurrency", 8, "runs at once in one worker process", minimum=1, maximum=10_000),
    figure("poll_interval_seconds", 5.0, "the longest sleep of an idle worker", minimum=0.01, maximum=3600),
    figure(
        "stale_check_interval_seconds",
        60.0,
        "between two whole sweeps: jobs past their deadline, leases lost long ago",
        minimum=0.1,
        maximum=3600,
    ),
    figure("grace_seconds", 25.0, "what a stopping worker gives its runs to finish", maximum=86400),
    figure("keep_succeeded_seconds", 30 * DAY, "how long succeeded jobs are kept"),
    figure("keep_skipped_seconds", 30 * DAY, "how long skipped jobs are kept"),
    figure("keep_cancelled_seconds", 30 * DAY, "how long cancelled jobs are kept"),
    figure("keep_dead_seconds", 90 * DAY, "how long dead letters are kept"),
    figure("keep_events_seconds", 180 * DAY, "how long events are kept"),
    figure("keep_slots_seconds", 180 * DAY, "how long the slots of schedules are kept"),
    figure("stuck_effect_seconds", 240.0, "when an intent without a run counts as abandoned", minimum=1),
    figure(
        "cache_ttl_seconds", 3600.0, "how long a source declared with cache=True keeps answers", "CACHE_TTL_SECONDS"
    ),
    figure("cache_enabled", True, "whether answers of sources are kept at all", "CACHE_ENABLED"),  # noqa: FBT003 - its default
    figure(
        "private_hosts",
        "",
        "hosts and networks that sources of your own may reach although they are not public, comma separated",
    ),
    figure("web_host", "127.0.0.1", "where the HTTP API and the dashboard listen"),
    figure("web_port", 8717, "at which port they listen; 0 is any that is free", maximum=65535),
    figure("web_root_path", "", "the prefix under which a proxy offers them, such as /haulwright"),
    figure("web_login", None, "your function that says who sent a request, such as shop.login:resolve_principal"),
    figure("web_proxies", "127.0.0.1", "proxies whose X-Forwarded-For is believed, comma separated"),
    figure("web_max_body_bytes", 1 << 20, "the largest body of a request", minimum=1024, maximum=1 << 30),
    figure("web_rate_per_minute", 6000, "requests of one caller in a minute; 0 is no limit", maximum=10_000_000),
    figure("web_max_in_flight", 256, "requests that are answered at once", minimum=1, maximum=100_000),
    figure("jwt_secret", None, "the secret by which tokens of your login are verified (HS256)", secret=True),
    figure("jwt_public_key", None, "the PEM file of the public key by which tokens of your login are verified"),
    figure("jwt_jwks", None, "the file or address of the key set by which tokens of your login are verified"),
    figure("jwt_algorithm", None, "the one algorithm that is taken: HS256, RS256, ES256 or EdDSA; else the key's own"),
    figure("jwt_issuer", None, "who issues the tokens of your login, as their iss says"),
    figure("jwt_audience", None, "for whom the tokens of your login are, as their aud says"),
    figure("jwt_leeway_seconds", 30.0, "how far the clock of whoever issues tokens may be off", maximum=120),
    figure("jwt_tenant_claim", "tenant", "the claim of a token that names its tenant"),
    figure("jwt_roles_claim", "roles", "the claim of a token with its roles: tenant, support or admin"),
    figure("jwt_cool_down_seconds", 30.0, "the least time between two reads of the key set", minimum=1, maximum=3600),
    figure("log_format", "text", "text for people, json for programs"),
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
        return redact(str(self.value)) if self.figure.kind is str else str(self.value)


class Settings:
    """All figures of this process. Those of the engine are judged at once, one of an application when it is asked."""

    def __init__(self, sources: _Sources, values: Mapping[str, Setting]) -> None:
        self._sources = sources
        self._values = dict(values)

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
        """Read the figures from the project file and the environment; what makes no sense is refused."""
        project, path = _project_table(folder or Path.cwd())
        sources = _Sources(dict(os.environ if environ is None else environ), project, path)
        settings = cls(sources, {figure.name: sources.resolve(figure) for figure in FIGURES})
        unknown = sorted(set(project) - set(settings._values))
        if unknown:
            _require_installed(unknown, path)
        return settings

    @staticmethod
    def figures() -> list[Figure]:
        """Everything that can be set here: the engine's figures, then those of the installed applications."""
        return [*FIGURES, *application_figures()[0]]

    def __getitem__(self, name: str) -> Any:
        return self.setting(name).value

    def setting(self, name: str) -> Setting:
        """One figure with its origin."""
        if name not in self._values:
            by_name = {figure.name: figure for figure in application_figures()[0]}
            return self.resolve(by_name[name])
        return self._values[name]

    def resolve(self, figure: Figure) -> Setting:
        """The value of a figure and where it came from; what makes no sense is refused."""
        if figure.name not in self._values:
            self._values[figure.name] = self._sources.resolve(figure)
        return self._values[figure.name]

    def with_flag(self, name: str, value: Any, flag: str) -> Settings:
        """The same with what a flag of a command says; None says nothing. What makes no sense is refused."""
        if value is None:
            return self
        figure = self.setting(name).figure
        return Settings(self._sources, {**self._values, name: Setting(figure, _parse(figure, value, flag), flag)})

    def unknown_variables(self) -> list[tuple[str, str]]:
        """Variables of the environment that begin as ours and set nothing, each with what to do about it."""
        ours = [name for name in sorted(self._sources.environ) if name.startswith(PREFIX) and name not in _NO_FIGURES]
        if not ours:
            return []
        figures, broken = application_figures()
        known = [variable for figure in (*FIGURES, *figures) for variable in figure.variables]
        beyond_judgement = tuple(f"{PREFIX}{application.name.upper()}_" for application in broken)
        return [
            (name, _nearest(name, known))
            for name in ours
            if name not in known and not name.startswith(beyond_judgement)
        ]

    def all(self) -> list[Setting]:
        """Every figure with its origin, the engine's first."""
        return [self.resolve(figure) for figure in self.figures()]


def application_figures() -> tuple[list[Figure], list[BrokenApplication]]:
    """The figures of the installed applications, each with its owner; and the applications that could not be asked."""
    applications = installed_applications()
    broken = list(applications.broken)
    owned: dict[str, Figure] = {figure.name: figure for figure in FIGURES}
    for spec in applications.specs.values():
        if spec.settings is None:
            continue
        try:
            figures: Iterable[Figure] = import_module(spec.settings).FIGURES
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told, and the others are not harmed
            broken.append(applications.broken_by(spec, error))
            continue
        for figure in figures:
            if figure.name in owned:
                message = f"The setting {figure.name} belongs to {owned[figure.name].owner} and to {spec.name}."
                raise Refused(
                    message, hint=f"Uninstall one of them: pip uninstall {applications.distributions[spec.name]}"
                )
            owned[figure.name] = replace(figure, owner=spec.name)
    return list(owned.values())[len(FIGURES) :], broken


def _require_installed(names: list[str], path: Path | None) -> None:
    """Refuse a name that is no setting of any application. What belongs to one that is broken cannot be judged."""
    figures, broken = application_figures()
    known = {figure.name for figure in figures}
    beyond_judgement = tuple(f"{application.name}_" for application in broken)
    for name in names:
        if name in known or name.startswith(beyond_judgement):
            continue
        hint = _nearest(name, [*(figure.name for figure in FIGURES), *known])
        raise InvalidValue(f"[tool.haulwright] in {path}", name, "is not a setting", hint=hint)


def _nearest(name: str, known: Iterable[str]) -> str:
    """The hint for a name that is none."""
    from difflib import get_close_matches  # noqa: PLC0415 - only where a name is mistyped

    near = get_close_matches(name, list(known), n=1)
    return f"Did you mean {near[0]!r}?" if near else "See all of them with: haulwright settings"


@dataclass(frozen=True, slots=True)
class _Sources:
    """Where values come from."""

    environ: Mapping[str, str]
    project: Mapping[str, Any]
    path: Path | None

    def resolve(self, figure: Figure) -> Setting:
        """The value of a figure: of the first variable that is there, else of the project file, else the default."""
        for variable in figure.variables:
            if self.environ.get(variable):
                return Setting(figure, _parse(figure, self.environ[variable], variable), variable)
        if figure.name in self.project:
            return Setting(figure, _parse(figure, self.project[figure.name], str(self.path)), str(self.path))
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
                table = tomllib.loads(path.read_text("utf-8")).get("tool", {}).get("haulwright", {})
            except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
                raise InvalidValue(str(path), "the file", f"cannot be read as TOML: {error}") from None
            return table, path
    return {}, None
