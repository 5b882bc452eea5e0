"""The keys that a login's tokens are verified by: read again in time, and refused early where they are unsafe."""

from __future__ import annotations

import asyncio
import json

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import ECAlgorithm

from haulwright.api.auth.identity import CallerIdentity
from haulwright.api.kit.problems import Unauthenticated
from haulwright.api.settings import jwt_authenticator
from haulwright.errors import InvalidValue, Refused
from tests.api.tokens import SECRET, Issuer, b64, identify, publishing, settings


def test_a_new_key_is_found_without_a_restart_and_a_flood_of_unknown_ones_reads_once():
    old, new = Issuer.new("ES256", "old"), Issuer.new("EdDSA", "new")
    clock = [1000.0]

    async def story(published, authenticator, monotonic):
        assert await authenticator.identify(old.token())
        assert published.reads == 1

        published.keys.append(new.jwk)
        flood = [Issuer("ES256", old.private, f"x{number}").token() for number in range(50)]
        answers = await asyncio.gather(*map(authenticator.identify, [*flood, new.token()]), return_exceptions=True)
        assert {type(answer) for answer in answers} == {Unauthenticated}
        assert published.reads == 1  # within the cool-down

        monotonic[0] += 31
        answers = await asyncio.gather(*map(authenticator.identify, [*flood, new.token()]), return_exceptions=True)
        assert published.reads == 2
        assert answers[-1] == CallerIdentity("ada", "tenant", "acme")
        assert await authenticator.identify(old.token())

    with publishing(old.jwk) as published, pytest.MonkeyPatch.context() as patch:
        patch.setattr("haulwright.api.auth.jwks.time", _Clock(clock))
        asyncio.run(story(published, jwt_authenticator(settings(jwt_jwks=published.address)), clock))


class _Clock:
    """The time of a key set, set by hand."""

    def __init__(self, moment):
        self._moment = moment

    def monotonic(self):
        return self._moment[0]


@pytest.mark.parametrize(
    "trouble",
    [{"status": 500}, {"status": 302}, {"body": b"<html>"}, {"body": b"{}"}, {"body": b'{"keys": []}'},
     {"body": b" " * 300_000}],
    ids=str,
)  # fmt: skip
def test_keys_that_cannot_be_read_again_stay_as_they_were(trouble):
    issuer, stranger, clock = Issuer.new("ES256"), Issuer.new("ES256", "k2"), [1000.0]

    async def story(published, authenticator):
        assert await authenticator.identify(issuer.token())
        for name, value in trouble.items():
            setattr(published, name, value)
        clock[0] += 31
        with pytest.raises(Unauthenticated):
            await authenticator.identify(stranger.token())
        assert published.reads == 2
        assert await authenticator.identify(issuer.token())

    with publishing(issuer.jwk) as published, pytest.MonkeyPatch.context() as patch:
        patch.setattr("haulwright.api.auth.jwks.time", _Clock(clock))
        asyncio.run(story(published, jwt_authenticator(settings(jwt_jwks=published.address))))


def test_a_key_that_was_withdrawn_is_refused_once_the_set_was_read_again():
    gone, kept, clock = Issuer.new("ES256", "gone"), Issuer.new("ES256", "kept"), [1000.0]

    async def story(published, authenticator):
        assert await authenticator.identify(gone.token())
        published.keys[:] = [kept.jwk]
        clock[0] += 3601
        assert await authenticator.identify(gone.token())  # the set is read beside it
        await authenticator._keys._refreshing
        with pytest.raises(Unauthenticated):
            await authenticator.identify(gone.token())

    with publishing(gone.jwk, kept.jwk) as published, pytest.MonkeyPatch.context() as patch:
        patch.setattr("haulwright.api.auth.jwks.time", _Clock(clock))
        asyncio.run(story(published, jwt_authenticator(settings(jwt_jwks=published.address))))


def test_of_a_key_set_only_public_keys_for_signatures_are_taken(tmp_path, issuers):
    good, weak = issuers["RS256"], Issuer("RS256", rsa.generate_private_key(65537, 1024), "weak")  # noqa: S505 - so it is refused
    others = [
        {"kty": "oct", "k": b64(SECRET.encode()), "kid": "secret"},
        {**issuers["ES256"].jwk, "kid": "encrypts", "use": "enc"},
        {**json.loads(ECAlgorithm.to_jwk(issuers["ES256"].private)), "kid": "private"},
        {**issuers["RS256"].jwk, "kid": "other", "alg": "RS512"},
        {"kty": "EC", "crv": "P-256", "kid": "broken"},
        weak.jwk,
    ]
    path = tmp_path / "keys.json"
    path.write_text(json.dumps({"keys": [*others, good.jwk]}))
    authenticator = jwt_authenticator(settings(jwt_jwks=path))

    assert identify(authenticator, good.token())
    assert identify(authenticator, good.token({"kid": None}))  # it is the only one
    for issuer, kid in ((issuers["HS256"], "secret"), (issuers["ES256"], "encrypts"), (issuers["ES256"], "private"),
                        (good, "other"), (weak, "weak"), (good, "../../k1"), (good, "' or 1=1 --")):  # fmt: skip
        with pytest.raises(Unauthenticated):
            identify(authenticator, issuer.token({"kid": kid}))


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ({"jwt_secret": SECRET, "jwt_audience": None}, "without jwt_audience"),
        ({"jwt_secret": SECRET, "jwt_issuer": None}, "without jwt_issuer"),
        ({"jwt_secret": "too-short"}, "shorter than 32 bytes"),
        ({"jwt_secret": SECRET, "jwt_jwks": "keys.json"}, "come from one place"),
        ({"jwt_secret": SECRET, "jwt_algorithm": "RS256"}, "does not go with jwt_secret"),
        ({"jwt_secret": SECRET, "jwt_algorithm": "none"}, "is not one of HS256"),
        ({"jwt_jwks": "https://login.example/jwks", "jwt_algorithm": "HS256"}, "does not go with jwt_jwks"),
        ({"jwt_jwks": "nowhere.json"}, "cannot be read"),
        ({"jwt_jwks": "https://ada:hunter2@login.example/jwks"}, "no address of a key set"),
        ({"jwt_jwks": "ftp://login.example/jwks"}, "no address of a key set"),
        ({"jwt_public_key": "nowhere.pem"}, "cannot be read"),
        ({"jwt_public_key": __file__}, "no public key in PEM"),
        ({}, "jwt_issuer is set, and no key"),
    ],
    ids=str,
)
def test_settings_that_would_let_the_wrong_ones_in_are_refused_at_the_start(figures, told):
    with pytest.raises(Refused, match=told) as refusal:
        jwt_authenticator(settings(**figures))
    assert "hunter2" not in str(refusal.value)
    assert "too-short" not in str(refusal.value)


def test_a_key_and_an_algorithm_that_differ_are_refused_at_the_start(issuers, key_file):
    with pytest.raises(InvalidValue, match="which is for EdDSA"):
        jwt_authenticator(settings(jwt_public_key=key_file(issuers["EdDSA"]), jwt_algorithm="ES256"))
