"""Apify v2 behind its addresses."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from penstock.sandbox.apify import shapes, storage
from penstock.sandbox.apify.actors import ACTORS, Actor
from penstock.sandbox.apify.failures import ApifyError, not_found
from penstock.sandbox.apify.runs import TERMINAL, Run, RunScript
from penstock.sandbox.apify.starting import Order, find_items, read_input, read_order
from penstock.sandbox.books import Books, PaidRun
from penstock.sandbox.chance import identifier
from penstock.sandbox.clock import Clock
from penstock.sandbox.exchange import BadRequest, Reply, Request, json_reply
from penstock.sandbox.routes import NoRoute, Routes
from penstock.sandbox.scripts import Scripts

LONGEST_WAIT_SECONDS = 60.0
MOST_LISTED = 1000


@dataclass(slots=True)
class Limits:
    """What an account may use at once."""

    concurrent_runs: int = 128
    memory_mbytes: int = 262_144


class Apify:
    """Actors that can be run, and the runs that each account has begun. The account is the token."""

    def __init__(self, clock: Clock, books: Books, seed: int) -> None:
        self._clock = clock
        self._books = books
        self._seed = seed
        self._lock = threading.RLock()
        self.longest_wait_seconds = LONGEST_WAIT_SECONDS
        """Of real time, that a request may wait for a run to finish. Tests on a clock that stands set it low."""
        self.reset()
        self._routes = Routes(*self._table())

    def reset(self) -> None:
        """No runs, no scripts, every token welcome."""
        self._runs: dict[str, Run] = {}
        self._owners: dict[str, str] = {}
        self._scripts: Scripts[RunScript] = Scripts()
        self._revoked: set[str] = set()
        self.limits = Limits()

    def script(self, *, revoke: str = "", limits: dict[str, int] | None = None, **run: Any) -> None:
        """Decide how the next runs go (the words of `RunScript`), take a token away, or set the account's limits."""
        if revoke:
            self._revoked.add(revoke)
        if limits:
            self.limits = Limits(**limits)
        if run:
            self._scripts.add(RunScript(**run))

    def runs(self, actor: str | None = None) -> list[Run]:
        """Every run that began, oldest first."""
        with self._lock:
            return [run for run in self._runs.values() if actor is None or run.actor.name == actor]

    def answer(self, request: Request) -> Reply:
        """Carry a request out."""
        try:
            reply = self._routes.answer(request)
        except ApifyError as error:
            reply = error.reply()
        except NoRoute:
            reply = ApifyError(404, "page-not-found", "We have bad news: there is no API endpoint at this URL").reply()
        except BadRequest as error:
            reply = ApifyError(400, "invalid-value", str(error)).reply()
        return reply.with_headers(("X-RateLimit-Limit", "400" if request.path.endswith("/runs") else "60"))

    def _table(self) -> list[tuple[str, str, Callable[..., Reply]]]:
        table: list[tuple[str, str, Callable[..., Reply]]] = []
        for actors in ("/v2/actors", "/v2/acts"):
            table += [
                ("POST", f"{actors}/{{actor}}/runs", self._start),
                ("GET", f"{actors}/{{actor}}/runs", self._list),
                ("GET", f"{actors}/{{actor}}/runs/last", self._last),
                ("POST", f"{actors}/{{actor}}/validate-input", self._validate),
            ]
        return [
            *table,
            ("GET", "/v2/actor-runs", self._list),
            ("GET", "/v2/actor-runs/{run}", self._get),
            ("POST", "/v2/actor-runs/{run}/abort", self._abort),
            ("POST", "/v2/actor-runs/{run}/resurrect", self._resurrect),
            ("GET", "/v2/actor-runs/{run}/log", lambda request, run: storage.log(self._run(request, run), self._now())),
            ("GET", "/v2/logs/{run}", lambda request, run: storage.log(self._run(request, run), self._now())),
            ("GET", "/v2/actor-runs/{run}/dataset", self._dataset),
            ("GET", "/v2/datasets/{run}", self._dataset),
            ("GET", "/v2/actor-runs/{run}/dataset/items", self._items),
            ("GET", "/v2/datasets/{run}/items", self._items),
            ("GET", "/v2/actor-runs/{run}/key-value-store/records/{key}", self._record),
            ("GET", "/v2/key-value-stores/{run}/records/{key}", self._record),
            ("GET", "/v2/users/me", self._me),
        ]

    def _start(self, request: Request, actor: str) -> Reply:
        user = self._user(request)
        order = read_order(request, self._actor(actor))
        with self._lock:
            self._refuse_beyond_limits(user, order)
            run = self._begin(request, user, order)
        self._wait(run, request)
        location = f"{request.base}/v2/actor-runs/{run.id}"
        return json_reply({"data": shapes.full(run, self._now())}, 201, ("Location", location))

    def _begin(self, request: Request, user: str, order: Order) -> Run:
        actor, words, now = order.actor, json.dumps(order.said, ensure_ascii=False), self._now()
        script = self._scripts.take(lambda waiting: waiting.fits(actor, words)) or RunScript()
        run = Run(
            id=identifier(self._seed, "run", len(self._runs)),
            actor=actor,
            user=user,
            input_body=request.body,
            input_type=request.headers.get("content-type", "application/json"),
            started=now,
            began=now,
            duration=actor.seconds if script.duration_seconds is None else script.duration_seconds,
            timeout=order.timeout,
            memory=order.memory,
            max_items=order.max_items,
            max_charge=order.max_charge,
            script=script,
            items=find_items(self._seed, order, script, now),
        )
        self._runs[run.id] = run
        self._owners |= {run.id: run.id, **{shapes.storage_id(run.id, kind): run.id for kind in ("dataset", "store")}}
        # The bill is that of the end to which it is going; an abort corrects it.
        self._books.pay(PaidRun(run.id, actor.name, order.said, now, run.cost(run.finishes)))
        return run

    def _refuse_beyond_limits(self, user: str, order: Order) -> None:
        active = [run for run in self._runs.values() if run.user == user and not run.is_over(self._now())]
        if len(active) >= self.limits.concurrent_runs:
            message = (
                f"By launching this run you would exceed the limit of {self.limits.concurrent_runs} concurrent runs"
            )
            raise ApifyError(400, "concurrent-runs-limit-exceeded", message)
        if sum(run.memory for run in active) + order.memory > self.limits.memory_mbytes:
            message = f"By launching this run you would exceed the memory limit of {self.limits.memory_mbytes} MB"
            raise ApifyError(400, "actor-memory-limit-exceeded", message)

    def _get(self, request: Request, run: str) -> Reply:
        found = self._run(request, run)
        self._wait(found, request)
        return json_reply({"data": shapes.full(found, self._now(), with_usage=bool(_token(request)))})

    def _list(self, request: Request, actor: str | None = None) -> Reply:
        user, now = self._user(request), self._now()
        found = self._found(request, user, None if actor is None else self._actor(actor), now)
        desc, offset = request.flag("desc"), request.whole("offset", 0)
        limit = min(request.whole("limit", MOST_LISTED), MOST_LISTED) or MOST_LISTED
        ordered = found[::-1] if desc else found
        items = [shapes.short(run, now) for run in ordered[offset : offset + limit]]
        return json_reply({"data": shapes.page(items, total=len(found), offset=offset, limit=limit, desc=desc)})

    def _found(self, request: Request, user: str, actor: Actor | None, now: float) -> list[Run]:
        statuses = {status for status in request.text("status").split(",") if status}
        after, before = _instant(request, "startedAfter"), _instant(request, "startedBefore")
        return [
            run
            for run in self.runs()
            if run.user == user
            and (actor is None or run.actor is actor)
            and (not statuses or run.status(now) in statuses)
            and (after is None or run.started >= after)
            and (before is None or run.started <= before)
        ]

    def _last(self, request: Request, actor: str) -> Reply:
        found = self._found(request, self._user(request), self._actor(actor), self._now())
        if not found:
            raise not_found("Actor run")
        return json_reply({"data": shapes.full(found[-1], self._now())})

    def _abort(self, request: Request, run: str) -> Reply:
        self._user(request)
        found = self._run(request, run)
        with self._lock:
            found.abort(self._now(), gracefully=request.flag("gracefully"))
            self._books.charge(found.id, found.cost(self._now()))
        return json_reply({"data": shapes.full(found, self._now())})

    def _resurrect(self, request: Request, run: str) -> Reply:
        self._user(request)
        found = self._run(request, run)
        with self._lock:
            if found.status(self._now()) not in TERMINAL:
                raise ApifyError(400, "run-not-finished", "Only a finished run can be resurrected")
            found.resurrect(self._now())
            self._books.charge(found.id, found.cost(found.finishes))
        return json_reply({"data": shapes.full(found, self._now())})

    def _validate(self, request: Request, actor: str) -> Reply:
        self._user(request)
        read_input(request, self._actor(actor))
        return json_reply({"valid": True})

    def _dataset(self, request: Request, run: str) -> Reply:
        return json_reply({"data": shapes.dataset(self._run(request, run), self._now())})

    def _items(self, request: Request, run: str) -> Reply:
        return storage.items_page(self._run(request, run), request, self._now())

    def _record(self, request: Request, run: str, key: str) -> Reply:
        return storage.record(self._run(request, run), key)

    def _me(self, request: Request) -> Reply:
        user = self._user(request)
        return json_reply({"data": {"id": user, "username": f"sandbox-{user[:6].lower()}", "isPaying": True}})

    def _user(self, request: Request) -> str:
        token = _token(request)
        if not token:
            raise ApifyError(401, "token-not-provided", "Authentication token was not provided")
        if token in self._revoked:
            raise ApifyError(401, "user-or-token-not-found", "User was not found or authentication token is not valid")
        return identifier(self._seed, "user", token)

    def _actor(self, said: str) -> Actor:
        for actor in ACTORS.values():
            if said in {actor.name, actor.name.replace("~", "/"), identifier(0, actor.name)}:
                return actor
        raise ApifyError(404, "actor-not-found", f"Actor {said} was not found")

    def _run(self, request: Request, said: str) -> Run:
        """A run by its own id or that of a storage of it. Whoever knows the id may look; another account may not."""
        user = self._user(request) if _token(request) else None
        run = self._runs.get(self._owners.get(said, ""))
        if run is None or user not in {None, run.user}:
            raise not_found("Record")
        return run

    def _wait(self, run: Run, request: Request) -> None:
        """Hold the request until the run is over, as long as was asked for."""
        asked = min(request.number("waitForFinish", 0) or 0, LONGEST_WAIT_SECONDS)
        patience = min(asked, self.longest_wait_seconds)
        until = self._now() + asked
        if patience:
            self._clock.wait(lambda now: run.is_over(now) or now >= until, patience)

    def _now(self) -> float:
        return self._clock.now()


def _token(request: Request) -> str:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else request.text("token")


def _instant(request: Request, name: str) -> float | None:
    said = request.text(name)
    if not said:
        return None
    try:
        return datetime.fromisoformat(said).timestamp()
    except ValueError:
        raise BadRequest(f"{name} is {said!r}, which is no date") from None
