"""Tokens of somebody's login: who is let in by them, and everything that is not."""

from __future__ import annotations

import base64
import json
import logging
import time

import pytest

from haulwright import Haulwright
from haulwright.api.auth.identity import CallerIdentity
from haulwright.api.kit.problems import Unauthenticated
from haulwright.api.settings import authenticators_of, jwt_authenticator
from haulwright.errors import InvalidValue
from tests.api.conftest import serving
from tests.api.tokens import AUDIENCE, ISSUER, SECRET, Issuer, b64, hmac_of, identify, settings


@pytest.fixture
def by_key(issuers, key_file):
    """Whoever verifies by the one key of an algorithm."""

    def make(algorithm, **figures):
        if algorithm == "HS256":
            return jwt_authenticator(settings(jwt_secret=SECRET, **figures))
        return jwt_authenticator(settings(jwt_public_key=key_file(issuers[algorithm]), **figures))

    return make


@pytest.mark.parametrize("algorithm", ["HS256", "RS256", "ES256", "EdDSA"])
@pytest.mark.proves("TN-01")
def test_a_token_of_the_login_says_who_calls_and_whose_rows_it_sees(by_key, issuers, algorithm):
    authenticator = by_key(algorithm)

    assert identify(authenticator, issuers[algorithm].token()) == CallerIdentity("ada", "tenant", "acme")


@pytest.mark.parametrize(
    ("said", "role"),
    [
        (None, "tenant"),
        (["viewer"], "tenant"),
        (["viewer", "support", "tenant"], "support"),
        ("tenant admin", "admin"),
        ([], "tenant"),
        ("administrator", "tenant"),
    ],
)
def test_the_strongest_role_of_a_token_counts(by_key, issuers, said, role):
    tenant = None if role == "admin" else "acme"

    assert identify(by_key("ES256"), issuers["ES256"].token(roles=said, tenant=tenant)).role == role


def test_the_claims_have_the_names_that_the_settings_give_them(by_key, issuers):
    authenticator = by_key("ES256", jwt_tenant_claim="https://login.example/org", jwt_roles_claim="groups")
    token = issuers["ES256"].token(**{"https://login.example/org": "globex", "groups": "support"}, roles=["admin"])

    assert identify(authenticator, token) == CallerIdentity("ada", "support", "globex")


def _flip(token):
    """The same with another last byte of its signature."""
    head, _, signature = token.rpartition(".")
    raw = bytearray(base64.urlsafe_b64decode(signature + "=="))
    raw[0] ^= 1
    return f"{head}.{b64(bytes(raw))}"


def _confused(issuer):
    """Signed with the public key as if it were a secret."""
    signed = issuer.token({"alg": "HS256"}).rpartition(".")[0]
    return f"{signed}.{b64(hmac_of(issuer.pem, signed.encode()))}"


def _unsigned(issuer, word="none"):
    return issuer.token({"alg": word}).rpartition(".")[0] + "."


def _twice(issuer, name, value):
    """A claim that stands twice: once as it should, once as an attacker wants it."""
    good = json.loads(base64.urlsafe_b64decode(issuer.token().split(".")[1] + "=="))
    return issuer.token(payload=json.dumps(good)[:-1].encode() + f', "{name}": {json.dumps(value)}}}'.encode())


NOW = int(time.time())
ATTACKS = {
    "no signature": _unsigned,
    "none in capitals": lambda issuer: _unsigned(issuer, "NoNe"),
    "the public key as a secret": _confused,
    "another signature": lambda issuer: _flip(issuer.token()),
    "another key": lambda issuer: Issuer.new(issuer.algorithm).token(),
    "another algorithm": lambda _: Issuer.new("EdDSA").token(),
    "an algorithm of its own": lambda issuer: issuer.token({"alg": "RS512"}),
    "no algorithm": lambda issuer: issuer.token({"alg": None}),
    "an algorithm that is no word": lambda issuer: issuer.token({"alg": ["RS256"]}),
    "another issuer": lambda issuer: issuer.token(iss="https://evil.example"),
    "no issuer": lambda issuer: issuer.token(iss=None),
    "several issuers": lambda issuer: issuer.token(iss=[ISSUER]),
    "another audience": lambda issuer: issuer.token(aud="billing"),
    "no audience": lambda issuer: issuer.token(aud=None),
    "an audience that is no word": lambda issuer: issuer.token(aud={AUDIENCE: 1}),
    "audiences that are no words": lambda issuer: issuer.token(aud=[AUDIENCE, 7]),
    "expired": lambda issuer: issuer.token(exp=NOW - 60),
    "no expiry": lambda issuer: issuer.token(exp=None),
    "an expiry in words": lambda issuer: issuer.token(exp=str(NOW + 900)),
    "an expiry that is true": lambda issuer: issuer.token(exp=True),
    "an expiry without end": lambda issuer: issuer.token(payload=b'{"exp": Infinity}'),
    "an expiry of many figures": lambda issuer: issuer.token(exp=10**30),
    "not valid yet": lambda issuer: issuer.token(nbf=NOW + 3600),
    "issued in the future": lambda issuer: issuer.token(iat=NOW + 3600),
    "nobody's": lambda issuer: issuer.token(sub=None),
    "a name that is no text": lambda issuer: issuer.token(sub=7),
    "a name with a line in it": lambda issuer: issuer.token(sub="ada\nadmin"),
    "a tenant that is no text": lambda issuer: issuer.token(tenant=["acme"]),
    "an empty tenant": lambda issuer: issuer.token(tenant=""),
    "roles that are no words": lambda issuer: issuer.token(roles=[["admin"]]),
    "a role that is a map": lambda issuer: issuer.token(roles={"admin": True}),
    "an admin of a tenant": lambda issuer: issuer.token(roles=["admin"]),
    "a tenant twice": lambda issuer: _twice(issuer, "tenant", "globex"),
    "an expiry twice": lambda issuer: _twice(issuer, "exp", NOW + 9999),
    "a key of its own": lambda issuer: issuer.token({"jwk": Issuer.new("ES256").jwk}),
    "an address of keys": lambda issuer: issuer.token({"jku": "https://evil.example/jwks"}),
    "an address of a certificate": lambda issuer: issuer.token({"x5u": "https://evil.example/x"}),
    "a certificate": lambda issuer: issuer.token({"x5c": ["MII"]}),
    "rules that we do not know": lambda issuer: issuer.token({"crit": ["exp"]}),
    "rules of an unencoded payload": lambda issuer: issuer.token({"crit": ["b64"], "b64": False}),
    "a type of its own": lambda issuer: issuer.token({"typ": "dpop+jwt"}),
    "an id that is a number": lambda issuer: issuer.token({"kid": 7}),
    "an id that is a list": lambda issuer: issuer.token({"kid": ["k1"]}),
    "an endless id": lambda issuer: issuer.token({"kid": "k" * 5000}),
    "too large": lambda issuer: issuer.token(extra="x" * 16_000),
    "too deep": lambda issuer: issuer.token(payload=b"[" * 5000 + b"]" * 5000),
    "no object": lambda issuer: issuer.token(payload=b'["acme"]'),
    "no JSON": lambda issuer: issuer.token(payload=b"acme"),
    "two parts": lambda issuer: issuer.token().rpartition(".")[0],
    "five parts": lambda issuer: issuer.token() + ".x.y",
    "no base64": lambda issuer: "ey!." + issuer.token().partition(".")[2],
    "letters beyond ASCII": lambda issuer: "é" + issuer.token(),
    "empty parts": lambda _: "..",
}


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.proves("TN-01")
def test_whatever_is_wrong_with_a_token_nobody_is_known_by_it(by_key, issuers, attack):
    issuer = issuers["RS256"]
    with pytest.raises(Unauthenticated) as refusal:
        identify(by_key("RS256"), ATTACKS[attack](issuer))

    assert refusal.value.reason
    assert refusal.value.message == Unauthenticated().message


def test_a_token_does_not_choose_the_algorithm_of_a_key(by_key, issuers):
    """Before anything is computed with it: an algorithm that reads the key in another way is never begun."""
    for attack in ("the public key as a secret", "another algorithm"):
        with pytest.raises(Unauthenticated) as refusal:
            identify(by_key("RS256"), ATTACKS[attack](issuers["RS256"]))
        assert refusal.value.reason == "its algorithm is not that of the key, RS256"


def test_a_secret_does_not_verify_what_a_key_of_another_kind_has_signed(by_key, issuers):
    for algorithm in ("RS256", "ES256", "EdDSA"):
        with pytest.raises(Unauthenticated):
            identify(by_key("HS256"), issuers[algorithm].token())


def test_clocks_may_differ_by_the_leeway_and_no_more(by_key, issuers):
    now, authenticator = time.time(), by_key("HS256", jwt_leeway_seconds=100)
    assert identify(authenticator, issuers["HS256"].token(exp=now - 60, nbf=now + 60))
    for late in ({"exp": now - 140}, {"nbf": now + 140}):
        with pytest.raises(Unauthenticated):
            identify(authenticator, issuers["HS256"].token(**late))
    with pytest.raises(InvalidValue, match="between 0 and 120"):
        settings(jwt_leeway_seconds=121)


@pytest.mark.proves("TN-01")
def test_over_http_every_bad_token_gets_one_and_the_same_answer(app: Haulwright, issuers, caplog):
    figures = settings(jwt_secret=SECRET)
    token = issuers["HS256"].token()
    with serving(app, authenticators=authenticators_of(app, figures)) as served, caplog.at_level(logging.INFO):
        seen = served.client().post("/jobs", json={"task": "add", "args": {"a": 1}}).json()["id"]
        mine = served.anonymous(Authorization=f"Bearer {token}")
        assert mine.get(f"/jobs/{seen}").json()["tenant"] == "acme"
        for name in ("tenant", "Haulwright-Tenant"):
            assert mine.get("/jobs", headers={name: "globex"}).status_code in {200, 403}
        other = served.anonymous(Authorization=f"Bearer {issuers['HS256'].token(tenant='globex')}")
        assert other.get(f"/jobs/{seen}").status_code == 404

        bad = [_unsigned(issuers["HS256"]), issuers["HS256"].token(exp=1), issuers["RS256"].token(), "hw_0_x", "x"]
        answers = [
            served.anonymous(Authorization=f"Bearer {word}", **{"X-Request-Id": "r"}).get(f"/jobs/{seen}")
            for word in bad
        ]

    assert {(answer.status_code, answer.text, answer.headers["www-authenticate"]) for answer in answers} == {
        (401, answers[0].text, "Bearer")
    }
    assert "it has expired" in caplog.text
    assert not any(word in caplog.text for word in (token, SECRET, bad[1]))
