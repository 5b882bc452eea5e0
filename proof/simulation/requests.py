"""Requests of simulated runs to other people's servers, through the gates of the real store."""

from __future__ import annotations

from typing import Any

from haulwright import Retryable, Throttled
from haulwright.engine.job import LeaseKey
from haulwright.engine.source import SourceLimits, source_limits
from haulwright.stores.sources.admission import Admission, Denial, Release, Requester
from proof.simulation.acts import Act, Acts, SteppedContext
from proof.simulation.world import SECOND, World

RETRY_AFTER_SECONDS = 30.0
AFTER_OTHERS_SECONDS = 5.0


def limits_of(world: World) -> dict[str, SourceLimits]:
    """The sources of a seed: one that is metered, and one that admits few at a time."""
    seed = world.options.seed
    server = source_limits(
        rate=("6/min", "1/s", "20/min")[seed % 3],
        burst=1 + seed // 3 % 3,
        concurrency=(1, 2, None)[seed // 9 % 3],
        breaker=f"{1 + seed % 2} failures / 15 s",
    )
    return {"server": server, "calm": source_limits(concurrency=1, breaker="1 failures / 20 s")}


class Requests:
    """What a run does between two gates."""

    def __init__(self, world: World) -> None:
        self._world = world

    def ask_server(self, ctx: SteppedContext, key: str, effect: Acts[Any]) -> Acts[None]:
        """Enter, let the effect happen, and leave with what the server said."""
        admission = yield from self._enter(ctx, key)
        try:
            yield from effect
        except Exception:
            yield from self._leave(ctx, admission, Release("ignored"))
            raise
        yield from self._answer(ctx, admission)

    def _enter(self, ctx: SteppedContext, key: str) -> Acts[Admission | None]:
        """What came with the claim, unless the source was closed since; else whatever the gate says now."""
        gates = ctx.store.gates
        admission = gates.take_claimed(ctx.job) if ctx.job.source == key else None
        if admission is not None:
            yield Act("look", (ctx.job,))
            if not gates.is_shut_to(admission):
                return admission
            yield from self._leave(ctx, admission, Release("ignored", counts=False))
        yield Act("pass", (ctx.job,))
        answer = gates.ask(key, Requester(ctx.job.key, back=ctx.job.deferrals > 0))
        if isinstance(answer, Denial):
            raise Throttled(f"{answer.gate} is closed", after=answer.wait_us / SECOND, gate=answer.name)
        if answer is not None:
            note_grant(self._world, answer)
        return answer

    def _answer(self, ctx: SteppedContext, admission: Admission | None) -> Acts[None]:
        if self._world.server_is_down:
            yield from self._leave(ctx, admission, Release("failed"))
            raise Retryable("the server is down")
        if self._world.rng.random() < 0.1:
            yield from self._leave(ctx, admission, Release("answered", park_seconds=RETRY_AFTER_SECONDS))
            raise Throttled("too many requests", after=RETRY_AFTER_SECONDS)
        yield from self._leave(ctx, admission, Release("ok"))

    def _leave(self, ctx: SteppedContext, admission: Admission | None, release: Release) -> Acts[None]:
        if admission is None:
            return
        yield Act("leave", (ctx.job,))
        closed = ctx.store.gates.leave(admission, release)
        if closed is not None:
            ctx.signals.probed = (closed.wait_us / SECOND + AFTER_OTHERS_SECONDS, closed.name)


def note_grant(world: World, admission: Admission) -> None:
    """Remember from when on somebody may ask a server, for the rate."""
    world.grants.setdefault(admission.key, []).append(world.clock.time + admission.delay_us)
    world.seen["a probe was sent to see how a server is"] += admission.is_probe


def note_claimed_grants(world: World, admissions: dict[LeaseKey, Admission], leases: set[LeaseKey]) -> None:
    """The same for what jobs got with their claim."""
    for key, admission in admissions.items():
        if key in leases:
            note_grant(world, admission)
