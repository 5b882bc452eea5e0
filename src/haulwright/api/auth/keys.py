"""Keys by which tokens of somebody else are verified. A key has one algorithm, whatever a token says of itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key
from jwt.api_jwk import PyJWK
from jwt.exceptions import PyJWTError

from haulwright.errors import InvalidValue

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.types import PublicKeyTypes

SYMMETRIC: Final = "HS256"
ALGORITHMS: Final = (SYMMETRIC, "RS256", "ES256", "EdDSA")
SHORTEST_SECRET_BYTES: Final = 32
"""What HS256 needs, by RFC 7518: a shorter secret is found by trying."""
FEWEST_RSA_BITS: Final = 2048
LARGEST_KEY_FILE_BYTES: Final = 65_536


@dataclass(frozen=True, slots=True)
class VerificationKey:
    """A key, and the one algorithm that it is for."""

    algorithm: str
    key: Any


class KeyRing(Protocol):
    """Where the key of a token is found."""

    async def find(self, kid: str | None) -> VerificationKey | None:
        """The key that goes by this id; None where there is none. A ring of one key needs no id."""


class SingleKey:
    """One key from the settings. The id that a token names counts for nothing."""

    def __init__(self, key: VerificationKey) -> None:
        self._key = key

    async def find(self, kid: str | None) -> VerificationKey | None:  # noqa: ARG002 - as a ring has it
        """That key."""
        return self._key


def secret_key(secret: str) -> VerificationKey:
    """A secret that both sides have."""
    if len(secret.encode()) < SHORTEST_SECRET_BYTES:
        why = f"is shorter than {SHORTEST_SECRET_BYTES} bytes"
        hint = "Make one: python -c 'import secrets; print(secrets.token_urlsafe(48))'"
        raise InvalidValue("jwt_secret", "***", why, hint=hint)
    return VerificationKey(SYMMETRIC, secret.encode())


def public_key(path: Path, algorithm: str | None) -> VerificationKey:
    """The public key in a PEM file, with the algorithm that its kind has."""
    try:
        with path.open("rb") as file:
            key = load_pem_public_key(file.read(LARGEST_KEY_FILE_BYTES))
    except OSError as error:
        raise InvalidValue("jwt_public_key", str(path), f"cannot be read: {error.strerror or error}") from None
    except (ValueError, UnsupportedAlgorithm):
        hint = "It begins with -----BEGIN PUBLIC KEY-----. A private key stays with whoever issues tokens."
        raise InvalidValue("jwt_public_key", str(path), "is no public key in PEM", hint=hint) from None
    fitting = _algorithm_of(key)
    if fitting is None:
        hint = f"It is an RSA key of {FEWEST_RSA_BITS} bits or more, an EC key on P-256, or an Ed25519 key."
        raise InvalidValue("jwt_public_key", str(path), "is of a kind that is not taken", hint=hint)
    if algorithm not in {None, fitting}:
        raise InvalidValue("jwt_algorithm", algorithm, f"is not that of the key, which is for {fitting}")
    return VerificationKey(fitting, key)


def published_key(document: Mapping[str, Any]) -> VerificationKey | None:
    """A public key of a key set; None for what is not for us: other purposes, other kinds, secrets, private keys."""
    if document.get("use", "sig") != "sig" or "verify" not in document.get("key_ops", ["verify"]):
        return None
    if document.get("kty") not in {"RSA", "EC", "OKP"}:
        return None
    try:
        key = PyJWK({**document, "alg": None}, algorithm=_guess(document)).key
    except (PyJWTError, ValueError, TypeError, KeyError, UnsupportedAlgorithm):
        return None
    fitting = _algorithm_of(key)
    if fitting is None or document.get("alg", fitting) != fitting:
        return None
    return VerificationKey(fitting, key)


def _guess(document: Mapping[str, Any]) -> str:
    return {"RSA": "RS256", "EC": "ES256", "OKP": "EdDSA"}[document["kty"]]


def _algorithm_of(key: PublicKeyTypes) -> str | None:
    """The one algorithm of a key; None for kinds and sizes that are not taken."""
    if isinstance(key, RSAPublicKey) and key.key_size >= FEWEST_RSA_BITS:
        return "RS256"
    if isinstance(key, EllipticCurvePublicKey) and isinstance(key.curve, SECP256R1):
        return "ES256"
    return "EdDSA" if isinstance(key, Ed25519PublicKey) else None
