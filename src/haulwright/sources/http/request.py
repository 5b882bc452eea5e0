"""What is asked: one request as a value, and what a redirect makes of it."""

from __future__ import annotations

import json as json_text
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final
from urllib.parse import unquote

from haulwright.__about__ import __version__
from haulwright.errors import InvalidValue
from haulwright.redaction import SHORTEST_SECRET
from haulwright.sources.http.address import Address, parse
from haulwright.sources.http.classify import Blocked, Rejected
from haulwright.sources.http.decompression import ACCEPTED
from haulwright.sources.http.secret import Credential, Secret, hidden_parameters, proofs_in, remember_credentials

Text = str | Secret
Headers = Mapping[str, Text]
Value = str | int | float | bool | Secret
Params = Mapping[str, Value | Sequence[Value] | None]

DEFAULT_HEADERS: Final = {"user-agent": f"haulwright/{__version__}", "accept": "*/*", "accept-encoding": ACCEPTED}
CREDENTIALS: Final = frozenset({"authorization", "cookie", "proxy-authorization"})
_SAFE_ELSEWHERE: Final = frozenset({
    "accept", "accept-encoding", "accept-language", "cache-control", "if-match", "if-modified-since", "if-none-match",
    "if-range", "if-unmodified-since", "pragma", "range", "user-agent",
})  # fmt: skip
"""What another origin may be told after a redirect: nothing in it can be a credential."""
_OURS: Final = frozenset({"connection", "content-length", "host", "te", "trailer", "transfer-encoding", "upgrade"})

_METHOD: Final = re.compile(r"[A-Z]{1,20}")
_NAME: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}")
_VALUE: Final = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
_SEE_OTHER: Final = 303
_SAME_METHOD: Final = frozenset({307, 308})
_SAFE_METHODS: Final = frozenset({"GET", "HEAD"})


@dataclass(frozen=True, slots=True, repr=False)
class Request:
    """One request. Names of headers are in lower case."""

    method: str
    address: Address
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    proven: bool = False
    """It carries a credential: its answer is for whoever has that."""
    secrets: tuple[str, ...] = ()
    """What it proves itself with."""

    @property
    def what(self) -> str:
        """The request as errors name it."""
        return f"{self.method} {self.address.place}"

    def with_headers(self, more: Mapping[str, str]) -> Request:
        """The same request with more headers."""
        return replace(self, headers=self.headers | dict(more))

    def is_repeated_in(self, headers: Mapping[str, str], body: bytes) -> bool:
        """Whether an answer says the credential back: such a one is not written down."""
        text = "\n".join(headers.values())
        return any(secret in text or secret.encode() in body for secret in self.secrets)

    def redirected(self, status: int, location: str | None) -> Request | None:
        """The request that a redirect leads to, None where it is not to be followed."""
        if status not in _REDIRECTS or not location:
            return None
        again = self.method in _SAFE_METHODS or status in _SAME_METHOD
        if not again and status != _SEE_OTHER:
            return None
        address = self._onward(location, status)
        if self.address.scheme == "https" and address.scheme != "https":
            raise Blocked(f"{self.what} leads from https to {address.place}, where anybody could read along.")
        elsewhere = address.origin != self.address.origin
        if elsewhere and again and self.method not in _SAFE_METHODS:
            return None
        headers = {k: v for k, v in self.headers.items() if not elsewhere or k in _SAFE_ELSEWHERE}
        if not again:
            headers = {k: v for k, v in headers.items() if not k.startswith("content-")}
        method = self.method if again else "GET"
        body, proven = self.body if again else b"", self.proven and not elsewhere
        return Request(method, address, headers, body, proven, self.secrets)

    def _onward(self, location: str, status: int) -> Address:
        """Where a Location leads. Nonsense in it is the server's fault, not the caller's."""
        try:
            return parse(_as_written(location), base=self.address)
        except InvalidValue as problem:
            why = problem.why
        raise Rejected(f"{self.what} leads to what {why}.", status=status)

    def __str__(self) -> str:
        return self.what  # so that errors take the request itself: most calls fail at nothing, and need no name

    def __repr__(self) -> str:
        return f"<Ask {self.what}>"


def build_request(  # noqa: PLR0913  what a request may need, each with a name
    method: str,
    url: str,
    *,
    defaults: Headers,
    credential: Credential | None,
    headers: Headers | None = None,
    params: Params | None = None,
    json: Any = None,
    content: bytes | str | None = None,
) -> Request:
    """Return the request that these words describe, or refuse them without showing a secret."""
    method = method.upper()
    if not _METHOD.fullmatch(method):
        raise InvalidValue("method", method[:20], "is no HTTP method")
    pairs = [*_pairs(params or {}), *_pairs(dict(credential.params) if credential else {})]
    address = parse(url, pairs)
    proof = {**(address.credential.headers if address.credential else {}), **(credential.headers if credential else {})}
    body, kind = _body(json, content)
    merged = _checked([DEFAULT_HEADERS, kind, defaults, proof, headers or {}])
    remember_credentials(merged)
    values = [*defaults.values(), *(headers or {}).values(), *(params or {}).values()]
    hidden = [*proof.values(), *(credential.params.values() if credential else ()), *values]
    proofs = [value.reveal() for value in hidden if isinstance(value, Secret)]
    proofs += [merged[name] for name in CREDENTIALS & merged.keys()]
    hints = map(unquote, hidden_parameters(address.target.partition("?")[2]))
    forms = {form for value in (*proofs, *hints) for form in proofs_in(value)}
    secrets = tuple(form for form in forms if len(form) >= SHORTEST_SECRET)
    return Request(method, address, merged, body, bool(credential or proofs), secrets)


def _as_written(location: str) -> str:
    """A Location with the bytes that the server wrote: UTF-8 where they are that, each as it is where not."""
    if location.isascii():
        return location
    written = location.encode("latin-1", "ignore")  # as headers are decoded, so nothing is ignored
    try:
        return written.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in written)  # noqa: PLR2004  ASCII


def _body(json: Any, content: bytes | str | None) -> tuple[bytes, dict[str, str]]:
    """Return the bytes of a body and the header that names their kind."""
    if json is not None and content is not None:
        raise InvalidValue("content", "json", "was given too: a request has one body")
    if content is not None:
        return (content.encode() if isinstance(content, str) else bytes(content)), {}
    if json is None:
        return b"", {}
    try:
        text = json_text.dumps(json, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError):
        text = None
    if text is None:
        raise InvalidValue("json", type(json).__name__, "cannot be written as JSON")
    return text.encode(), {"content-type": "application/json"}


def _checked(layers: Iterable[Mapping[str, Text]]) -> dict[str, str]:
    """Return the headers of all layers, the later over the earlier, or refuse one that could split the request."""
    merged: dict[str, str] = {}
    for name, text in (item for layer in layers for item in layer.items()):
        value = text.reveal() if isinstance(text, Secret) else text
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise InvalidValue("headers", name[:100], "has a name or value that no header can have")
        if name.lower() in _OURS:
            raise InvalidValue("headers", name, "is set by the client itself")
        merged[name.lower()] = value.strip()
    return merged


def _pairs(params: Params) -> list[tuple[str, str]]:
    """Return the parameters as pairs of text: None is left out, a list is repeated."""
    pairs: list[tuple[str, str]] = []
    for name, entry in params.items():
        values = entry if isinstance(entry, list | tuple) else [entry]
        pairs += [(name, _text(value)) for value in values if value is not None]
    return pairs


def _text(value: object) -> str:
    """One value of a parameter as text."""
    if isinstance(value, Secret):
        return value.reveal()
    return str(value).lower() if isinstance(value, bool) else str(value)
