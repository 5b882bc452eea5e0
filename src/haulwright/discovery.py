"""Which applications are installed: found by the entry points of the group `haulwright.applications`, never by a list.

An entry point names an `ApplicationSpec`, a few words that are light to import. What an application does is imported
when it is used, so that listing its command costs no more than the list. It stands on the ground floor because the
settings, the database and every door ask it for names; nothing here knows what an application is made of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from haulwright.errors import HaulwrightError, NotFound, Refused
from haulwright.extras import Extra, require_extra
from haulwright.redaction import redact

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from types import ModuleType

GROUP: Final = "haulwright.applications"


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplicationSpec:
    """What an application says of itself before it is imported."""

    name: str
    """The word it goes by: `haulwright db migrate NAME`. Its settings, verbs and tables begin with it."""
    package: str
    """The package that holds `sqlite/` and `postgres/` with its tables, and `install(app)`."""
    summary: str
    """One line for the list of commands."""
    queues: tuple[str, ...] = ()
    """The queues of its jobs, the first first; without a word, one of its own name."""
    command: str | None = None
    """The word of its commands on the command line, where it has some."""
    commands: str | None = None
    """The module whose `command` is that group of commands."""
    routes: str | None = None
    """The module whose `routes` its part of the HTTP API is."""
    pages: str | None = None
    """The module whose `pages` its part of the dashboard is."""
    settings: str | None = None
    """The module whose `FIGURES` can be set."""
    demo: str | None = None
    """The module whose `ACT` plays in `haulwright demo`."""
    extra: Extra | None = None
    """The extra of Haulwright that it needs."""
    events: tuple[str, ...] = ()
    """The names of the events that it records beside those of its jobs."""

    def require_extra(self) -> None:
        """Refuse with the line to type where a package of its extra is missing."""
        if self.extra is not None:
            require_extra(self.extra, f"The application {self.name}")

    def install(self, app: Any) -> Any:
        """Put the application on an app: `install` of its package does it."""
        self.require_extra()
        return import_module(self.package).install(app)

    @property
    def served_queues(self) -> tuple[str, ...]:
        """The queues that a worker of this application serves."""
        return self.queues or (self.name,)


@dataclass(frozen=True, slots=True)
class BrokenApplication:
    """An application that is installed and cannot be imported."""

    name: str
    distribution: str
    reason: str

    def __str__(self) -> str:
        return f"The application {self.name} (of {self.distribution}) cannot be imported: {self.reason}."

    def refusal(self) -> Refused:
        """The same as an error."""
        hint = f"Mend or remove {self.distribution}; the other applications work without it."
        return Refused(str(self), hint=hint)


@dataclass(frozen=True, slots=True)
class Applications:
    """What is installed, by name and in its order."""

    specs: Mapping[str, ApplicationSpec]
    distributions: Mapping[str, str]
    broken: tuple[BrokenApplication, ...] = ()

    def get(self, name: str) -> ApplicationSpec:
        """One of them; refused with its reason where it is broken, and with the nearest name where there is none."""
        if name in self.specs:
            return self.specs[name]
        for application in self.broken:
            if application.name == name:
                raise application.refusal()
        from difflib import get_close_matches  # noqa: PLC0415 - only where a name is mistyped

        near = get_close_matches(name, self.specs, n=1)
        guess = f"Did you mean {near[0]!r}?" if near else f"Installed are: {', '.join(self.specs) or 'none'}."
        raise NotFound("application", name, hint=guess)

    def with_command(self, word: str) -> ApplicationSpec | None:
        """The application whose commands begin with this word."""
        return next((spec for spec in self.specs.values() if spec.command == word), None)

    def import_part(self, spec: ApplicationSpec, module: str) -> ModuleType:
        """Import a module that a spec names. What is in its way is told with the name of the application."""
        try:
            return import_module(module)
        except HaulwrightError:
            raise  # it says itself what is missing
        except Exception as error:
            raise self.broken_by(spec, error).refusal() from error

    def broken_by(self, spec: ApplicationSpec, error: Exception) -> BrokenApplication:
        """What stopped an application whose spec was sound."""
        return BrokenApplication(spec.name, self.distributions.get(spec.name, spec.package), _reason(error))

    def name_of(self, package: str) -> str:
        """The name of the application that has a package; of one that nobody installed, the last part of it."""
        names = (spec.name for spec in self.specs.values() if spec.package == package)
        return next(names, package.rpartition(".")[2])


@cache
def installed_applications() -> Applications:
    """What is installed here. Entry points do not change while a process lives, and reading them takes a while."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - `haulwright --version` does not look

    return load_applications(entry_points(group=GROUP))


def load_applications(entry_points: Iterable[EntryPoint]) -> Applications:
    """Load specs by name. One that cannot be loaded is set aside; two of one name or command are refused."""
    specs: dict[str, ApplicationSpec] = {}
    distributions: dict[str, str] = {}
    broken: list[BrokenApplication] = []
    for entry_point in sorted(entry_points, key=lambda entry_point: entry_point.name):
        distribution = _distribution(entry_point)
        try:
            spec = _spec(entry_point)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told, and the others are not harmed
            broken.append(BrokenApplication(entry_point.name, distribution, _reason(error)))
            continue
        _require_single(spec, distribution, specs, distributions)
        specs[spec.name], distributions[spec.name] = spec, distribution
    return Applications(specs, distributions, tuple(broken))


def lazy_names(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """A `__getattr__` for a package whose spec must be light: each name is fetched from its module when it is used."""

    def fetch(name: str) -> Any:
        if name not in modules:
            message = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(message)
        return getattr(import_module(f"{package}.{modules[name]}"), name)

    return fetch


def _spec(entry_point: EntryPoint) -> ApplicationSpec:
    spec = entry_point.load()
    if not isinstance(spec, ApplicationSpec):
        message = f"{entry_point.value} is a {type(spec).__name__}, no ApplicationSpec"
        raise TypeError(message)
    if spec.name != entry_point.name:
        message = f"its entry point is called {entry_point.name!r}, and its spec {spec.name!r}"
        raise ValueError(message)
    return spec


def _require_single(
    spec: ApplicationSpec, distribution: str, specs: Mapping[str, ApplicationSpec], distributions: Mapping[str, str]
) -> None:
    for other in specs.values():
        same_command = spec.command is not None and spec.command == other.command
        if spec.name != other.name and not same_command:
            continue
        what = f"have the command {spec.command!r}" if spec.name != other.name else f"are called {spec.name!r}"
        first = distributions[other.name]
        message = f"Two applications {what}: {other.name} of {first}, and {spec.name} of {distribution}."
        raise Refused(message, hint=f"Uninstall one of them: pip uninstall {distribution}")


def _distribution(entry_point: EntryPoint) -> str:
    return entry_point.dist.name if entry_point.dist is not None else "an unnamed distribution"


def _reason(error: BaseException) -> str:
    return redact(f"{type(error).__name__}: {error}").rstrip(".")
