"""Addresses: the module and the name under which another process finds an object of this one."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from haulwright.errors import Refused


def address_of(app: object) -> tuple[str, str]:
    """The module and the name of an app; one that no module knows is refused."""
    modules = sorted(sys.modules.items(), key=lambda item: item[0] == "__main__")
    for module_name, module in modules:
        names = dict(getattr(module, "__dict__", {}))
        if id(app) in map(id, names.values()):  # a hundred thousand names are looked through in milliseconds
            return module_name, next(name for name, value in names.items() if value is app)
    message = "This app cannot be found by name in any module."
    raise Refused(message, hint="Make it a variable of a module: app = Haulwright()")


def import_object(module: str, name: str) -> Any:
    """The object behind an address."""
    return getattr(import_module(module), name)
