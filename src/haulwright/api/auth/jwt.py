"""JSON Web Tokens of somebody else's login: verified by a key that we were given, for us, from whom we trust, and now.

Nothing of a token is believed before its signature holds: of its header only the id of a key is used, to look the key
up among ours, and the algorithm must be the one of that key. Every refusal looks the same outside.
"""

from __future__ import annotations

import base64
import binascii
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

from jwt.api_jws import PyJWS
from jwt.exceptions import PyJWTError

from haulwright.api.auth.identity import CallerIdentity
from haulwright.api.auth.keys import ALGORITHMS, KeyRing
from haulwright.api.kit.problems import Unauthenticated
from haulwright.engine.names import check_name
from haulwright.errors import InvalidValue
from haulwright.operations.principal import Role
from haulwright.stores.api_tokens import MARK

LONGEST_TOKEN_CHARS: Final = 16_384
LONGEST_KID_CHARS: Final = 255
SEGMENTS: Final = 3
REFUSED_HEADERS: Final = frozenset({"crit", "b64", "jwk", "jku", "x5u", "x5c"})
"""They ask for rules that we do not know, or bring a key of their own. Nothing depends on any others."""
TYPES: Final = frozenset({"jwt", "at+jwt", "application/at+jwt", "application/jwt"})
STRONGEST_FIRST: Final[tuple[Role, ...]] = ("admin", "support", "tenant")
LATEST_MOMENT: Final = 253_402_300_800
"""The end of the year 9999, in seconds."""


@dataclass(frozen=True, slots=True)
class TokenRules:
    """What a token must say."""

    issuer: str
    audience: str
    leeway_seconds: float = 30.0
    tenant_claim: str = "tenant"
    roles_claim: str = "roles"


class JwtAuthenticator:
    """Knows who shows a token of the issuer."""

    def __init__(self, keys: KeyRing, rules: TokenRules, *, now: Callable[[], float] = time.time) -> None:
        self._keys = keys
        self._rules = rules
        self._now = now

    async def identify(self, credential: str) -> CallerIdentity | None:
        """Who shows it; None where it is a token of our own."""
        if credential.startswith(MARK):
            return None
        header = _unverified_header(credential)
        key = await self._keys.find(header.get("kid"))
        if key is None:
            _refuse("its key is not known")
        if header["alg"] != key.algorithm:
            _refuse(f"its algorithm is not that of the key, {key.algorithm}")
        try:
            payload = _SIGNATURES.decode(credential, key.key, algorithms=[key.algorithm])
        except (PyJWTError, ValueError, TypeError):
            _refuse("its signature does not hold")
        return self._identity(_json_object(payload, "payload"))

    def _identity(self, claims: Mapping[str, Any]) -> CallerIdentity:
        """Whom the claims of a verified token name, where they hold for us and now."""
        self._require_time(claims)
        if claims.get("iss") != self._rules.issuer:
            _refuse("it is of another issuer")
        audience: Any = claims.get("aud")
        audiences: Any = [audience] if isinstance(audience, str) else audience
        if not _is_texts(audiences) or self._rules.audience not in audiences:
            _refuse("it is for another audience")
        try:
            name = check_name("sub", claims.get("sub"))
            tenant = claims.get(self._rules.tenant_claim)
            tenant = None if tenant is None else check_name(self._rules.tenant_claim, tenant)
        except InvalidValue as error:
            _refuse(f"a claim makes no sense: {error.why}")
        role = self._role(claims.get(self._rules.roles_claim))
        if role == "admin" and tenant is not None:
            _refuse("an admin sees all tenants, and it names one")  # else a customer's admin would be one of ours
        return CallerIdentity(name, role, tenant)

    def _require_time(self, claims: Mapping[str, Any]) -> None:
        now, leeway = self._now(), self._rules.leeway_seconds
        expires, begins, issued = (_moment(claims, name) for name in ("exp", "nbf", "iat"))
        if expires is None:
            _refuse("it has no expiry")
        if expires <= now - leeway:
            _refuse("it has expired")
        if any(moment is not None and moment > now + leeway for moment in (begins, issued)):
            _refuse("it is not valid yet")

    def _role(self, roles: Any) -> Role:
        """The strongest role of a claim. Words that are no roles of ours are of somebody else's programs."""
        words = roles.split() if isinstance(roles, str) else ([] if roles is None else roles)
        if not _is_texts(words):
            _refuse(f"the claim {self._rules.roles_claim!r} is no list of words")
        return next((role for role in STRONGEST_FIRST if role in words), "tenant")


_SIGNATURES: Final = PyJWS(algorithms=list(ALGORITHMS))


def _unverified_header(credential: str) -> Mapping[str, Any]:
    """The header of a token whose form is right. Nothing in it is proven."""
    if len(credential) > LONGEST_TOKEN_CHARS or not credential.isascii():
        _refuse("it is too long, or has characters that no token has")
    segments = credential.split(".")
    if len(segments) != SEGMENTS:
        _refuse("it is no token that is known here")
    try:
        raw = base64.b64decode(segments[0] + "=" * (-len(segments[0]) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        _refuse("its header is no base64url")
    header = _json_object(raw, "header")
    if refused := sorted(REFUSED_HEADERS & set(header)):
        _refuse(f"its header has {refused[0]!r}")
    kid, kind = header.get("kid"), header.get("typ", "JWT")
    if "kid" in header and not (isinstance(kid, str) and 0 < len(kid) <= LONGEST_KID_CHARS):
        _refuse("the id of its key is no short text")
    if not isinstance(kind, str) or kind.lower() not in TYPES:
        _refuse("it is of another type")
    if header.get("alg") not in ALGORITHMS:
        _refuse("its algorithm is none that is taken")
    return header


def _json_object(text: bytes, what: str) -> Mapping[str, Any]:
    """A JSON object in which no name stands twice: readers differ on which of the two counts."""
    try:
        document = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        _refuse(f"its {what} is no JSON, or has a name twice")
    if not isinstance(document, dict):
        _refuse(f"its {what} is no JSON object")
    return document


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(names) != len(set(names)):
        raise ValueError("a name stands twice")
    return dict(pairs)


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _moment(claims: Mapping[str, Any], name: str) -> float | None:
    value = claims.get(name)
    if name not in claims:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LATEST_MOMENT:
        _refuse(f"the claim {name!r} is no time")
    return value


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in value)


def _refuse(why: str) -> NoReturn:
    raise Unauthenticated(why)
