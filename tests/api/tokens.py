"""Somebody who issues tokens, honest ones and others (by hand, so that no library refuses to), and who trusts them."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwt.algorithms import ECAlgorithm, OKPAlgorithm, RSAAlgorithm

from haulwright.api.auth.identity import CallerIdentity
from haulwright.api.auth.jwt import JwtAuthenticator
from haulwright.settings import Settings

ISSUER = "https://login.example"
AUDIENCE = "haulwright"
SECRET = "a-secret-of-the-tests-that-is-long-enough-0aB1"  # noqa: S105 - of nobody
ALGORITHMS: dict[str, Any] = {"RS256": RSAAlgorithm, "ES256": ECAlgorithm, "EdDSA": OKPAlgorithm}


def settings(**figures: Any) -> Settings:
    """Those of an API that trusts the issuer, with these figures changed; None takes one away."""
    usual = {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE}
    words = {name: str(value) for name, value in {**usual, **figures}.items() if value is not None}
    return Settings.load({f"HAULWRIGHT_{name.upper()}": value for name, value in words.items()}, Path(__file__).parent)


def identify(authenticator: JwtAuthenticator, token: str) -> CallerIdentity | None:
    """Whom a token is taken to be of."""
    return asyncio.run(authenticator.identify(token))


def b64(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()


def claims(**changes: Any) -> dict[str, Any]:
    """What a good token says; None takes a claim away."""
    now = int(time.time())
    usual = {
        "iss": ISSUER,
        "aud": AUDIENCE,
        "sub": "ada",
        "tenant": "acme",
        "nbf": now - 5,
        "iat": now,
        "exp": now + 300,
    }
    return {name: value for name, value in {**usual, **changes}.items() if value is not None}


@dataclass
class Issuer:
    """A key, and the tokens that are signed with it."""

    algorithm: str
    private: Any
    kid: str = "k1"

    @classmethod
    def new(cls, algorithm: str, kid: str = "k1") -> Issuer:
        make = {
            "RS256": lambda: rsa.generate_private_key(65537, 2048),
            "ES256": lambda: ec.generate_private_key(ec.SECP256R1()),
            "EdDSA": ed25519.Ed25519PrivateKey.generate,
            "HS256": SECRET.encode,
        }
        return cls(algorithm, make[algorithm](), kid)

    @property
    def pem(self) -> bytes:
        return bytes(self.private.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))

    @property
    def jwk(self) -> dict[str, Any]:
        return {**json.loads(ALGORITHMS[self.algorithm].to_jwk(self.private.public_key())), "kid": self.kid}

    def token(self, header: dict[str, Any] | None = None, payload: bytes | None = None, **changes: Any) -> str:
        """A token; `header` and claims may be changed, or the payload be given as it stands."""
        usual = {"alg": self.algorithm, "typ": "JWT", "kid": self.kid}
        head = {name: value for name, value in {**usual, **(header or {})}.items() if value is not None}
        body = json.dumps(claims(**changes)).encode() if payload is None else payload
        signed = f"{b64(json.dumps(head).encode())}.{b64(body)}"
        return f"{signed}.{b64(self.sign(signed.encode()))}"

    def sign(self, text: bytes) -> bytes:
        match self.algorithm:
            case "HS256":
                return hmac_of(self.private, text)
            case "RS256":
                return bytes(self.private.sign(text, padding.PKCS1v15(), SHA256()))
            case "ES256":
                r, s = decode_dss_signature(self.private.sign(text, ec.ECDSA(SHA256())))
                return r.to_bytes(32, "big") + s.to_bytes(32, "big")
            case _:
                return bytes(self.private.sign(text))


def hmac_of(key: bytes, text: bytes) -> bytes:
    return hmac.new(key, text, hashlib.sha256).digest()


@dataclass
class KeyServer:
    """Publishes a key set, and counts who reads it."""

    keys: list[dict[str, Any]]
    reads: int = 0
    status: int = 200
    body: bytes | None = None
    address: str = field(default="")


@contextmanager
def publishing(*keys: dict[str, Any]) -> Iterator[KeyServer]:
    """A key set at an address on loopback."""
    published = KeyServer(list(keys))

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            published.reads += 1
            body = json.dumps({"keys": published.keys}).encode() if published.body is None else published.body
            self.send_response(published.status)
            self.send_header("Location", "http://127.0.0.1:1/")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        published.address = f"http://127.0.0.1:{server.server_address[1]}/jwks.json"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield published
        finally:
            server.shutdown()
            thread.join()
