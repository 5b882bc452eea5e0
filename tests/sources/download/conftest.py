"""A host of files in the sandbox, and a folder to download into."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from haulwright.sandbox import Sandbox, SandboxClock
from haulwright.sources.download import Downloaded, LeaseKey, download
from haulwright.sources.http import Http, Policy

NOON = 1_790_856_000.0
SIZE = 500_000

Fetch = Callable[..., Downloaded]


@pytest.fixture
def sandbox() -> Iterator[Sandbox]:
    with Sandbox(seed=7, clock=SandboxClock.standing(NOON)) as sandbox:
        yield sandbox


@pytest.fixture
def http() -> Iterator[Http]:
    http = Http(policy=Policy(private=True))
    yield http
    http.close()


@pytest.fixture
def url(sandbox: Sandbox) -> str:
    return f"{sandbox.url}/files/a.bin?size={SIZE}"


@pytest.fixture
def sha256(sandbox: Sandbox) -> str:
    return sandbox.files.sha256("a.bin", SIZE)


@pytest.fixture
def fetch(http: Http, url: str, tmp_path: Path) -> Fetch:
    """Download the file as a run of one job, the first unless it is told which."""

    def fetch(fence: int = 1, job: str = "job", **options: object) -> Downloaded:
        return download(http, url, tmp_path, owner=LeaseKey(job, fence, "worker"), **options)

    return fetch


@pytest.fixture
def left(tmp_path: Path) -> Callable[[], list[str]]:
    """The kinds of files that are left in the folder of parts."""
    return lambda: sorted(path.suffix for path in (tmp_path / "parts").glob("*"))


@pytest.fixture
def awaited(http: Http) -> Callable[[Coroutine[Any, Any, Any]], Any]:
    """Run a coroutine on an event loop of its own, and close the connections of that loop."""

    async def closing(coroutine: Coroutine[Any, Any, Any]) -> Any:
        async with http:
            return await coroutine

    return lambda coroutine: asyncio.run(closing(coroutine))
