"""Plain doors: what is written once, awaitable, gets a blocking twin whose name lacks the `a`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

from haulwright.sources.http.background import wait_for

P = ParamSpec("P")
R = TypeVar("R")

_END: Final = object()


def plain(awaitable: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, R]:
    """The same function or method for callers without an event loop; on one it raises BlockingCall."""
    name = awaitable.__name__

    @wraps(awaitable)
    def door(*args: P.args, **kwargs: P.kwargs) -> R:
        return wait_for(name[1:], f"{name}(...)", lambda: awaitable(*args, **kwargs))

    door.__name__ = name[1:]
    return door


def plain_iterator(walk: Callable[P, AsyncIterator[R]]) -> Callable[P, Iterator[R]]:
    """The same for what is walked over with `async for`."""
    name = walk.__name__

    @wraps(walk)
    def door(*args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
        items = walk(*args, **kwargs)

        async def following() -> Any:
            return await anext(items, _END)

        while (item := wait_for(name[1:], f"{name}(...)", following)) is not _END:
            yield item

    door.__name__ = name[1:]
    return door
