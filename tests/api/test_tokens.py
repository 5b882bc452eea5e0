"""Tokens of somebody's login: who is let in by them, and everything that is not."""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import time
from contextlib import closing
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import ECAlgorithm

from haulwright import Haulwright
from haulwright.api.auth.identity import CallerIdentity
from haulwright.api.kit.problems import Unauthenticated
from haulwright.api.settings import authenticators_of, jwt_authenticator
from haulwright.clock import SECOND, SettableClock
from haulwright.errors import DatabaseUnavailable, InvalidValue, Refused
from haulwright.operations import strangers
from haulwright.settings import Settings
from tests.api.conftest import serving
from tests.api.tokens import AUDIENCE, ISSUER, SECRET, Issuer, b64, hmac_of, publishing


def settings(**figures):
    usual = {"jwt_issuer": ISSUER, "jwt_audience": AUDIENCE}
    words = {name: str(value) for name, value in {**usual, **figures}.items() if value is not None}
    return Settings.load({f"HAULWRIGHT_{name.upper()}": value for name, value in words.items()}, Path(__file__).parent)


def identify(authenticator, token):
    return asyncio.run(authenticator.identify(token))


@pytest.fixture(scope="module")
def issuers():
    return {algorithm: Issuer.new(algorithm) for algorithm in ("HS256", "RS256", "ES256", "EdDSA")}


@pytest.fixture
def key_file(tmp_path):
    def write(issuer):
        path = tmp_path / "key.pem"
        path.write_bytes(issuer.pem)
        return path

    return write


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


def test_a_token_of_ours_is_known_by_the_whole_of_it(served):
    token = served.app.operations().tokens.create("program", tenant="acme").token
    other = served.app.operations().tokens.create("other", tenant="acme").token
    begin, _, _ = token.rpartition("_")
    assert served.anonymous(Authorization=f"Bearer {token}").get("/jobs").status_code == 200
    for wrong in (f"{begin}_{other.rpartition('_')[2]}", f"{begin}_", begin, token[:-1], f"{token}x"):
        assert served.anonymous(Authorization=f"Bearer {wrong}").get("/jobs").status_code == 401, wrong


def test_a_token_of_ours_is_not_known_after_its_end(database_url, tmp_path):
    clock = SettableClock(tmp_path / "clock")
    clock.set(2_000_000_000 * SECOND)
    app = Haulwright(database_url, clock=clock)
    app.operations().schema.migrate()
    with closing(app), serving(app) as served:
        token = app.operations().tokens.create("program", tenant="acme", expires_in=60).token
        client = served.anonymous(Authorization=f"Bearer {token}")
        assert client.get("/jobs").status_code == 200

        clock.set(2_000_000_061 * SECOND)
        served.api.state.reception._authenticators[0]._known.clear()  # what it saw a moment ago

        assert client.get("/jobs").status_code == 401


def test_a_token_of_ours_that_was_revoked_is_one_that_nobody_knows(served, monkeypatch):
    monkeypatch.setattr("haulwright.api.auth.api_tokens.REMEMBERED_SECONDS", 0.0)
    client = served.client(**{"X-Request-Id": "r"})
    assert client.get("/jobs").status_code == 200

    tokens = served.app.operations().tokens
    tokens.revoke(tokens.page().rows[0].prefix)

    refused = client.get("/jobs")
    assert refused.status_code == 401
    assert refused.text == served.anonymous(**{"X-Request-Id": "r"}).get("/jobs").text


def test_strangers_leave_an_event_now_and_then_with_how_many_they_were(served, monkeypatch):
    monkeypatch.setattr(strangers, "EVENT_EVERY_SECONDS", 3600)
    stranger = served.anonymous(Authorization="Bearer nobody-knows-this")
    answers = [stranger.get("/jobs") for _ in range(3)]
    (event,) = served.app.operations().events.page(name="request.refused").rows
    assert (event.actor, event.data["verb"], event.data["count"]) == ("nobody", "authenticate", 1)
    assert event.data["request_id"] == answers[0].headers["x-request-id"]
    assert "nobody-knows-this" not in str(event)

    served.api.state.reception._strangers._next = 0.0  # the time is over
    stranger.get("/jobs")

    *_, last = served.app.operations().events.page(name="request.refused").rows
    assert last.data["count"] == 3


def test_strangers_that_cannot_be_written_down_are_counted_with_the_next(served, monkeypatch):
    monkeypatch.setattr(strangers, "EVENT_EVERY_SECONDS", 0)
    database = type(served.app.own_store.database)

    def down(*_args, **_options):
        raise DatabaseUnavailable("the disk is full", hint="")

    with monkeypatch.context() as patch:
        patch.setattr(database, "transact", down)
        assert {served.anonymous().get("/jobs").status_code for _ in range(3)} == {401}
    served.anonymous().get("/jobs")

    (event,) = served.app.operations().events.page(name="request.refused").rows
    assert event.data["count"] == 4
