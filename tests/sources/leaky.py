"""An app with a canary in every credential, and calls that all fail: nothing of them may come out of its worker."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable

from haulwright import Context, Haulwright, Retry, Source
from haulwright.sources.airbyte import Airbyte
from haulwright.sources.apify import Apify
from haulwright.sources.http import Credential, Limits, Policy, Secret
from tests.sources.canaries import CANARIES, KINDS, NOBODY, OUTSIDE_VARIABLE, place

OUTSIDE = os.environ[OUTSIDE_VARIABLE]
LIMITS = Limits(total="1 s")
CREDENTIALS = {
    "bearer": Secret(CANARIES["bearer"]),
    "basic": Credential.basic("user", Secret(CANARIES["basic"])),
    "header": Credential.in_header("X-Api-Key", Secret(CANARIES["header"])),
    "query": Credential.in_query("who", Secret(CANARIES["query"])),
}

logging.basicConfig(level=logging.DEBUG)
app = Haulwright()
ALONE = ("401", "403", "429")
"""Endings that close the source which meets them: each has one of its own."""
SOURCES = {
    (kind, ending): app.source(
        kind,
        account=ending,
        credential=CREDENTIALS.get(kind),
        policy=Policy(private=True),
        limits=LIMITS,
        breaker=None,
    )
    for kind in KINDS
    for ending in (*ALONE, "all")
}


def source_of(kind: str, ending: str) -> Source:
    """The source that a call goes to."""
    return SOURCES[kind, ending if ending in ALONE else "all"]


def _get(source: Source, base: str) -> None:
    source.get(f"{base}/page").raise_for_status().json()


def _with_userinfo(source: Source, base: str) -> None:
    _get(source, base.replace("://", f"://user:{CANARIES['userinfo']}@"))


def _with_parameter(source: Source, base: str) -> None:
    source.get(f"{base}/page?access_token={CANARIES['parameter']}").raise_for_status().json()


def _with_plain_header(source: Source, base: str) -> None:
    headers = {"Authorization": f"Token {CANARIES['plain']}"}
    source.get(f"{base}/page", headers=headers).raise_for_status().json()


def _apify(source: Source, base: str) -> None:
    Apify(source.http, CANARIES["apify"], base).start("apify~instagram-post-scraper", {"username": ["acme"]})


def _airbyte_client(source: Source, base: str) -> None:
    Airbyte(source.http, "client", CANARIES["airbyte-client"], base).connection("a-connection")


def _airbyte_token(source: Source, base: str) -> None:
    Airbyte.with_token(source.http, CANARIES["airbyte-token"], base).connection("a-connection")


CALLS: dict[str, Callable[[Source, str], None]] = {
    **dict.fromkeys(CREDENTIALS, _get),
    "userinfo": _with_userinfo,
    "parameter": _with_parameter,
    "plain": _with_plain_header,
    "apify": _apify,
    "airbyte-client": _airbyte_client,
    "airbyte-token": _airbyte_token,
}


@app.task(source=lambda values: source_of(**values), retry=Retry(1))
def fail(ctx: Context, kind: str, ending: str) -> None:
    """Make a call that fails, inside an effect."""
    base = "http://127.0.0.1:1" if ending == NOBODY else OUTSIDE
    ctx.effect("call", CALLS[kind], source_of(kind, ending), base + place(kind, ending), key="call")


@app.task()
def describe() -> list[str]:
    """Everything that can be asked how it looks."""
    clients = [source.http for source in SOURCES.values()]
    accounts = [Apify(clients[0], CANARIES["apify"]), Airbyte(clients[0], "client", CANARIES["airbyte-client"])]
    things = [SOURCES, CREDENTIALS, clients, accounts, [vars(each) for each in (*accounts, *SOURCES.values())]]
    return [repr(each) for each in things]
