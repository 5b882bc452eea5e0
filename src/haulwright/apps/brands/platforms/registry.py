"""The capabilities of an installation: those that are built in, and what its settings add, change or switch off."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Self

from haulwright.apps.brands.platforms.capabilities import BUILT_IN, Capability, require_cap
from haulwright.apps.brands.platforms.handles import checked_identifier
from haulwright.errors import InvalidValue
from haulwright.settings import Settings


class Registry:
    """The capabilities of an installation."""

    def __init__(self, capabilities: Iterable[Capability] = BUILT_IN) -> None:
        self._capabilities = {capability.key: capability for capability in capabilities}

    @classmethod
    def load(cls, settings: Settings | None = None) -> Self:
        """What is built in, with what a file adds or changes, without what is switched off."""
        settings = settings or Settings.load()
        by_key = {capability.key: capability for capability in BUILT_IN}
        for table in _read(settings["brands_capabilities"]):
            capability = _capability(table, by_key)
            by_key[capability.key] = capability
        for key in filter(None, (part.strip() for part in (settings["brands_disabled"] or "").split(","))):
            if key not in by_key:
                raise InvalidValue("brands_disabled", key, "is no capability", hint=_near(key, by_key))
            by_key[key] = replace(by_key[key], enabled=False)
        return cls(by_key.values())

    def __iter__(self) -> Any:
        return iter(self._capabilities.values())

    def find(self, platform: str, capability: str) -> Capability | None:
        """A capability, or None."""
        return self._capabilities.get(f"{platform}.{capability}")

    def get(self, platform: str, capability: str) -> Capability:
        """A capability; an unknown one is refused with the nearest that there is."""
        spec = self.find(platform, capability)
        if spec is None:
            key = f"{platform}.{capability}"
            raise InvalidValue("capability", key, "is not known", hint=_near(key, self._capabilities))
        return spec

    def cap_for(self, platform: str, capability: str) -> int:
        """How many items of a capability are read at most."""
        return self.get(platform, capability).cap

    def is_capability_enabled(self, platform: str, capability: str) -> bool:
        """Whether a capability is known and switched on."""
        spec = self.find(platform, capability)
        return spec is not None and spec.enabled

    def checked(self, platform: str, capability: str, identifier: object, settings: Mapping[str, Any]) -> str:
        """The identifier of a new connection in its one form; what cannot be read from is refused."""
        spec = self.get(platform, capability)
        unknown = sorted(set(settings) - {"cap"})
        if unknown:
            raise InvalidValue("settings", unknown[0], "is no setting of a connection", hint="It may have: cap.")
        require_cap("settings.cap", settings.get("cap", spec.cap), spec.cap)
        return checked_identifier(spec.shape, identifier)


def _read(path: str | None) -> list[dict[str, Any]]:
    if not path:
        return []
    try:
        document = tomllib.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidValue("brands_capabilities", path, f"cannot be read: {error}") from None
    return list(document.get("capability", []))


def _capability(table: Mapping[str, Any], by_key: Mapping[str, Capability]) -> Capability:
    """What a table of the file says: a capability of its own, or a change of one that is there."""
    key = f"{table.get('platform')}.{table.get('name')}"
    unknown = sorted(set(table) - {field.name for field in fields(Capability)})
    if unknown:
        raise InvalidValue(f"brands_capabilities: {key}", unknown[0], "is no word of a capability")
    try:
        return replace(by_key[key], **table) if key in by_key else Capability(**table)
    except TypeError as error:
        raise InvalidValue("brands_capabilities", key, f"is not complete: {error}") from None


def _near(key: str, keys: Iterable[str]) -> str:
    names = list(keys)
    near = get_close_matches(key, names, n=1)
    return f"Did you mean {near[0]!r}?" if near else f"Known are: {', '.join(names)}."
