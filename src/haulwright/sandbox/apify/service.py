"""Apify v2 behind its addresses."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from haulwright.sandbox.apify import shapes, storage
from haulwright.sandbox.apify.actors import ACTORS, Actor
from haulwright.sandbox.apify.failures import ApifyFailure, not_found
from haulwright.sandbox.apify.runs import TERMINAL, RunScript, SandboxRun
from haulwright.sandbox.apify.starting import StartOrder, find_items, read_input, read_order
from haulwright.sandbox.books import Books, ChargedRun
from haulwright.sandbox.chance import identifier
from haulwright.sandbox.clock import SandboxClock
from haulwright.sandbox.exchange import BadRequest, SandboxReply, SandboxRequest, json_reply
from haulwright.sandbox.routes import NoRoute, Routes
from haulwright.sandbox.scripts import Scripts

LONGEST_WAIT_SECONDS = 60.0
MOST_LISTED = 1000


@dataclass(slots=True)
class ApifyLimits:
    """What an account may use at once."""

    concurrent_runs: int = 128
    memory_mbytes: int = 262_144


class ApifySandbox:
    """Actors that can be run, and the runs that each account has begun. The account is the token."""

    def __init__(self, clock: SandboxClock, books: Books, seed: int) -> None:
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
        self._runs: dict[str, SandboxRun] = {}
        self._owners: dict[str, str] = {}
        self._scripts: Scripts[RunScript] = Scripts()
        self._revoked: set[str] = set()
        self.limits = ApifyLimits()

    def script(self, *, revoke: str = "", limits: dict[str, int] | None = None, **run: Any) -> None:
        """Decide how the next runs go (the words of `RunScript`), take a token away, or set the account's limits."""
        if revoke:
            self._revoked.add(revoke)
        if limits:
            self.limits = ApifyLimits(**limits)
        if run:
            self._scripts.add(RunScript(**run))

    def runs(self, actor: str | None = None) -> list[SandboxRun]:
        """Every run that began, oldest first."""
        with self._lock:
            return [run for run in self._runs.values() if actor is None or run.actor.name == actor]

    def answer(self, request: SandboxRequest) -> SandboxReply:
        """Carry a request out."""
        try:
            reply = self._routes.answer(request)
        except ApifyFailure as error:
            reply = error.reply()
        except NoRoute:
            reply = ApifyFailure(
                404, "page-not-found", "We have bad news: there is no API endpoint at this URL"
            ).reply()
        except BadRequest as error:
            reply = ApifyFailure(400, "invalid-value", str(error)).reply()
        return reply.with_headers(("X-RateLimit-Limit", "400" if request.path.endswith("/runs") else "60"))

    def _table(self) -> list[tuple[str, str, Callable[..., SandboxReply]]]:
        table: list[tuple[str, str, Callable[..., SandboxReply]]] = []
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

    def _start(self, request: SandboxRequest, actor: str) -> SandboxReply:
        user = self._user(request)
        order = read_order(request, self._actor(actor))
        with self._lock:
            self._refuse_beyond_limits(user, order)
            run = self._begin(request, user, order)
        self._wait(run, request)
        location = f"{request.base}/v2/actor-runs/{run.id}"
        return json_reply({"data": shapes.full(run, self._now())}, 201, ("Location", location))

    def _begin(self, request: SandboxRequest, user: str, order: StartOrder) -> SandboxRun:
        actor, words, now = order.actor, json.dumps(order.input, ensure_ascii=False), self._now()
        script = self._scripts.take(lambda waiting: waiting.fits(actor, words)) or RunScript()
        run = SandboxRun(
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
        self._books.pay(ChargedRun(run.id, actor.name, order.input, now, run.cost(run.finishes)))
        return run

    def _refuse_beyond_limits(self, user: str, order: StartOrder) -> None:
        active = [run for run in self._runs.values() if run.user == user and not run.is_over(self._now())]
        if len(active) >= self.limits.concurrent_runs:
            message = (
                f"By launching this run you would exceed the limit of {self.limits.concurrent_runs} concurrent runs"
            )
            raise ApifyFailure(400, "concurrent-runs-limit-exceeded", message)
        if sum(run.memory for run in active) + order.memory > self.limits.memory_mbytes:
            message = f"By launching this run you would exceed the memory limit of {self.limits.memory_mbytes} MB"
            raise ApifyFailure(400, "actor-memory-limit-exceeded", message)

    def _get(self, request: SandboxRequest, run: str) -> SandboxReply:
        actor_run = self._run(request, run)
        self._wait(actor_run, request)
        return json_reply({"data": shapes.full(actor_run, self._now(), with_usage=bool(_token(request)))})

    def _list(self, request: SandboxRequest, actor: str | None = None) -> SandboxReply:
        user, now = self._user(request), self._now()
        runs = self._matching(request, user, None if actor is None else self._actor(actor), now)
        desc, offset = request.flag("desc"), request.whole("offset", 0)
        limit = min(request.whole("limit", MOST_LISTED), MOST_LISTED) or MOST_LISTED
        ordered = runs[::-1] if desc else runs
        items = [shapes.short(run, now) for run in ordered[offset : offset + limit]]
        return json_reply({"data": shapes.page(items, total=len(runs), offset=offset, limit=limit, desc=desc)})

    def _matching(self, request: SandboxRequest, user: str, actor: Actor | None, now: float) -> list[SandboxRun]:
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

    def _last(self, request: SandboxRequest, actor: str) -> SandboxReply:
        runs = self._matching(request, self._user(request), self._actor(actor), self._now())
        if not runs:
            raise not_found("Actor run")
        return json_reply({"data": shapes.full(runs[-1], self._now())})

    def _abort(self, request: SandboxRequest, run: str) -> SandboxReply:
        self._user(request)
        actor_run = self._run(request, run)
        with self._lock:
            actor_run.abort(self._now(), gracefully=request.flag("gracefully"))
            self._books.charge(actor_run.id, actor_run.cost(self._now()))
        return json_reply({"data": shapes.full(actor_run, self._now())})

    def _resurrect(self, request: SandboxRequest, run: str) -> SandboxReply:
        self._user(request)
        actor_run = self._run(request, run)
        with self._lock:
            if actor_run.status(self._now()) not in TERMINAL:
                raise ApifyFailure(400, "run-not-finished", "Only a finished run can be resurrected")
            actor_run.resurrect(self._now())
            self._books.charge(actor_run.id, actor_run.cost(actor_run.finishes))
        return json_reply({"data": shapes.full(actor_run, self._now())})

    def _validate(self, request: SandboxRequest, actor: str) -> SandboxReply:
        self._user(request)
        read_input(request, self._actor(actor))
        return json_reply({"valid": True})

    def _dataset(self, request: SandboxRequest, run: str) -> SandboxReply:
        return json_reply({"data": shapes.dataset(self._run(request, run), self._now())})

    def _items(self, request: SandboxRequest, run: str) -> SandboxReply:
        return storage.items_page(self._run(request, run), request, self._now())

    def _record(self, request: SandboxRequest, run: str, key: str) -> SandboxReply:
        return storage.record(self._run(request, run), key)

    def _me(self, request: SandboxRequest) -> SandboxReply:
        user = self._user(request)
        return json_reply({"data": {"id": user, "username": f"sandbox-{user[:6].lower()}", "isPaying": True}})

    def _user(self, request: SandboxRequest) -> str:
        token = _token(request)
        if not token:
            raise ApifyFailure(401, "token-not-provided", "Authentication token was not provided")
        if token in self._revoked:
            raise ApifyFailure(
                401, "user-or-token-not-found", "User was not found or authentication token is not valid"
            )
        return identifier(self._seed, "user", token)

    def _actor(self, name: str) -> Actor:
        for actor in ACTORS.values():
            if name in {actor.name, actor.name.replace("~", "/"), identifier(0, actor.name)}:
                return actor
        raise ApifyFailure(404, "actor-not-found", f"Actor {name} was not found")

    def _run(self, request: SandboxRequest, run_id: str) -> SandboxRun:
        """A run by its own id or that of a storage of it. Whoever knows the id may look; another account may not."""
        user = self._user(request) if _token(request) else None
        run = self._runs.get(self._owners.get(run_id, ""))
        if run is None or user not in {None, run.user}:
            raise not_found("Record")
        return run

    def _wait(self, run: SandboxRun, request: SandboxRequest) -> None:
        """Hold the request until the run is over, as long as was asked for."""
        wait_seconds = min(request.number("waitForFinish", 0) or 0, LONGEST_WAIT_SECONDS)
        patience = min(wait_seconds, self.longest_wait_seconds)
        until = self._now() + wait_seconds
        if patience:
            self._clock.wait(lambda now: run.is_over(now) or now >= until, patience)

    def _now(self) -> float:
        return self._clock.now()


def _token(request: SandboxRequest) -> str:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() if kind.lower() == "bearer" else request.text("token")


def _instant(request: SandboxRequest, name: str) -> float | None:
    text = request.text(name)
    if not text:
        return None
    try:
        return datetime.fromisoformat(text).timestamp()
    except ValueError:
        raise BadRequest(f"{name} is {text!r}, which is no date") from None
