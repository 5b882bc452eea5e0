"""Effects of which nobody knows whether they happened, and what a person found out."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query
from pydantic import Field

from haulwright.api.kit.call import Caller
from haulwright.api.kit.params import Cursor, Limit, ReasonOnlyBody
from haulwright.api.kit.routes import ApiRoutes
from haulwright.operations.effects import IN_DOUBT_SECONDS
from haulwright.operations.views.effects import (
    ResolvedEffectView,
    UnresolvedEffectPageView,
    resolved_view,
    unresolved_page_view,
)

routes = ApiRoutes("effects", prefix="/effects")

LONGEST_AGE_SECONDS = 10 * 366 * 86_400
LONGEST_KEY_CHARS = 2000


class ResolveBody(ReasonOnlyBody):
    """What became of an effect. Staff name its tenant by the header Haulwright-Tenant."""

    key: Annotated[str, Field(min_length=1, max_length=LONGEST_KEY_CHARS, description="Its key in the ledger.")]
    happened: Annotated[bool, Field(description="Where it did not, it may run again.")]
    result: Annotated[Any, Field(description="What it returned, where it happened.")] = None


@routes.get("/unresolved", UnresolvedEffectPageView)
def unresolved(
    call: Caller,
    cursor: Cursor = None,
    limit: Limit = 50,
    age: Annotated[
        float, Query(ge=0, le=LONGEST_AGE_SECONDS, description="Intents of gone jobs count from so many seconds on.")
    ] = IN_DOUBT_SECONDS,
) -> UnresolvedEffectPageView:
    """List the effects of which nobody knows whether they happened."""
    cursors = call.cursors(str(age))
    page = call.operations.effects.unresolved(age=age, after=cursors.unwrap(cursor), limit=limit)
    view = unresolved_page_view(page)
    return {**view, "next": cursors.wrap(view["next"])}


@routes.post("/resolve", ResolvedEffectView, missing=True, conflict=True, keyed=True)
def resolve(call: Caller, body: ResolveBody) -> ResolvedEffectView:
    """Say what became of an unknown effect, after you found out."""
    effects = call.because(body.reason).effects
    return resolved_view(effects.resolve(body.key, happened=body.happened, result=body.result))
