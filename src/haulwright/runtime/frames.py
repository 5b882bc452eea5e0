"""The lines of the user's code that an error came through: file, line and function, never a value of a variable."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple

import haulwright
from haulwright.engine.outcome import StackFrame
from haulwright.engine.payload import clip
from haulwright.redaction import redact

FRAMES_LIMIT: Final = 10
"""Of one error; of more the last ones are kept, which are nearest to where it was raised."""
ERRORS_LIMIT: Final = 5
"""The error itself, its causes and the members of its groups."""
FRAMES_LIMIT_BYTES: Final = 4096
"""All frames of one failure, as far as their texts go."""
PATH_LIMIT_BYTES: Final = 300
NAME_LIMIT_BYTES: Final = 150
CAUSE_LIMIT_BYTES: Final = 200
LOOKED_AT: Final = 10_000
"""The frames of a recursion that are walked over at most."""

_OURS: Final = Path(haulwright.__file__).resolve().parent
_APPLICATIONS: Final = _OURS / "apps"
"""Applications stand on the engine as anybody's do: their lines are the user's."""
_LIBRARIES: Final = tuple(
    dict.fromkeys(Path(path).resolve() for path in map(sysconfig.get_path, ("purelib", "platlib")) if path)
)
_STANDARD: Final = tuple(
    dict.fromkeys(Path(path).resolve() for path in map(sysconfig.get_path, ("stdlib", "platstdlib")) if path)
)


class _SourceFile(NamedTuple):
    """A file of somebody's code."""

    shown: str
    package: str | None = None
    """The installed package that it belongs to; None for code that is not installed."""


def frames_of(error: BaseException) -> tuple[StackFrame, ...]:
    """Where an error came from, then where its causes did; the innermost frame of each is its last."""
    frames: list[StackFrame] = []
    room = FRAMES_LIMIT_BYTES
    home = _home(error.__traceback__)
    for each, cause in _errors(error):
        for frame in _own_frames(each.__traceback__, cause, home):
            room -= len(frame.file) + len(frame.function) + len(cause or "") + 40
            if room < 0:
                return tuple(frames)
            frames.append(frame)
    return tuple(frames)


def _errors(error: BaseException) -> Iterator[tuple[BaseException, str | None]]:
    """The error, then what it was raised from or what it is a group of; each once, and so many at most."""
    seen: set[int] = set()
    waiting: list[tuple[BaseException, str | None]] = [(error, None)]
    while waiting and len(seen) < ERRORS_LIMIT:
        each, cause = waiting.pop(0)
        if id(each) in seen:
            continue
        seen.add(id(each))
        yield each, cause
        if isinstance(each, BaseExceptionGroup):
            waiting += [(member, _words(member)) for member in each.exceptions[:ERRORS_LIMIT]]
        origin = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
        if origin is not None:
            waiting.append((origin, _words(origin)))


def _words(error: BaseException) -> str:
    """The class and the message of a cause, in one line."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - its own __str__ is at fault
        text = ""
    name = type(error).__name__
    return clip(redact(f"{name}: {text}" if text else name), CAUSE_LIMIT_BYTES)


def _home(traceback: TracebackType | None) -> str | None:
    """The installed package of the task, where that is one: the first code that is not ours belongs to the user."""
    for _ in range(LOOKED_AT):
        if traceback is None:
            return None
        file = _place(traceback.tb_frame.f_code.co_filename)
        if file is not None:
            return file.package
        traceback = traceback.tb_next
    return None


def _own_frames(traceback: TracebackType | None, cause: str | None, home: str | None) -> list[StackFrame]:
    """The frames in the user's code, and the library's where the error was raised in one."""
    mine: list[StackFrame] = []
    last: tuple[TracebackType, str] | None = None
    for _ in range(LOOKED_AT):
        if traceback is None:
            break
        file = _place(traceback.tb_frame.f_code.co_filename)
        last = None
        if file is not None and file.package not in {None, home}:
            last = traceback, file.shown
        elif file is not None:
            mine.append(_frame(traceback, file.shown, cause))
        traceback = traceback.tb_next
    raised_in = [] if last is None else [_frame(*last, cause)]
    return [*mine[-(FRAMES_LIMIT - len(raised_in)) :], *raised_in]


def _frame(traceback: TracebackType, place: str, cause: str | None) -> StackFrame:
    function = clip(redact(traceback.tb_frame.f_code.co_qualname), NAME_LIMIT_BYTES)
    return StackFrame(place, traceback.tb_lineno, function, cause)


@lru_cache(maxsize=4096)
def _place(filename: str) -> _SourceFile | None:
    """A file of somebody's code; None for the engine and the standard library."""
    if filename.startswith("<"):
        return None if filename.startswith("<frozen") else _SourceFile(clip(redact(filename), PATH_LIMIT_BYTES))
    path = Path(filename)
    if not path.is_absolute():
        path = Path.cwd() / path
    if path.is_relative_to(_OURS) and not path.is_relative_to(_APPLICATIONS):
        return None
    package = next((path.relative_to(folder).parts[0] for folder in _LIBRARIES if path.is_relative_to(folder)), None)
    if package is None and any(path.is_relative_to(folder) for folder in _STANDARD):
        return None
    return _SourceFile(clip(redact(_relative(path)), PATH_LIMIT_BYTES), package)


def _relative(path: Path) -> str:
    """The path from the working directory where it is below it, else from where its package was imported."""
    folders = [os.getcwd(), *sorted(filter(None, sys.path), key=len, reverse=True)]  # noqa: PTH109 - a text among texts
    for folder in folders:
        if path.is_relative_to(folder) and path != Path(folder):
            return path.relative_to(folder).as_posix()
    return path.as_posix()
