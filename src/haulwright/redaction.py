"""The one choke point for secrets: whatever is stored, logged or shown as text passes here first.

Three things are masked: values that were remembered, what has the shape of a secret (`RULES`), and the values of names
that speak of one (`is_secret_name`). Percent-encoded text is read as what it stands for. Masking what is no secret
costs a word; the other mistake cannot be undone. Every pattern takes time in proportion to the text: a part that may be
long is bounded, possessive, or starts where nothing of its kind stands before.
"""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

MASK: Final = "***"
SHORTEST_SECRET: Final = 6
"""Shorter values are not masked wherever they occur: they would hide ordinary words."""
MOST_REMEMBERED: Final = 10_000
"""Values; beyond them the one that was told longest ago is forgotten. Every request tells again what it sends."""
DEEPEST_ENCODING: Final = 2
"""How often a text may be percent-encoded within another and is still read."""

_FAKE: Final = "0aB1" * 10
"""The body of an example that nobody's scanner takes for a real token."""


@dataclass(frozen=True, slots=True)
class Rule:
    """The shape of one kind of secret."""

    name: str
    hints: tuple[str, ...]
    """One of them stands wherever the pattern matches, if need be in lower case: most texts need no pattern."""
    pattern: re.Pattern[str]
    replacement: str
    example: str


def _rule(name: str, hints: str, pattern: str, example: str, replacement: str = MASK) -> Rule:
    return Rule(name, tuple(hints.split("|")), re.compile(pattern), replacement, example)


def _token(name: str, hints: str, pattern: str, example: str) -> Rule:
    """A token that is known by how it begins."""
    return _rule(name, hints, rf"(?<![A-Za-z0-9])(?:{pattern})", example)


_AWS_ID: Final = r"(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"
_AWS_SECRET: Final = r"(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])"  # noqa: S105 - a pattern
_PORT: Final = r"\d{1,5}(?=[\s/?#:,;.'\")\]}>\\]|\Z)"

RULES: Final = (
    _rule("private key", "PRIVATE KEY",
          r"(?s)-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY[A-Z ]{0,10}-----.*?(?:-----END [A-Z0-9 ]{0,40}-----|\Z)",
          f"-----BEGIN RSA PRIVATE KEY-----\n{_FAKE}\n-----END RSA PRIVATE KEY-----"),
    # Raw passwords have slashes, spaces and @ in them. What a port looks like is one, and no password.
    _rule("user and password in an address", "@",
          rf"(://)[^\s/@:'\"<>\[\]?#]{{0,200}}:(?!{_PORT})[^\r\n@]{{0,400}}+@(?:(?:(?!//)[^\s@?#'\"]){{0,200}}@){{0,8}}",
          "amqp://bob:p/a s@s@broker:5672/jobs", rf"\1{MASK}@"),
    _rule("user in an address", "@", r"(//)[^/\s'\"]{1,1000}@", "https://hunter2@shop.example/a", rf"\1{MASK}@"),
    _rule("user and password of a command", "-u|-U|--user|--proxy-user",
          r"(?<![\w-])((?:-u|-U|--user|--proxy-user)(?:[ \t]{1,20}|=))"
          r"(?:([\"'])[^\"':\r\n]{0,200}:[^\r\n]{0,400}?\2|(?!\d+:\d+(?:\s|\Z))[^\s\"':]{1,200}:[^\s\"']{1,1000})",
          "curl -u bob:hunter2 https://shop.example", rf"\1{MASK}"),
    _rule("bearer", "bearer",
          r"(?i)\b(bearer)\s{1,20}(?!(?:tokens?|auth\w{0,20}|realm|scheme|error|is|was|and|or|of|for|in)\b)[\w~+/.=-]{4,}",
          "sent bearer abcdef", rf"\1 {MASK}"),
    # Base64 is told from a word by its capitals and figures.
    _rule("basic", "basic", r"\b((?i:basic))\s{1,20}(?=[\w+/][a-z]{0,200}[A-Z0-9+/=])[\w+/=~.-]{6,}",
          "sent Basic Ym9iOmh1bnRlcjI=", rf"\1 {MASK}"),
    _rule("AWS secret beside its id", "AKIA|ASIA",
          rf"(?<![A-Za-z0-9])({_AWS_ID}[^A-Za-z0-9][\s\S]{{0,100}}?){_AWS_SECRET}",
          f"AKIA0123456789ABCDEF {_FAKE}", rf"\1{MASK}"),
    _rule("AWS secret before its id", "AKIA|ASIA", rf"{_AWS_SECRET}(?=[\s\S]{{0,100}}?(?<![A-Za-z0-9]){_AWS_ID})",
          f"{_FAKE} of AKIA0123456789ABCDEF"),
    _token("AWS id", "AKIA|ASIA", _AWS_ID, "AKIA0123456789ABCDEF"),
    # Not inside a longer word: what is scanned once is not scanned again from its middle.
    _rule("JWT", "eyJ", r"(?<![\w-])eyJ[\w-]{8,}+(?:\.[\w-]*+){2,4}", f"eyJ{_FAKE}.eyJ{_FAKE}.{_FAKE}"),
    _rule("Haulwright", "hw_", r"(?<![A-Za-z0-9])(hw_[0-9a-f]{12}_)[\w-]{16,}", f"hw_0123456789ab_{_FAKE}",
          rf"\1{MASK}"),
    _token("GitHub", "gh|github_pat_", r"gh[pousr]_[A-Za-z0-9]{16,}|github_pat_\w{16,}", f"ghp_{_FAKE}"),
    _token("GitLab", "gl", r"gl(?:pat|dt|rt|cbt|ptt|ft|soat|agent|oas|imt)-[\w-]{16,}", f"glpat-{_FAKE}"),
    _token("Slack", "xox|xapp-", r"(?:xox[a-z]|xapp)-[A-Za-z0-9-]{8,}", f"xoxb-{_FAKE}"),
    _rule("Slack web hook", "hooks.slack.com", r"(hooks\.slack\.com/[a-z]{1,20}/)[\w/]{8,}",
          f"https://hooks.slack.com/services/T0/B0/{_FAKE}", rf"\1{MASK}"),
    _token("OpenAI, Anthropic", "sk-", r"sk-(?=[a-z_-]{0,200}+[A-Z0-9])[\w-]{16,}", f"sk-proj-{_FAKE}"),
    _token("Stripe", "k_live_|k_test_|whsec_", r"(?:[srp]k_(?:live|test)|whsec)_[A-Za-z0-9]{8,}", f"sk_live_{_FAKE}"),
    _token("Google", "AIza|ya29.|GOCSPX-|1//0", r"AIza[\w-]{30,}|ya29\.[\w.-]{10,}|GOCSPX-[\w-]{20,}|1//0[\w-]{20,}",
           f"ya29.{_FAKE}"),
    _token("Apify", "apify_", r"apify_(?:api|proxy|ui)_[A-Za-z0-9]{10,}", f"apify_api_{_FAKE}"),
    _token("npm", "npm_", r"npm_[A-Za-z0-9]{20,}", f"npm_{_FAKE}"),
    _token("PyPI", "pypi-A", r"pypi-A[\w-]{16,}", f"pypi-AgEI{_FAKE}"),
    _token("SendGrid", "SG.", r"SG\.[\w-]{10,100}\.[\w-]{10,}", f"SG.{_FAKE}.{_FAKE}"),
    _token("Twilio", "SK", r"SK[0-9a-f]{32}(?![A-Za-z0-9])", f"SK{'0a1b' * 8}"),
    _token("Telegram", ":", r"(?:bot)?\d{6,12}:[\w-]{35}(?![\w-])", f"bot123456789:{_FAKE[:35]}"),
    _token("other services", "hf_|dop_v1_|shp|hvs.|dckr_pat_|gsk_|lin_api_|ATATT3|AGE-SECRET-KEY-1",
           r"(?:hf_|dop_v1_|shp(?:at|ca|pa|ss)_|hvs\.|dckr_pat_|gsk_|lin_api_|ATATT3|AGE-SECRET-KEY-1)[\w-]{16,}",
           f"hvs.{_FAKE}"),
)  # fmt: skip

_HINTS: Final = tuple((rule, tuple((hint, hint == hint.lower()) for hint in rule.hints)) for rule in RULES)
"""One with capitals cannot stand in the text that was written in lower case, any other stands there where it stands."""

_ENDINGS: Final = (
    "password", "passwords", "passwd", "pwd", "passphrase", "passcode", "secret", "secrets", "token", "tokens",
    "credential", "credentials", "signature", "authorization", "cookie", "cookies", "jwt", "sessionid", "sessid",
    "sessionkey", "apikey", "apikeys", "authkey", "accesskey", "secretkey", "privatekey", "encryptionkey", "signingkey",
    "masterkey", "accountkey", "sharedkey", "storagekey", "clientkey", "servicekey", "deploykey", "licensekey",
)  # fmt: skip
"""A word of a name that ends so, alone or with the word before it, makes the name one of a secret: `dbPassword`."""
_HARMLESS_BEGINNINGS: Final = frozenset(
    {"invalid", "missing", "bad", "no", "unknown", "wrong", "expired", "unsupported"}
)
_HARMLESS_ENDINGS: Final = frozenset({
    "type", "count", "counts", "limit", "limits", "url", "uri", "endpoint", "name", "names", "length", "at", "in",
    "found", "provided", "failed", "denied", "revoked", "mismatch", "expiry", "expires", "expired", "expiration",
    "ttl", "seconds", "missing", "invalid", "required", "refused",
    "error", "errors", "file", "path", "env", "used", "usage", "policy", "issuer", "provider", "version",
})  # fmt: skip
"""What is said about a secret is none: `invalid_token`, `token_type`, `password_file`."""
_IN_PAIRS: Final = frozenset({"auth", "sig", "session", "sid", "pass", "pw"})
"""Names that mean a secret where they are written as programs write them (`sid=...`, `"sid": ...`), not in prose."""
_IN_QUERIES: Final = _IN_PAIRS | {"key"}
_WHOLE_LINE: Final = ("authorization", "cookie", "cookies")
"""Headers of several parts, secret to the end."""
_NAME_HINTS: Final = (
    "pass",
    "pwd",
    "pw",
    "secret",
    "token",
    "key",
    "sig",
    "auth",
    "cred",
    "cookie",
    "sess",
    "sid",
    "jwt",
)

_NAME: Final = re.compile(
    r"""(?<![\w.-])(?:
        (?P<flag>--[\w-]++)[ \t]++(?![-|&>])
      | (?<=<)(?P<tag>[\w.-]++)(?:[ \t][^<>\r\n]{0,100}+)?+>
      | (?:(?<=[(\[]["'])|(?<=[(\[]b["']))(?P<listed>[\w.-]++)\\*+["'],[ \t]*+(?=b?\\*+["'])
      | (?P<name>[\w.-]++)(?:\]|(?P<quote>\\*+["']))?+[ \t]*+(?P<is>[=:]{1,3}+>?+[ \t]*+)
    )""",
    re.VERBOSE,
)
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_LONGEST_NAME: Final = 200
_HARMLESS_VALUE: Final = re.compile(r"(?i:null|none|nil|true|false|undefined)\b|\{|\Z|(?=[\r\n])")
_NUMBER: Final = re.compile(r"\d[\d.,]*+(?![\w-])")
_OPAQUE: Final = re.compile(r"(?=[\w+/=.-]{0,40}?\d)(?=[\w+/=.-]{0,40}?[A-Za-z])[\w+/=.-]{12,}")
# To the same quote, escaped as often; where the text was cut off, to the end of the line.
_QUOTED: Final = re.compile(r"([bfruBFRU]{0,2}(\\*+[\"']))[^\r\n]*?((?<!\\)\2|(?=[\r\n])|\Z)")
_LISTED: Final = re.compile(r"([\[(])[^\])\r\n]*+([\])]?)")
_LINE: Final = re.compile(r"(?:=\"[^\"\r\n]*+\"|[^\r\n\"'\\])++")
_PHRASE: Final = re.compile(r"[^\r\n,;&\"'}\\]++")
_ELEMENT: Final = re.compile(r"[^<]++")
_PLAIN: Final = re.compile(r"[^\s&\"',;}\])\\<>]++")

_UNBROKEN: Final = re.compile(r"[^\s\"'<>]++")
_ENCODED: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_ENCODED_SPACE: Final = re.compile(r"%(?=20|09|0[AaDd])")

_lock = threading.Lock()
_remembered: dict[str, None] = {}
_longest_first: tuple[str, ...] = ()


def remember(secret: str | None) -> None:
    """Mask this value from now on, wherever it turns up."""
    global _longest_first  # noqa: PLW0603 - one tuple for all threads, replaced and never changed
    if not secret or len(secret) < SHORTEST_SECRET:
        return
    with _lock:
        is_new = secret not in _remembered
        _remembered.pop(secret, None)
        _remembered[secret] = None
        if len(_remembered) > MOST_REMEMBERED:
            del _remembered[next(iter(_remembered))]
        if is_new:
            _longest_first = tuple(sorted(_remembered, key=len, reverse=True))


def redact(text: str) -> str:
    """The text without secrets: remembered values, what has the shape of one, what a name says is one."""
    for secret in _longest_first:
        text = text.replace(secret, MASK)
    return _without_shapes(text, DEEPEST_ENCODING)


def is_secret_name(name: str) -> bool:
    """Whether the value under this name is a secret: `password`, `X-Api-Key`, `clientSecret`, `PHPSESSID`."""
    words = [word.lower() for word in _WORD.findall(name[-_LONGEST_NAME:])]
    if not words or words[0] in _HARMLESS_BEGINNINGS or words[-1] in _HARMLESS_ENDINGS:
        return False
    return any((before + word).endswith(_ENDINGS) for before, word in zip(["", *words], words, strict=False))


def _without_shapes(text: str, depth: int) -> str:
    lower = text.lower()
    for rule in _hinted_rules(text, lower):
        text = rule.pattern.sub(rule.replacement, text)
    for hint in _NAME_HINTS:
        if hint in lower:
            text = _without_named(text)
            break
    if depth and _ENCODED.search(text):
        text = _UNBROKEN.sub(lambda part: _without_encoded(part[0], depth - 1), text)
    return text


def _hinted_rules(text: str, lower: str) -> list[Rule]:
    """The rules that may match, in their order. Every line of every log passes here: loops, which cost least."""
    rules = []
    for rule, hints in _HINTS:
        for hint, is_small in hints:
            if hint in (lower if is_small else text):
                rules.append(rule)
                break
    return rules


def _without_encoded(part: str, depth: int) -> str:
    """A part that is percent-encoded, masked as what it stands for; first with its spaces kept within its values."""
    if not _ENCODED.search(part):
        return part
    for spaces_stay in (True, False):
        meant = unquote(_ENCODED_SPACE.sub("%25", part) if spaces_stay else part, errors="replace")
        clean = _without_shapes(meant, depth)
        if clean != meant:
            bare = set(part) - {"%", *map(unquote, _ENCODED.findall(part))}  # what was written as it is
            part = quote(clean, safe="".join(bare | {"*"}), errors="surrogatepass")
            part = part.replace("%2520", "%20") if spaces_stay else part
    return part


def _without_named(text: str) -> str:
    """The text with the values of secret names masked. A value may have names in it, so names are read one by one."""
    pieces: list[str] = []
    done = place = 0
    while (name := _NAME.search(text, place)) is not None:
        place = name.end()
        value = _named_secret(text, name)
        if value is not None:
            pieces += [text[done:place], value.expand(_masked(value))]
            done = place = value.end()
    return "".join([*pieces, text[done:]])


def _named_secret(text: str, match: re.Match[str]) -> re.Match[str] | None:
    """The secret behind a name, if there is one."""
    name, start = match["name"] or match["flag"] or match["tag"] or match["listed"], match.end()
    if not _speaks_of_secret(text, match, name) or _HARMLESS_VALUE.match(text, start):
        return None
    if name.endswith("s") and _NUMBER.match(text, start):
        return None  # so many tokens
    if match["tag"]:
        return _ELEMENT.match(text, start)
    bare = _PLAIN
    if name.lower().endswith(_WHOLE_LINE):
        bare = _LINE
    elif name.lower().endswith("passphrase"):
        bare = _PHRASE
    return _QUOTED.match(text, start) or _LISTED.match(text, start) or bare.match(text, start)


def _speaks_of_secret(text: str, match: re.Match[str], name: str) -> bool:
    if is_secret_name(name):
        return True
    word = name.lower()
    if match["name"] is None or word not in _IN_QUERIES:
        return False
    is_pair = match["is"] == "=" and not match["quote"]
    if is_pair and text[match.start() - 1 : match.start()] in {"?", "&", ";"}:
        return True
    return word in _IN_PAIRS and (is_pair or bool(match["quote"]) or _OPAQUE.match(text, match.end()) is not None)


def _masked(value: re.Match[str]) -> str:
    """How the value is written once it is masked: its quotes or brackets stay."""
    if value.re is _QUOTED:
        return rf"\1{MASK}\3"
    return rf"\1{MASK}\2" if value.re is _LISTED else MASK
