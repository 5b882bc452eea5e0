"""A set of keys that somebody publishes, from a file or an address. New keys are found while the server runs.

It is read when it is first needed, when it is old, and when a token names a key that is not in it; but at most once in
a cool-down, however many such tokens come. A read that fails leaves the keys as they were.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Mapping
from http.client import HTTPException as HTTPFault
from pathlib import Path
from typing import IO, Any, Final
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from starlette.concurrency import run_in_threadpool

from haulwright.api.auth.keys import VerificationKey, published_key
from haulwright.errors import InvalidValue
from haulwright.redaction import redact

log = logging.getLogger("haulwright.api")

COOL_DOWN_SECONDS: Final = 30.0
FRESH_SECONDS: Final = 3600.0
"""A set that is older is read again beside the requests, so that a key that was withdrawn is refused after it."""
FETCH_SECONDS: Final = 5.0
LARGEST_SET_BYTES: Final = 262_144
MOST_KEYS: Final = 100
_PIECE_BYTES: Final = 16_384


class PublishedKeys:
    """The keys of a file or an address, as they are now."""

    def __init__(
        self, read: Callable[[], bytes], *, cool_down_seconds: float = COOL_DOWN_SECONDS, algorithm: str | None = None
    ) -> None:
        self._read = read
        self._algorithm = algorithm
        self._cool_down = cool_down_seconds
        self._keys: Mapping[str | None, VerificationKey] = {}
        self._read_at = float("-inf")
        self._tried_at = float("-inf")
        self._lock = asyncio.Lock()
        self._refreshing: asyncio.Task[None] | None = None

    async def find(self, kid: str | None) -> VerificationKey | None:
        """The key of this id. One without an id is found where it is the only one."""
        key = self._find(kid)
        if key is None:
            await self._refresh()
            return self._find(kid)
        if time.monotonic() - self._read_at > FRESH_SECONDS and (self._refreshing is None or self._refreshing.done()):
            self._refreshing = asyncio.create_task(self._refresh())
        return key

    def _find(self, kid: str | None) -> VerificationKey | None:
        if kid is None and len(self._keys) == 1:
            return next(iter(self._keys.values()))
        return self._keys.get(kid)

    async def _refresh(self) -> None:
        """Read the set, unless that was tried a moment ago. Who comes meanwhile waits for the same read."""
        async with self._lock:
            if time.monotonic() - self._tried_at < self._cool_down:
                return
            self._tried_at = time.monotonic()
            try:
                self._keys = keys_of(await run_in_threadpool(self._read), self._algorithm)
            except (OSError, ValueError, HTTPFault) as error:
                log.warning("the keys of tokens could not be read, and stay as they were: %s", redact(str(error)))
                return
            self._read_at = time.monotonic()


def keys_of(text: bytes, algorithm: str | None = None) -> Mapping[str | None, VerificationKey]:
    """The keys of a set by their ids, of one algorithm where it is named.

    What is not for us is left out; of two keys of one id the first is taken.
    """
    try:
        documents = json.loads(text)["keys"]
    except (ValueError, KeyError, TypeError, RecursionError):
        documents = None
    if not isinstance(documents, list) or not all(isinstance(document, dict) for document in documents):
        raise ValueError("it is no JSON object with a list of keys")
    keys: dict[str | None, VerificationKey] = {}
    for document in documents[:MOST_KEYS]:
        kid, key = document.get("kid"), published_key(document)
        if key is not None and algorithm in {None, key.algorithm} and (kid is None or isinstance(kid, str)):
            keys.setdefault(kid, key)
    if not keys:
        raise ValueError(f"it has no key for {algorithm or 'RS256, ES256 or EdDSA'}")
    return keys


def key_set_reader(place: str) -> Callable[[], bytes]:
    """What reads the set at a place. A file that cannot be used is refused now; an address may come up later."""
    if "://" not in place:
        path = Path(place)
        try:
            keys_of(_read_file(path))
        except OSError as error:
            raise InvalidValue("jwt_jwks", place, f"cannot be read: {error.strerror or error}") from None
        except ValueError as error:
            raise InvalidValue("jwt_jwks", place, f"cannot be used: {error}") from None
        return lambda: _read_file(path)
    address = urlsplit(place)
    if address.scheme not in {"https", "http"} or not address.hostname or address.username or address.password:
        hint = "It is a file, or an https address without a user in it."
        raise InvalidValue("jwt_jwks", redact(place), "is no address of a key set", hint=hint)
    return lambda: _fetch(place)


def _read_file(path: Path) -> bytes:
    with path.open("rb") as file:
        return _at_most(file)


def _fetch(address: str) -> bytes:
    """Read an address within a time and a size. It may not send us elsewhere."""
    opener = build_opener(_NoRedirects)
    request = Request(address, headers={"Accept": "application/jwk-set+json, application/json"})  # noqa: S310 - https or http, as was checked
    try:
        with opener.open(request, timeout=FETCH_SECONDS) as answer:
            return _at_most(answer)
    except HTTPError as error:
        error.close()  # it is the answer itself
        raise OSError(f"{urlsplit(address).hostname} answers {error.code}") from None
    except URLError as error:
        raise OSError(f"{urlsplit(address).hostname}: {error.reason}") from error


def _at_most(file: IO[bytes]) -> bytes:
    """All of it, unless it is too large or comes too slowly."""
    until, pieces, size = time.monotonic() + FETCH_SECONDS, [], 0
    while piece := file.read(_PIECE_BYTES):
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST_SET_BYTES or time.monotonic() > until:
            raise ValueError(f"it is larger than {LARGEST_SET_BYTES:,} bytes, or takes too long")
    return b"".join(pieces)


class _NoRedirects(HTTPRedirectHandler):
    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow none: the answer stands as the error that it is."""
