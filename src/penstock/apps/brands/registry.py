"""The capabilities of an installation: those that are built in, and what its settings add, change or switch off."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

from penstock.apps.brands.capabilities import BUILT_IN, Capability, require_cap
from penstock.apps.brands.handles import checked_identifier
from penstock.errors import InvalidValue
from penstock.settings import Settings


class Registry:
    """The capabilities of an installation."""

    def __init__(self, capabilities: Iterable[Capability] = BUILT_IN) -> None:
        self._known = {one.key: one for one in capabilities}

    @classmethod
    def load(cls, settings: Settings | None = None) -> Self:
        """What is built in, with what a file adds or changes, without what is switched off."""
        given = settings or Settings.load()
        known = {one.key: one for one in BUILT_IN}
        for said in _read(given["brands_capabilities"]):
            one = _capability(said, known)
            known[one.key] = one
        for key in filter(None, (part.strip() for part in (given["brands_disabled"] or "").split(","))):
            if key not in known:
                raise InvalidValue("brands_disabled", key, "is no capability", hint=_near(key, known))
            known[key] = replace(known[key], enabled=False)
        return cls(known.values())

    def __iter__(self) -> Any:
        return iter(self._known.values())

    def find(self, platform: str, capability: str) -> Capability | None:
        """A capability, or None."""
        return self._known.get(f"{platform}.{capability}")

    def get(self, platform: str, capability: str) -> Capability:
        """A capability; an unknown one is refused with the nearest that there is."""
        found = self.find(platform, capability)
        if found is None:
            key = f"{platform}.{capability}"
            raise InvalidValue("capability", key, "is not known", hint=_near(key, self._known))
        return found

    def cap_for(self, platform: str, capability: str) -> int:
        """How many items of a capability are read at most."""
        return self.get(platform, capability).cap

    def is_capability_enabled(self, platform: str, capability: str) -> bool:
        """Whether a capability is known and switched on."""
        found = self.find(platform, capability)
        return found is not None and found.enabled

    def checked(self, platform: str, capability: str, identifier: object, settings: Mapping[str, Any]) -> str:
        """The identifier of a new connection in its one form; what cannot be read from is refused."""
        known = self.get(platform, capability)
        unknown = sorted(set(settings) - {"cap"})
        if unknown:
            raise InvalidValue("settings", unknown[0], "is no setting of a connection", hint="It may have: cap.")
        require_cap("settings.cap", settings.get("cap", known.cap), known.cap)
        return checked_identifier(known.shape, identifier)


def _read(path: str | None) -> list[dict[str, Any]]:
    if not path:
        return []
    try:
        said = tomllib.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidValue("brands_capabilities", path, f"cannot be read: {error}") from None
    return list(said.get("capability", []))


def _capability(said: Mapping[str, Any], known: Mapping[str, Capability]) -> Capability:
    """What a table of the file says: a capability of its own, or a change of one that is there."""
    key = f"{said.get('platform')}.{said.get('name')}"
    unknown = sorted(set(said) - {one.name for one in fields(Capability)})
    if unknown:
        raise InvalidValue(f"brands_capabilities: {key}", unknown[0], "is no word of a capability")
    try:
        return replace(known[key], **said) if key in known else Capability(**said)
    except TypeError as error:
        raise InvalidValue("brands_capabilities", key, f"is not complete: {error}") from None


def _near(key: str, known: Iterable[str]) -> str:
    names = list(known)
    near = get_close_matches(key, names, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Known are: {', '.join(names)}."
