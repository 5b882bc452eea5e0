"""The settings of an application: one class whose fields are the figures, each with its default and its meaning.

    @dataclass(frozen=True, slots=True, kw_only=True)
    class WeatherSettings(ApplicationSettings):
        prefix: ClassVar[str] = "weather_"
        cron: str = setting("0 * * * *", "when the weather is asked for")

    FIGURES = WeatherSettings.figures()

The module that the spec names as `settings` has `FIGURES`; a default stands nowhere else.
"""

from __future__ import annotations

from dataclasses import field, fields, replace
from typing import Any, ClassVar, Self

from haulwright.settings import LONGEST, Figure, Settings
from haulwright.settings import figure as new_figure

_FIGURE = "figure"


def setting(  # noqa: PLR0913 - what can be said of a figure, each with a name
    default: Any,
    meaning: str,
    *variables: str,
    kind: type | None = None,
    minimum: float = 0.0,
    maximum: float = LONGEST,
    secret: bool = False,
) -> Any:
    """A field that can be set; `variables` set it beside HAULWRIGHT_PREFIX_NAME. `kind` where the default is None."""
    limits = {"minimum": minimum, "maximum": maximum, "secret": secret}
    return field(default=default, metadata={_FIGURE: new_figure("", default, meaning, *variables, kind=kind, **limits)})


class ApplicationSettings:
    """The base of a frozen dataclass whose fields are made by `setting`."""

    prefix: ClassVar[str]
    """Before the name of each field in the one list of settings."""

    @classmethod
    def figures(cls) -> tuple[Figure, ...]:
        """The fields as figures of the one list."""
        return tuple(cls._figure(each.name, each.metadata[_FIGURE]) for each in _declared(cls))

    @classmethod
    def load(cls, settings: Settings | None = None, **overrides: Any) -> Self:
        """The figures as the settings have them, with what is given here in their place."""
        source = settings or Settings.load()
        values = {each.name: cls._figure(each.name, each.metadata[_FIGURE]) for each in _declared(cls)}
        return cls(**{name: source.resolve(figure).value for name, figure in values.items()} | overrides)

    @classmethod
    def _figure(cls, name: str, declared: Figure) -> Figure:
        full = cls.prefix + name
        return replace(declared, name=full, variables=(f"HAULWRIGHT_{full.upper()}", *declared.variables[1:]))


def _declared(kind: type[ApplicationSettings]) -> list[Any]:
    return [each for each in fields(kind) if _FIGURE in each.metadata]  # type: ignore[arg-type] # its subclasses are dataclasses
