"""A source: somebody else's server, or one account on it, with its gate, its cache and the doors of an HTTP client."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Self, TypedDict, Unpack

from haulwright.client.context import Context, current
from haulwright.clock import SECOND
from haulwright.engine.job import DEFAULT_TENANT
from haulwright.engine.source import SourceLimits
from haulwright.errors import AuthFailed, InvalidValue, Refused, Retryable
from haulwright.settings import Settings
from haulwright.sources.database_cache import DatabaseCacheStore
from haulwright.sources.governor import Governor
from haulwright.sources.http.background import wait_for
from haulwright.sources.http.classify import UNAUTHORISED, refuses_credential
from haulwright.sources.http.client import MOST_CONNECTIONS, Http, RequestOptions, StreamOptions
from haulwright.sources.http.gate import Signal, Verdict
from haulwright.sources.http.limits import Limits
from haulwright.sources.http.policy import Policy
from haulwright.sources.http.reply import Reply, Stream
from haulwright.sources.http.request import Headers
from haulwright.sources.http.secret import Credential, Secret
from haulwright.stores.sources.limits import SourceRow

if TYPE_CHECKING:
    from haulwright.client.app import Haulwright
    from haulwright.sources.site_rules import SiteRules
    from haulwright.stores.store import Store

FINGERPRINT_ROUNDS: Final = 100_000
_CACHED_METHODS: Final = frozenset({"GET", "HEAD"})


class WebOptions(TypedDict, total=False):
    """How a source is spoken to over HTTP."""

    credential: Credential | Secret | None
    """Who asks. Refused, it closes the source for everybody until it changes or a person resumes it."""
    headers: Headers | None
    limits: Limits | None
    policy: Policy | None
    """Where it may lead. Without one, to public addresses and to what HAULWRIGHT_PRIVATE_HOSTS names."""
    private: bool
    """It stands on this machine or in the own network: short for `policy=Policy(private=True)`."""
    robots: bool
    """Ask robots.txt before each address, and obey it."""


class ForeignRequest:
    """One request of a client that is not ours, while it is under way."""

    outcome: Signal = "ok"
    park_seconds: float | None = None

    def failed(self, *, park_seconds: float | None = None) -> None:
        """The server could not answer, or asked for patience."""
        self.outcome = "failed" if park_seconds is None else "ignored"
        self.park_seconds = park_seconds


class Source:
    """One source of an app, made by `app.source(...)`.

    Inside a job its requests go under the job's lease; outside they have one of their own.
    """

    def __new__(cls, *arguments: Any, **options: Any) -> Self:
        """Refuse one that is made without its app, which `app.source` gives it."""
        if not hasattr(arguments[0] if arguments else options.get("app"), "declare_sources"):
            message = "A Source belongs to an app, which declares it to the database."
            raise Refused(message, hint="Write: app.source('shop.example', rate='30/min', ...)")
        return super().__new__(cls)

    def __init__(self, app: Haulwright, key: str, figures: SourceLimits, **web: Unpack[WebOptions]) -> None:
        self.key = key
        self.figures = figures
        self._app = app
        self._web = web
        self._limits = web.get("limits") or Limits()
        self._known: Store | None = None
        self.gate = Governor(self)
        self._rules = self._site_rules() if web.get("robots") else None
        if web.get("private") and web.get("policy") is not None:
            hint = "Write: policy=Policy(private=True, ...)"
            raise InvalidValue("private", True, "is given beside policy=, which says where it leads", hint=hint)  # noqa: FBT003

    def __repr__(self) -> str:
        return f"<Source {self.key}>"

    @property
    def total_seconds(self) -> float:
        """How long one call may take at most."""
        return self._limits.total_seconds

    @cached_property
    def http(self) -> Http:
        """The client whose calls pass the gate of this source."""
        credential = self._web.get("credential")
        settings = Settings.load()
        keeps = bool(settings["cache_enabled"])
        return Http(
            policy=self._policy(settings),
            limits=self._limits,
            gate=self.gate,
            store=DatabaseCacheStore(self.key, lambda: self._store(current.get()).cache) if keeps else None,
            headers=self._web.get("headers"),
            auth=Credential.bearer(credential) if isinstance(credential, Secret) else credential,
            connections=max(MOST_CONNECTIONS, self.figures.concurrency or 0),
        )

    async def arequest(self, method: str, url: str, **options: Unpack[RequestOptions]) -> Reply:
        """Make one call through the gate and return its reply, whatever its status."""
        self.note_asked()
        if self._rules is not None:
            await self._rules.acheck(url, options.get("params"))
        governed: RequestOptions = {"scope": self._scope(), **options}
        keep_us = self.figures.cache_ttl_us
        if keep_us and method.upper() in _CACHED_METHODS and not governed.get("revalidate"):
            governed.setdefault("ttl", keep_us / SECOND)
        reply = await self.http.arequest(method, url, **governed)
        if self._is_refusal(reply, own_auth=options.get("own_auth", False)):
            place = reply.url.partition("?")[0]
            message = f"{method.upper()} {place} answered {reply.status}: the credential of {self.key}."
            raise AuthFailed(message, credential=self.key, shared=True)
        return reply

    async def aget(self, url: str, **options: Unpack[RequestOptions]) -> Reply:
        """GET an address."""
        return await self.arequest("GET", url, **options)

    async def apost(self, url: str, **options: Unpack[RequestOptions]) -> Reply:
        """POST to an address. It is sent once."""
        return await self.arequest("POST", url, **options)

    @asynccontextmanager
    async def astream(
        self, url: str, *, method: str = "GET", **options: Unpack[StreamOptions]
    ) -> AsyncIterator[Stream]:
        """Open a download through the gate, which is left at its end."""
        if self._rules is not None:
            await self._rules.acheck(url, options.get("params"))
        async with self.http.astream(url, method=method, **options) as stream:
            yield stream

    def request(self, method: str, url: str, **options: Unpack[RequestOptions]) -> Reply:
        """As `arequest`, for plain functions."""
        return wait_for("request", "source.arequest(...)", lambda: self.arequest(method, url, **options))

    def get(self, url: str, **options: Unpack[RequestOptions]) -> Reply:
        """As `aget`, for plain functions."""
        return wait_for("get", "source.aget(...)", lambda: self.aget(url, **options))

    def post(self, url: str, **options: Unpack[RequestOptions]) -> Reply:
        """As `apost`, for plain functions."""
        return wait_for("post", "source.apost(...)", lambda: self.apost(url, **options))

    @asynccontextmanager
    async def aenter(self) -> AsyncIterator[ForeignRequest]:
        """Pass the gate with a client of your own: one request inside the block.

        An error of the network, or `Retryable`, says that the server failed; any other says nothing about it.
        """
        grant, visit = await self.gate.enter(), ForeignRequest()
        try:
            yield visit
        except BaseException as error:
            visit.outcome = "failed" if isinstance(error, OSError | Retryable) else "ignored"
            raise
        finally:
            await grant.leave(Verdict(visit.outcome, visit.park_seconds))

    @contextmanager
    def enter(self) -> Iterator[ForeignRequest]:
        """As `aenter`, for plain functions."""
        inside = self.aenter()
        visit = wait_for("enter", "source.aenter()", inside.__aenter__)
        try:
            yield visit
        except BaseException as error:
            problem = error
            if not wait_for("enter", "source.aenter()", lambda: inside.__aexit__(type(problem), problem, None)):
                raise
        else:
            wait_for("enter", "source.aenter()", lambda: inside.__aexit__(None, None, None))

    def pause(self, *, reason: str = "", seconds: float | None = None, actor: str = "app") -> None:
        """Let nobody through, for a time or until it is resumed."""
        self._declared_on(self._app.store).sources.pause(self.key, actor=actor, reason=reason, seconds=seconds)

    def resume(self, *, actor: str = "app") -> bool:
        """Open what a person or the breaker closed, and wake who waits."""
        return self._declared_on(self._app.store).sources.resume(self.key, actor=actor)

    def row(self) -> SourceRow:
        """How it stands."""
        return self._declared_on(self._app.store).sources.get(self.key)

    def declare(self) -> bool:
        """Make it known to the database; False where it was known as it is."""
        store = self._app.store
        changed = store.sources.declare(self.key, self.figures, self._fingerprint())
        self._known = store
        return changed

    def note_asked(self) -> None:
        """A run has what it wants of this source, if only from what is kept of it: see the call `source_unused`."""
        running = current.get()
        if running is not None:
            running.signals.has_asked_source = True

    def known_to(self, running: Context | None) -> Store:
        """The store that this code works on, with this source made known to it."""
        return self._declared_on(self._store(running))

    def known_already(self, running: Context | None) -> Store | None:
        """The same without a look at the database, where it has been looked at before."""
        store = self._known
        return store if store is not None and store is self._store(running) else None

    def _policy(self, settings: Settings) -> Policy:
        """Where this source may lead: what was declared, else what the settings say."""
        if self._web.get("private"):
            return Policy(private=True)
        try:
            return self._web.get("policy") or Policy.for_hosts(settings["private_hosts"])
        except InvalidValue as refusal:
            origin = settings.setting("private_hosts").origin
            raise InvalidValue(f"private_hosts ({origin})", refusal.value, refusal.why, hint=refusal.hint) from None

    def _site_rules(self) -> SiteRules:
        from haulwright.sources.site_rules import SiteRules  # noqa: PLC0415 - its parser comes with an extra

        return SiteRules(self, self._web.get("headers"))

    def _declared_on(self, store: Store) -> Store:
        if self._known is not store:
            store.sources.declare(self.key, self.figures, self._fingerprint())
            self._known = store
        return store

    def _store(self, running: Context | None) -> Store:
        """Of a run its own; else the app's own, for a gate is everybody's, whoever's request passes through it."""
        return self._app.own_store if running is None else running.store

    def _is_refusal(self, reply: Reply, *, own_auth: bool) -> bool:
        """Whether a reply refuses the credential of this source, and its caller does not see to that."""
        if self._web.get("credential") is None or (own_auth and reply.status == UNAUTHORISED):
            return False
        return refuses_credential(reply.status, reply.park_seconds)

    def _scope(self) -> str:
        """Whose answers may be served: those of this tenant through this source."""
        running = current.get()
        return f"{DEFAULT_TENANT if running is None else running.job.tenant}\n{self.key}"

    def _fingerprint(self) -> str | None:
        """What tells one credential from another and gives none away."""
        credential: Any = self._web.get("credential")
        if credential is None:
            return None
        if isinstance(credential, Secret):
            secrets = [credential.reveal()]
        else:
            secrets = [value.reveal() for value in (*credential.headers.values(), *credential.params.values())]
        packed = "\0".join(secrets).encode()
        return hashlib.pbkdf2_hmac("sha256", packed, f"haulwright:{self.key}".encode(), FINGERPRINT_ROUNDS).hex()[:32]
