"""Tasks that start what costs money elsewhere, at the site that the environment names. Children import this module.

Where a point is named (see `crashing`), the process kills itself there.
"""

from __future__ import annotations

import os
from datetime import UTC, datetime

from haulwright import Context, Haulwright
from haulwright.clock import SECOND
from haulwright.errors import Throttled
from haulwright.sources.airbyte import Airbyte
from haulwright.sources.apify import ActorRun, Apify, ApifyTimeoutError, Order
from haulwright.sources.http import Http, Policy, Secret
from proof.support.crashing import Death, watch
from proof.support.orders import POLICY, SANDBOX_VARIABLE
from proof.support.site import Site

ACTOR = "apify~instagram-post-scraper"
ACCOUNT = Secret("account-of-the-proof")
HURRY_SECONDS = 0.3

site = Site.from_environment()
death = Death.from_environment()
if death.is_planned:
    watch(death.reach)
app = Haulwright(site.url, clock=site.clock)


@app.task(retry=POLICY)
async def scrape(ctx: Context, wanted: str) -> str:
    """Start a run, look at it in steps, and say how it ended."""
    async with Http(policy=Policy(private=True)) as http:
        apify = _apify(http)
        seen = await apify.await_step((await _started(ctx, apify, wanted)).id, 0)
    if not seen.is_terminal:
        raise Throttled(after=30)
    return f"{seen.id} {seen.status}"


@app.task(retry=POLICY)
async def hurry(ctx: Context, wanted: str) -> str:
    """Start a run and give it little time: one that takes longer is aborted, so that it costs no more."""
    async with Http(policy=Policy(private=True)) as http:
        apify = _apify(http)
        run = await _started(ctx, apify, wanted)
        try:
            seen = await apify.await_end(run.id, HURRY_SECONDS, step_seconds=0.1)
        except ApifyTimeoutError:
            seen = await apify.await_step(run.id, 0)
    return f"{seen.id} {seen.status}"


@app.task(retry=POLICY)
async def sync(ctx: Context, wanted: str) -> str:
    """Start a sync or adopt it, look at it in steps, and say how it ended."""
    async with Http(policy=Policy(private=True)) as http:
        airbyte = Airbyte(http, "client", ACCOUNT, f"{os.environ[SANDBOX_VARIABLE]}/airbyte/v1")

        async def newest() -> int:
            found = await airbyte.afind(wanted, after=0)
            return found.id if found else 0

        known = await ctx.aeffect("look", newest)
        begun = await ctx.aeffect(
            "start", airbyte.atrigger, wanted, after=known, recover=lambda _: airbyte.afind(wanted, after=known)
        )
        seen = await airbyte.ajob(begun.id)
    if not seen.is_terminal:
        raise Throttled(after=30)
    return f"{seen.id} {seen.status}"


def _apify(http: Http) -> Apify:
    return Apify(http, ACCOUNT, f"{os.environ[SANDBOX_VARIABLE]}/apify")


async def _started(ctx: Context, apify: Apify, wanted: str) -> ActorRun:
    asked_at = datetime.fromtimestamp(ctx.job.created_at / SECOND, UTC)
    order = Order(apify, ACTOR, {"username": [wanted]}, since=asked_at, patience_seconds=0)
    marker = ctx.key_for("start", key="start")
    return await ctx.aeffect("start", order.astart, marker, key="start", recover=order.arecover)
