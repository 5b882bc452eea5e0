"""What the settings say about the web: who may come in. Figures that do not fit together are refused at the start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from haulwright.api.auth.api_tokens import ApiTokenAuthenticator
from haulwright.api.auth.jwks import PublishedKeys, key_set_reader
from haulwright.api.auth.jwt import JwtAuthenticator, TokenRules
from haulwright.api.auth.keys import ALGORITHMS, SYMMETRIC, KeyRing, SingleKey, public_key, secret_key
from haulwright.errors import InvalidValue, Refused
from haulwright.redaction import remember

if TYPE_CHECKING:
    from haulwright.api.auth.identity import Authenticator
    from haulwright.client.app import Haulwright
    from haulwright.settings import Settings

KEYS: Final = ("jwt_secret", "jwt_public_key", "jwt_jwks")
"""Where the keys of tokens may come from: one of them."""


def authenticators_of(app: Haulwright, settings: Settings) -> list[Authenticator]:
    """The ways in: our own tokens, and those of a login where a key is set."""
    jwt = jwt_authenticator(settings)
    return [ApiTokenAuthenticator(app), *([] if jwt is None else [jwt])]


def jwt_authenticator(settings: Settings) -> JwtAuthenticator | None:
    """Whoever verifies the tokens of a login; None where no key is set."""
    remember(settings["jwt_secret"])
    named = [name for name in KEYS if settings[name]]
    if len(named) > 1:
        message = f"The keys of tokens come from one place, and {' and '.join(named)} are set."
        raise Refused(message, hint="Leave one of them: a token must not choose by which key it is verified.")
    if not named:
        orphan = next((name for name in ("jwt_issuer", "jwt_audience", "jwt_algorithm") if settings[name]), None)
        if orphan is not None:
            hint = f"Set one of {', '.join(KEYS)}, or leave {orphan} out."
            raise Refused(f"{orphan} is set, and no key to verify tokens by.", hint=hint)
        return None
    for name, claim in (("jwt_issuer", "iss"), ("jwt_audience", "aud")):
        if not settings[name]:
            hint = f"Set HAULWRIGHT_{name.upper()} to the {claim!r} of the tokens that your login issues for it."
            raise Refused(f"{named[0]} is set without {name}: a token for anybody else would be taken.", hint=hint)
    rules = TokenRules(
        str(settings["jwt_issuer"]),
        str(settings["jwt_audience"]),
        float(settings["jwt_leeway_seconds"]),
        str(settings["jwt_tenant_claim"]),
        str(settings["jwt_roles_claim"]),
    )
    return JwtAuthenticator(_keys(named[0], settings), rules)


def _keys(name: str, settings: Settings) -> KeyRing:
    place, algorithm = str(settings[name]), settings["jwt_algorithm"]
    if algorithm is not None and algorithm not in ALGORITHMS:
        raise InvalidValue("jwt_algorithm", algorithm, f"is not one of {', '.join(ALGORITHMS)}")
    if (name == "jwt_secret") != (algorithm == SYMMETRIC) and algorithm is not None:
        raise InvalidValue("jwt_algorithm", algorithm, f"does not go with {name}")
    if name == "jwt_secret":
        return SingleKey(secret_key(place))
    if name == "jwt_public_key":
        return SingleKey(public_key(Path(place), algorithm))
    cool_down = float(settings["jwt_cool_down_seconds"])
    return PublishedKeys(key_set_reader(place), cool_down_seconds=cool_down, algorithm=algorithm)
