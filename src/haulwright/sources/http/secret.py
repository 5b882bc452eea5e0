"""Credentials: values that are sent and never shown, and addresses as they may be shown."""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, NoReturn, Self
from urllib.parse import quote, quote_plus, unquote

from haulwright.redaction import MASK, redact, remember

_LONGEST_SHOWN: Final = 200
_HIDDEN_PARAMETER: Final = re.compile(
    r"(?:key|token|secret|sig|signature|passwd|password|pwd|auth|authorization|credentials?|session(?:id)?|sid|jwt)$",
    re.IGNORECASE,
)
_QUERY_PAIR: Final = re.compile(r"([?&;])([^=&;#\s]{1,200})=([^&#\s]*)")
_USERINFO: Final = re.compile(r"(^[a-z][a-z0-9+.-]*:)?//[^/?#]*@", re.IGNORECASE)
_SCHEME_WORD: Final = re.compile(r"(?:bearer|basic|token|apikey)\s+(.+)$", re.IGNORECASE)


class Secret:
    """A value that is sent and never shown: text, repr and format are a mask, and whatever is redacted knows it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value
        for form in (value, quote(value, safe=""), quote_plus(value), json.dumps(value)[1:-1], repr(value)[1:-1]):
            remember(form)

    def reveal(self) -> str:
        """The value itself, for the one line that sends it."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret('{MASK}')"

    def __str__(self) -> str:
        return MASK

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))

    def __reduce__(self) -> NoReturn:
        message = "A secret is not written down: it cannot be pickled or copied into another process."
        raise TypeError(message)


@dataclass(frozen=True, slots=True)
class Credential:
    """Who asks: the header or parameter that proves it, and what to call it when it is refused."""

    headers: Mapping[str, Secret] = field(default_factory=dict)
    params: Mapping[str, Secret] = field(default_factory=dict)
    name: str = ""
    """The name under which a refusal is reported."""
    shared: bool = False
    """More than one tenant asks with it: a refusal opens its breaker instead of burying one job."""

    @classmethod
    def bearer(cls, token: Secret, *, name: str = "", shared: bool = False) -> Self:
        """A token in the Authorization header."""
        return cls({"authorization": Secret(f"Bearer {token.reveal()}")}, {}, name, shared)

    @classmethod
    def basic(cls, user: str, password: Secret, *, name: str = "", shared: bool = False) -> Self:
        """A user and a password in the Authorization header."""
        packed = Secret(b64encode(f"{user}:{password.reveal()}".encode()).decode())
        return cls({"authorization": Secret(f"Basic {packed.reveal()}")}, {}, name, shared)

    @classmethod
    def in_header(cls, header: str, key: Secret, *, name: str = "", shared: bool = False) -> Self:
        """A key in a header of its own, such as X-Api-Key."""
        return cls({header.lower(): key}, {}, name, shared)

    @classmethod
    def in_query(cls, param: str, key: Secret, *, name: str = "", shared: bool = False) -> Self:
        """A key in the query, for servers that take it nowhere else."""
        return cls({}, {param: key}, name, shared)


def remember_credentials(headers: Mapping[str, str]) -> None:
    """Mask from now on what these headers prove themselves with."""
    for name in ("authorization", "proxy-authorization"):
        if value := headers.get(name):
            for proof in proofs_in(value):
                Secret(proof)
    for pair in headers.get("cookie", "").split(";"):
        if value := pair.partition("=")[2].strip():
            Secret(value)


def proofs_in(value: str) -> list[str]:
    """What a header proves itself with: without the word that names its kind, and the password of a packed pair too."""
    word = _SCHEME_WORD.match(value)
    proof = word[1] if word else value
    if not value.lower().startswith("basic "):
        return [proof]
    try:
        return [proof, b64decode(proof).decode().partition(":")[2]]
    except ValueError:
        return [proof]


def hidden_parameters(query: str) -> list[str]:
    """The values of parameters whose name says that they are secret, as they are written."""
    pairs = _QUERY_PAIR.findall(f"?{query}")
    return [value for _, name, value in pairs if value and _HIDDEN_PARAMETER.search(unquote(name))]


def remember_parameters(query: str) -> None:
    """Mask them from now on."""
    for value in hidden_parameters(query):
        Secret(unquote(value))
        remember(value)


def shown_url(url: str) -> str:
    """The address as it may be shown: without userinfo, secret parameters and known secrets."""
    bare = _USERINFO.sub(r"\1//", url)
    return redact(_QUERY_PAIR.sub(_hide, bare))


def shown_place(url: str) -> str:
    """The address as an error names it: without its query, in one line."""
    place = shown_url(url.partition("?")[0].partition("#")[0])
    return place if len(place) <= _LONGEST_SHOWN else f"{place[:_LONGEST_SHOWN]}…"


def _hide(pair: re.Match[str]) -> str:
    """One parameter, masked where its name says so."""
    mark, name, value = pair.groups()
    return f"{mark}{name}={MASK if value and _HIDDEN_PARAMETER.search(unquote(name)) else value}"
