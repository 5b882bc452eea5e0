"""Apify v2: start runs that are paid for once, wait for them in steps, read what they found."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from math import ceil
from typing import Any, Final
from urllib.parse import quote

from haulwright.errors import Retryable, RunError, Throttled
from haulwright.sources.apify.errors import (
    ApifyNotFound,
    ApifyTimeoutError,
    ApifyUnavailable,
    refusal,
    unreadable,
)
from haulwright.sources.apify.items import PAGE_ITEMS, Item, Items, ItemsPage
from haulwright.sources.apify.matching import MARKER_FIELD, Sought
from haulwright.sources.apify.runs import ActorRun, RunOptions
from haulwright.sources.blocking import plain
from haulwright.sources.http import Http, Limits, OutcomeUnknown, Reply, Secret
from haulwright.sources.vendor import LOOK_SECONDS, VendorClient, look_until_found

BASE_URL: Final = "https://api.apify.com"
LONGEST_STEP_SECONDS: Final = 60
"""What Apify holds a request for at most."""
STEP_SECONDS: Final = 20
FRESH_SECONDS: Final = 3.0
"""For how long a run that was just started may be missing: the copy that is asked can lag behind."""
LAG_SECONDS: Final = 5.0
"""For how long an interrupted start is looked for before it counts as not begun."""
TOLERATED_FAILURES: Final = 5
"""How many looks in a row may fail before waiting for a run is given up."""
READ_SECONDS: Final = 30.0
TOTAL_SECONDS: Final = 60.0
STARTED_ANYWAY: Final = (OutcomeUnknown, ApifyUnavailable)
"""After these errors of a start a run may exist."""


class Apify(VendorClient):
    """One account. It retries nothing by itself: whoever calls decides what a failure means."""

    def __init__(
        self,
        http: Http,
        token: str | Secret,
        base_url: str = BASE_URL,
        *,
        credential: str = "apify",
        shared: bool = False,
    ) -> None:
        super().__init__(http, base_url, credential=credential, shared=shared)
        self._token = token if isinstance(token, Secret) else Secret(token)

    async def astart(
        self,
        actor: str,
        input: Mapping[str, Any],  # noqa: A002  Apify's own word
        *,
        marker: str | None = None,
        options: RunOptions | None = None,
    ) -> ActorRun:
        """Start a run, which is paid for from now on. Sent exactly once, whatever happens.

        A marker goes along in the input under `_haulwright`, by which `afind` knows the run again. Leave it out for an
        actor that refuses fields that it does not know.
        """
        sent = dict(input) if marker is None else {**input, MARKER_FIELD: marker}
        params = (options or RunOptions()).params()
        reply = await self._ask("POST", f"actors/{_actor(actor)}/runs", params=params, json=sent)
        return _run(reply, f"the start of {actor}")

    async def afind(
        self,
        actor: str,
        *,
        since: datetime,
        marker: str | None = None,
        input: Mapping[str, Any] | None = None,  # noqa: A002  as above
        patience_seconds: float = LAG_SECONDS,
    ) -> ActorRun | None:
        """The run of an interrupted start, known by its marker or else by its input; None where it never began."""
        sought = Sought(since, marker, input)
        run = await look_until_found(lambda: sought.look(self, actor), patience_seconds)
        return run and replace(run, adopted=True)

    async def aruns(self, actor: str, *, since: datetime, offset: int = 0, limit: int = 100) -> list[ActorRun]:
        """A page of the runs of an actor that started since then, the newest first."""
        params = {"startedAfter": since.isoformat(), "desc": "1", "offset": str(offset), "limit": str(limit)}
        reply = await self._ask("GET", f"actors/{_actor(actor)}/runs", params=params)
        what = f"the list of runs of {actor}"
        listed = _data(reply, what).get("items")
        if not isinstance(listed, list):
            raise unreadable(what, reply.status, reply.body)
        return [_parsed(document, reply, what) for document in listed]

    async def arun_input(self, run: ActorRun) -> Any:
        """What a run was started with; None where it is not there (yet), or is no JSON."""
        try:
            reply = await self._ask("GET", f"key-value-stores/{_id(run.store_id)}/records/INPUT")
            return json.loads(reply.body)
        except (ApifyNotFound, ValueError, RecursionError):
            return None

    async def await_step(self, run_id: str, wait_seconds: float = STEP_SECONDS) -> ActorRun:
        """One look at a run, held until it is over or so many seconds have passed; a minute at most.

        A task that finds the run unfinished snoozes, so that no worker is held while somebody else's machine works.
        """
        wait = ceil(max(0, min(wait_seconds, LONGEST_STEP_SECONDS)))
        path, params = f"actor-runs/{_id(run_id)}", {"waitForFinish": str(wait)} if wait else {}
        until = time.monotonic() + FRESH_SECONDS
        while True:
            try:
                return _run(await self._ask("GET", path, params=params, held_seconds=wait), f"run {run_id}")
            except ApifyNotFound:
                if time.monotonic() >= until:
                    raise
            await asyncio.sleep(LOOK_SECONDS)

    async def await_end(
        self, run_id: str, timeout_seconds: float = 300, *, step_seconds: float = STEP_SECONDS, abort: bool = True
    ) -> ActorRun:
        """Wait for the end of a run; where it is not over in time it is aborted, and ApifyTimeoutError is raised.

        A few failed looks in a row are tolerated. For notebooks: a task waits in steps.
        """
        until, failures = time.monotonic() + timeout_seconds, 0
        while (left := until - time.monotonic()) > 0:
            try:
                run = await self.await_step(run_id, min(step_seconds, left))
            except (Retryable, Throttled) as error:
                failures += 1
                if failures > TOLERATED_FAILURES:
                    raise
                await asyncio.sleep(min(error.after or LOOK_SECONDS * 2**failures, max(0, until - time.monotonic())))
            else:
                if run.is_terminal:
                    return run
                failures = 0
        late = ApifyTimeoutError(f"Polling timed out after {timeout_seconds:g}s for run_id={run_id}")
        late.run_id, late.aborted = run_id, abort
        if abort:
            try:
                await self.aabort(run_id)
            except RunError as error:
                late.aborted = False
                raise late from error
        raise late

    async def aabort(self, run_id: str, *, gracefully: bool = False) -> ActorRun:
        """Stop a run, so that it costs no more; one that is over stays as it is."""
        params = {"gracefully": "true"} if gracefully else {}
        return _run(await self._ask("POST", f"actor-runs/{_id(run_id)}/abort", params=params), f"run {run_id}")

    def aitems(self, dataset: str, *, limit: int, page: int = PAGE_ITEMS) -> Items:
        """The items of a dataset, never more than `limit`, to walk over with `async for`."""
        return Items(self, dataset, limit=limit, page=page)

    async def apage(self, dataset: str, *, offset: int, limit: int) -> ItemsPage:
        """Some items of a dataset, without empty ones and hidden fields."""
        params = {"format": "json", "clean": "1", "offset": str(offset), "limit": str(limit)}
        reply = await self._ask("GET", f"datasets/{_id(dataset)}/items", params=params)
        items: list[Item] = _loaded(reply, what := f"dataset {dataset}")
        if not isinstance(items, list):
            raise unreadable(what, reply.status, reply.body)
        total = reply.headers.get("x-apify-pagination-total", "")
        return ItemsPage(items, int(total) if total.isdecimal() else None)

    items = aitems
    start = plain(astart)
    find = plain(afind)
    runs = plain(aruns)
    run_input = plain(arun_input)
    wait_step = plain(await_step)
    wait_end = plain(await_end)
    abort = plain(aabort)
    page = plain(apage)

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        json: Mapping[str, Any] | None = None,
        held_seconds: float = 0,
    ) -> Reply:
        """One request, never repeated; what is no success is raised."""
        limits = Limits(read=READ_SECONDS + held_seconds, total=TOTAL_SECONDS + held_seconds) if held_seconds else None
        headers = {"Authorization": f"Bearer {self._token.reveal()}"}
        url = f"{self._base_url}/v2/{path}"
        reply = await self._http.arequest(method, url, params=params, json=json, headers=headers, limits=limits)
        if reply.ok:
            return reply
        raise self._named(refusal(f"{method} {path}", reply.status, reply.body, after=reply.park_seconds))


def _run(reply: Reply, what: str) -> ActorRun:
    return _parsed(_data(reply, what), reply, what)


def _parsed(document: object, reply: Reply, what: str) -> ActorRun:
    try:
        return ActorRun.parse(document, reply.headers.get("date", ""))
    except ValueError:
        raise unreadable(what, reply.status, reply.body) from None


def _data(reply: Reply, what: str) -> dict[str, Any]:
    document = _loaded(reply, what)
    data = document.get("data") if isinstance(document, dict) else None
    if not isinstance(data, dict):
        raise unreadable(what, reply.status, reply.body)
    return data


def _loaded(reply: Reply, what: str) -> Any:
    try:
        return json.loads(reply.body)
    except (ValueError, RecursionError):
        raise unreadable(what, reply.status, reply.body) from None


def _actor(name: str) -> str:
    """An actor as addresses name it: `user~name`, or its id."""
    return quote(name.replace("/", "~"), safe="~")


def _id(name: str) -> str:
    return quote(name, safe="")
