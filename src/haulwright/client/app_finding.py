"""Finds the app that a person means by `package.module:name`."""

from __future__ import annotations

import sys
import traceback
from difflib import get_close_matches
from importlib import import_module
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from haulwright.errors import HaulwrightError, Refused

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright

DEFAULT_NAME = "app"
LOOKED_AT_FILES = 1000
"""So many of a folder, where a module is misspelt."""
WAYS = 'Give -A package.module:app, set HAULWRIGHT_APP, or write app = "package.module:app" under [tool.haulwright].'


def find_app(spec: str | None, *, folder: Path | None = None) -> Haulwright:
    """The app of this name, with the current folder (and `folder`) on the path; what is in its way is told plainly."""
    from haulwright.client.app import Haulwright  # noqa: PLC0415 - with it comes all that a client needs

    if not spec:
        raise Refused("This needs an app, and none is named.", hint=WAYS)
    module_name, _, name = spec.partition(":")
    if "/" in module_name:
        raise Refused(f"{module_name} is a path, and no module.", hint=_module_of_file(module_name))
    module = _import(module_name, [Path.cwd(), *([folder] if folder else [])])
    app = getattr(module, name or DEFAULT_NAME, None)
    if isinstance(app, Haulwright):
        return app
    apps = [variable for variable, value in vars(module).items() if isinstance(value, Haulwright)]
    why = f"is a {type(app).__name__}, no Haulwright app" if app is not None else "does not exist"
    hint = (
        f"Did you mean -A {module_name}:{apps[0]}?" if apps else f"Write there: {name or DEFAULT_NAME} = Haulwright()"
    )
    raise Refused(f"The app {name or DEFAULT_NAME!r} in {module_name} {why}.", hint=hint)


def _import(name: str, folders: list[Path]) -> ModuleType:
    for folder in reversed(folders):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    try:
        return import_module(name)
    except HaulwrightError:
        raise  # a schedule or a task in it makes no sense, and says why
    except (Exception, SystemExit) as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            places = " and ".join(map(str, folders))
            message = f"There is no module {error.name}, neither in {places} nor among the installed packages."
            raise Refused(message, hint=_meant_module(name, folders)) from error
        raise Refused(_import_failure(name, error), hint="Mend it; --debug shows the traceback.") from error


def _meant_module(name: str, folders: list[Path]) -> str:
    """What was meant by a module that is not there: its file, a module with the app behind a dot, or one beside it."""
    if name.endswith(".py"):
        return _module_of_file(name)
    parent, _, last = name.rpartition(".")
    if parent in sys.modules and hasattr(sys.modules[parent], last):
        return f"Did you mean -A {parent}:{last}?"
    beside = {path.stem for folder in folders for path in islice(folder.glob("*.py"), LOOKED_AT_FILES)}
    near = get_close_matches(name, beside, n=1)
    return f"Did you mean -A {near[0]}:{DEFAULT_NAME}?" if near else "Go to the folder that contains it, or install it."


def _module_of_file(name: str) -> str:
    """What was meant where a file was named in place of its module."""
    return f"Name the module, not its file: {name.removesuffix('.py').removeprefix('./').replace('/', '.')}"


def _import_failure(name: str, error: BaseException) -> str:
    """What stopped the import, and where: the last line that was running."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    where, what = f"{last.filename}, line {last.lineno}", str(error)
    if isinstance(error, SyntaxError):
        where, what = f"{error.filename}, line {error.lineno}", error.msg
    return f"The module {name} cannot be imported: {type(error).__name__}: {what} ({where})."
