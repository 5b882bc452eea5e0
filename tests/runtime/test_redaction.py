"""Secrets are masked wherever they turn up in a text, and nothing else is."""

from __future__ import annotations

import hashlib
import inspect
import json
import threading
import time
import uuid
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from haulwright import errors, redaction
from haulwright.engine.ids import new_id
from haulwright.redaction import MASK, RULES, is_secret_name, redact, remember

FAKE = "0aB1" * 10
PEM = f"-----BEGIN OPENSSH PRIVATE KEY-----\n{FAKE}\n{FAKE}\n-----END OPENSSH PRIVATE KEY-----"

IN_ADDRESSES = [
    ("postgresql://bob:hunter2@db:5432/jobs is away", "postgresql://***@db:5432/jobs is away"),
    ("postgresql://bob:p@ss@db/jobs", "postgresql://***@db/jobs"),
    ("postgres://bob:hun/ter2@db/jobs", "postgres://***@db/jobs"),
    ("postgres://bob:h@n/ter2@db/jobs", "postgres://***@db/jobs"),
    ("postgres://bob:hunt er2@db/jobs", "postgres://***@db/jobs"),
    ("postgres://bob:it's@db/jobs", "postgres://***@db/jobs"),
    ("postgres://bob:h?n#er2@db/jobs", "postgres://***@db/jobs"),
    ("postgres://bob:p%40ss%2F@db/jobs", "postgres://***@db/jobs"),
    ("redis://:hunter2@cache:6379/0", "redis://***@cache:6379/0"),
    ("amqp://bob:hunter2@a,amqp://eve:hunter3@b", "amqp://***@a,amqp://***@b"),
    ("ssh://bob:hunter2@host:22/x", "ssh://***@host:22/x"),
    ("git clone https://hunter2@github.com/a/b", "git clone https://***@github.com/a/b"),
    ("see //bob:hunter2@shop.example/a", "see //***@shop.example/a"),
    ("mongodb+srv://bob:hunter2@h1,h2/db?x=1", "mongodb+srv://***@h1,h2/db?x=1"),
    ("postgres%3A%2F%2Fbob%3Ahunter2%40db%2Fjobs", "postgres%3A%2F%2F***%40db%2Fjobs"),
    ('{"url": "postgres://bob:hunter2@db/x", "n": 1}', '{"url": "postgres://***@db/x", "n": 1}'),
]
IN_PARAMETERS = [
    ("GET https://shop.example/a?api_key=K123&page=2", "GET https://shop.example/a?api_key=***&page=2"),
    ("https://maps.example/a?q=1&key=K123#top", "https://maps.example/a?q=1&key=***"),
    ("https://a.example/?auth=abc&n=1", "https://a.example/?auth=***&n=1"),
    ("https://a.example/?session=abc;sid=def;n=1", "https://a.example/?session=***;sid=***;n=1"),
    ("https://x.blob.example/f?sv=2022&sig=a%2Bb%3D&se=1", "https://x.blob.example/f?sv=2022&sig=***&se=1"),
    ("https://s3.example/f?X-Amz-Signature=abc&X-Amz-Date=1", "https://s3.example/f?X-Amz-Signature=***&X-Amz-Date=1"),
    ("https://a.example/?user[password]=abc&n=1", "https://a.example/?user[password]=***&n=1"),
    ("https://a.example/cb#access_token=abc&state=1", "https://a.example/cb#access_token=***&state=1"),
    (
        "next=https%3A%2F%2Fa.example%2F%3Ftoken%3Dabc%26n%3D1",
        "next%3Dhttps%3A%2F%2Fa.example%2F%3Ftoken%3D***%26n%3D1",
    ),
    ("password%3Dhunter2", "password%3D***"),
    ("password%3Dhunt%20er2%26n%3D1", "password%3D***%26n%3D1"),
    ("password%253Dhunter2%2526n%253D1", "password%253D***%2526n%253D1"),
    ("Authorization%3A%20Bearer%20abcdef", "Authorization%3A***"),
]
IN_HEADERS = [
    ("Authorization: Bearer abc.def", "Authorization: ***"),
    ("Proxy-Authorization: Basic Ym9iOmh1bnRlcjI=", "Proxy-Authorization: ***"),
    ('Authorization: Digest username="bob", response="abc"\nHost: a', "Authorization: ***\nHost: a"),
    ("sent bearer abcdef to them", "sent bearer *** to them"),
    ("sent Basic Ym9iOmh1bnRlcjI= to them", "sent Basic *** to them"),
    ("Cookie: session=abc; csrf=def\nnext line", "Cookie: ***\nnext line"),
    ('Cookie: a="b c"; d=e\nnext line', "Cookie: ***\nnext line"),
    ("{'Set-Cookie': 'a=b; c=d', 'n': 1}", "{'Set-Cookie': '***', 'n': 1}"),
    ("[(b'authorization', b'Basic abc'), (b'host', b'a')]", "[(b'authorization', b'***'), (b'host', b'a')]"),
    ("X-Api-Key: abc\r\nHost: a", "X-Api-Key: ***\r\nHost: a"),
    ("X-Auth-Token: abc", "X-Auth-Token: ***"),
    ("curl -H 'Authorization: Bearer abc' https://a.example", "curl -H 'Authorization: ***' https://a.example"),
    ("curl -u bob:hunter2 https://a.example", "curl -u *** https://a.example"),
    ("curl --user 'bob:hunt er2' https://a.example", "curl --user *** https://a.example"),
    ("curl --user=bob:hunter2 https://a.example", "curl --user=*** https://a.example"),
    ("curl --proxy-user bob:hunter2 https://a.example", "curl --proxy-user *** https://a.example"),
]
UNDER_NAMES = [
    ('{"access_token": "abc def", "n": 1}', '{"access_token": "***", "n": 1}'),
    (json.dumps(json.dumps({"client_secret": "a b", "n": 1})), '"{\\"client_secret\\": \\"***\\", \\"n\\": 1}"'),
    (json.dumps({"password": 'a"b', "n": 1}), '{"password": "***", "n": 1}'),
    (json.dumps(json.dumps({"password": 'a"b', "n": 1})), '"{\\"password\\": \\"***\\", \\"n\\": 1}"'),
    ('{"password": "cut off', '{"password": "***'),
    ('{"tokens": ["abc", "def"], "n": 1}', '{"tokens": [***], "n": 1}'),
    ('{"session": "abc", "sid": "def", "auth": "ghi"}', '{"session": "***", "sid": "***", "auth": "***"}'),
    ("AWS_SECRET_ACCESS_KEY=abc/d+e== region=eu", "AWS_SECRET_ACCESS_KEY=*** region=eu"),
    ("password: hunter2, user: bob", "password: ***, user: bob"),
    ("Server=db;Uid=bob;Pwd=hunter2;", "Server=db;Uid=bob;Pwd=***;"),
    ("AccountName=a;AccountKey=abc==;EndpointSuffix=b", "AccountName=a;AccountKey=***;EndpointSuffix=b"),
    ("host=db passwd=hunter2 dbname=x", "host=db passwd=*** dbname=x"),
    ("passphrase: correct horse battery\nnext", "passphrase: ***\nnext"),
    ("PHPSESSID=abc; path=/", "PHPSESSID=***; path=/"),
    ("session_id: abc", "session_id: ***"),
    ("session: 0a1b2c3d4e5f6789", "session: ***"),
    ("sid=abc", "sid=***"),
    ("dbPassword => 'hunter2'", "dbPassword => '***'"),
    ("password == 'hunter2'", "password == '***'"),
    ("deploy --api-token abc --force", "deploy --api-token *** --force"),
    ("deploy --password=hunter2 --force", "deploy --password=*** --force"),
    ("<Password>hunter2</Password>", "<Password>***</Password>"),
    ("credentials=('bob', 'hunter2')", "credentials=(***)"),
    ("//registry.example/:_authToken=abc", "//registry.example/:_authToken=***"),
    ("note: password=hunter2", "note: password=***"),
    ("apikey=abc api-key: abc api_key='abc'", "apikey=*** api-key: *** api_key='***'"),
    ("refreshToken=abc private_key=def signature=ghi", "refreshToken=*** private_key=*** signature=***"),
]
SHAPES = [
    (f"key {PEM} end", "key *** end"),
    (f"key {PEM[:70]}", "key ***"),
    (json.dumps({"pem": PEM, "n": 1}), '{"pem": "***", "n": 1}'),
    (quote(f"a {PEM} b"), "a%20***%20b"),
    ("jwt eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln end", "jwt *** end"),
    (f"ghp_{FAKE} gho_{FAKE} ghs_{FAKE} github_pat_{FAKE}", "*** *** *** ***"),
    (f"glpat-{FAKE}, xoxb-1-{FAKE}, xoxp-{FAKE}", "***, ***, ***"),
    (f"sk-{FAKE} sk-proj-{FAKE} sk-ant-api03-{FAKE}", "*** *** ***"),
    (f"sk_live_{FAKE} rk_live_{FAKE} whsec_{FAKE}", "*** *** ***"),
    (f"AKIA0123456789ABCDEF:{FAKE}", "***:***"),
    (f"id AKIA0123456789ABCDEF\nsecret of it\n{FAKE}", "id ***\nsecret of it\n***"),
    (f"{FAKE} is of ASIA0123456789ABCDEF", "*** is of ***"),
    (f"AIza{FAKE[:35]} ya29.{FAKE} apify_api_{FAKE}", "*** *** ***"),
    (f"npm_{FAKE[:36]} pypi-AgEI{FAKE} SG.{FAKE[:22]}.{FAKE}", "*** *** ***"),
    (f"SK{'0a1b' * 8} https://api.telegram.org/bot123456789:{FAKE[:35]}/send", "*** https://api.telegram.org/***/send"),
    (f"https://hooks.slack.com/services/T0/B0/{FAKE}", "https://hooks.slack.com/services/***"),
    (f"from%3A%20ghp_{FAKE}", "from%3A%20***"),
]
MASKED = [*IN_ADDRESSES, *IN_PARAMETERS, *IN_HEADERS, *UNDER_NAMES, *SHAPES]

ORDINARY = [
    "mail ann@example.com about https://shop.example/a",
    "https://medium.example/@ann/post and https://registry.example/@scope/package",
    "http://localhost:8080/users/ann@example.com",
    "http://localhost:8080: refused, ask ann@example.com",
    "git@github.com:org/repo.git",
    "https://shop.example/list?sort=key&order=asc#top",
    "the secretary signed 3 tokens; secretary: Ann",
    "primary key = 5, sort key: price, key=sku",
    '{"key": "sku", "keys": ["a"], "job_key": "feed:1", "unique_key": "u", "idempotency_key": "k"}',
    "a basic understanding of basic auth, the bearer of this, a bearer token expired",
    "invalid_token: it was refused; token_expired: yes; missing_password: no",
    "InvalidToken: it was refused. TokenExpiredError: yes",
    '{"type": "user-or-token-not-found", "message": "No."} ["token-not-provided", "No."]',
    '{"kind": "token", "message": "No."}',
    "max_tokens=100 tokens: 15 token_type=code token_count: 3 password_file=/run/x",
    "password: null, token: None, secret=false, token=",
    "the session: closed, auth: failed, session ended: timeout",
    "author=ann authority=a authenticated=yes monkey=1 keyboard: us sidecar=1 tokenizer: bpe passed: 3 bypass=1",
    "docker run -u 1000:1000 image; sudo -u postgres psql -c x",
    "task-0123456789abcdef012345 risk-free desk-top sk-learn-extension-package",
    "100%25 of caf%C3%A9 at a%20place",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "2024-01-01T00:00:00Z line 123456: error E1234",
]


@pytest.mark.parametrize(("text", "clean"), MASKED)
def test_secrets_are_masked(text, clean):
    assert redact(text) == clean
    assert redact(clean) == clean


@pytest.mark.parametrize("text", ORDINARY)
def test_what_is_no_secret_stays(text):
    assert redact(text) == text


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_rule_masks_its_example(rule):
    assert rule.pattern.sub(rule.replacement, rule.example) != rule.example
    clean = redact(rule.example)
    assert MASK in clean
    assert "hunter2" not in clean
    assert FAKE[:20] not in clean


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_what_is_masked_is_masked_percent_encoded_too(rule):
    clean = redact(quote(f"a {rule.example} b", safe=""))

    assert "hunter2" not in clean
    assert FAKE[:20] not in clean


@pytest.mark.parametrize("spell", [str.lower, str.upper, str.title])
@pytest.mark.parametrize(
    "name",
    ["password", "passwd", "pwd", "passphrase", "secret", "token", "apikey", "api_key", "api-key", "access_key",
     "client_secret", "authorization", "signature", "sessionid", "session_id", "cookie", "x-api-key", "private_key"],
)  # fmt: skip
def test_a_name_is_known_however_it_is_spelled(name, spell):
    assert is_secret_name(spell(name))
    for text in (
        f"{spell(name)}=hunter2",
        f"{spell(name)}: hunter2",
        f'"{spell(name)}": "hunter2"',
        f"?{name}=hunter2&a=1",
    ):
        assert "hunter2" not in redact(text)


def test_codes_of_errors_ids_and_digests_stay():
    """An operator looks for them."""
    for name, error in inspect.getmembers(errors, inspect.isclass):
        text = f"{name} ({getattr(error, 'code', '')}): it happened"
        assert redact(text) == text
    for text in (new_id(), str(uuid.uuid4()), hashlib.sha256(b"x").hexdigest(), hashlib.sha1(b"x").hexdigest()):  # noqa: S324
        assert redact(f"job={text} digest={text}") == f"job={text} digest={text}"


@given(st.uuids(), st.binary(min_size=32, max_size=32))
def test_ids_and_digests_never_look_like_secrets(number, digest):
    text = f"{number} {number.hex} {digest.hex()}"

    assert redact(text) == text


@given(st.text() | st.lists(st.sampled_from([
    "://", "@", ":", "=", "%", "%3D", "%20", "token", "password", "'", '"', "\\", "\n", " ", "?", "&", "-u ", "Bearer ",
    "cookie: ", "<", ">", "\ud800", "-----BEGIN PRIVATE KEY-----", "eyJ", ".", "AKIA0123456789ABCDEF",
    "--secret ", "ghp_",
])).map("".join))  # fmt: skip
def test_no_text_before_a_secret_keeps_it_from_being_masked(text):
    for secret in (
        "password=hunter2",
        "https://bob:hunter2@shop.example/",
        "Authorization: Basic hunter2",
        f"ghp_{FAKE}",
    ):
        clean = redact(f"{text} {secret}")

        assert "hunter2" not in clean
        assert FAKE not in clean


def test_a_value_that_is_known_to_be_secret_is_masked_anywhere():
    remember("correct horse")
    remember("correct horse battery")
    remember("abc")  # too short to be told from ordinary words
    remember(None)

    assert redact("it said: correct horse, abc") == f"it said: {MASK}, abc"
    assert redact("it said: correct horse battery") == f"it said: {MASK}"


def test_only_so_many_values_are_remembered_and_those_in_use_stay(monkeypatch):
    monkeypatch.setattr(redaction, "_remembered", {})
    monkeypatch.setattr(redaction, "_longest_first", ())
    monkeypatch.setattr(redaction, "MOST_REMEMBERED", 2)
    for word in ("first-word", "second-word", "first-word", "third-word"):
        remember(word)

    assert redact("first-word second-word third-word") == "*** second-word ***"


def test_a_value_may_be_remembered_while_another_thread_masks():
    stop = threading.Event()

    def learn() -> None:
        for number in range(300):
            remember(f"learned-while-masking-{number}")
        stop.set()

    learner = threading.Thread(target=learn)
    learner.start()
    while not stop.is_set():
        redact("some text")
    learner.join()

    assert redact("learned-while-masking-7") == MASK


REPEATED = [
    "a", "x://", "token='", "cookie: ", "eyJ-", "eyJaaaaaaaa.", "://a:", "://a:b", "//", "@", "%3D", "%25", "%2525",
    "a%20", "password ", "password=", "--token ", "<token ", "'token',", "\\", "token\\", "-u a", "-u a:", "basic ",
    "Basic aB", "bearer ", "-----BEGIN PRIVATE KEY-----", "-----END ", "AKIA0123456789ABCDEF ", FAKE + " ",
    "SG.aaaaaaaaaa", "sk-", "sk-a", "ghp_", "xoxb-", "123456:", " ", "\n", "=", ":", "a=", "a.", "-", "sid=", '="',
    'cookie: a="', "[", "token=[",
]  # fmt: skip


@pytest.mark.parametrize("text", [*REPEATED, *(rule.example for rule in RULES), *(rule.example[:12] for rule in RULES)])
def test_a_long_text_takes_no_longer_than_its_length(text):
    hostile = text * (300_000 // len(text))
    started = time.thread_time()  # what this thread computed: whoever else is busy here does not count
    redact(hostile)
    redact(f"token{hostile}")

    assert time.thread_time() - started < 5
