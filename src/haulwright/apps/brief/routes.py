"""The brief over HTTP: feeds, events, the brief of a day in its four forms, and the runs behind it."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final, Literal, cast, get_args

from fastapi import Path, Query
from pydantic import Field

from haulwright.api.kit.call import ApiCall, Caller
from haulwright.api.kit.params import LONGEST_NAME_CHARS, Cursor, Key, Limit, RequestBody
from haulwright.api.kit.routes import ApiReply, ApiRoutes
from haulwright.apps.brief.application import Brief
from haulwright.apps.brief.feeds import HEAVIEST, LONGEST_URL_CHARS
from haulwright.apps.brief.formats import FORMATS
from haulwright.apps.brief.views import (
    BriefView,
    FeedPageView,
    FeedRemovedView,
    FeedView,
    NewsEventsView,
    PublishedBriefsView,
    ScheduleRunsView,
    brief_document,
    feed_document,
    run_document,
)

routes = ApiRoutes("brief", prefix="/brief")

FormName = Literal["json", "html", "markdown", "atom"]
MEDIA_TYPES: Final[dict[FormName, str]] = {
    "html": "text/html", "markdown": "text/markdown", "atom": "application/atom+xml",
}  # fmt: skip
"""Of the forms that are not JSON."""
NEWEST: Final = "newest"
SAFE: Final = {
    "Vary": "Accept",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox allow-popups",
}
"""A page of other people's words: nothing in it runs, and nothing is fetched for it."""
Weight = Annotated[float, Field(gt=0, le=HEAVIEST, description="How much its reports count; 1 is usual.")]
FeedName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME_CHARS)]
Day = Annotated[str, Path(pattern=rf"^([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}|{NEWEST})$", examples=["2026-05-01", NEWEST])]
QueryDay = Annotated[
    str | None, Query(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$", description="The day of a brief; else the newest.")
]
JobName = Literal["rss_ingestion", "event_clustering", "retention_cleanup", "daily_brief"]


class NewFeedBody(RequestBody):
    """A feed to be read: RSS, Atom or JSON Feed."""

    url: Annotated[str, Field(min_length=1, max_length=LONGEST_URL_CHARS)]
    name: Annotated[FeedName, Field(description="What to call it; else its host.")] | None = None
    weight: Weight = 1.0
    enabled: bool = True


class FeedChangeBody(RequestBody):
    """What changes of a feed; what is not named stays."""

    name: FeedName | None = None
    weight: Weight | None = None
    enabled: bool | None = None


@routes.get("/feeds", FeedPageView)
def list_feeds(call: Caller, cursor: Cursor = None, limit: Limit = 50) -> FeedPageView:
    """List feeds with how they have been lately; staff who name no tenant see those of all."""
    cursors = call.cursors()
    page = _brief(call).page_feeds(call.principal, after=cursors.unwrap(cursor), limit=limit)
    return {"feeds": [feed_document(feed) for feed in page.rows], "next": cursors.wrap(page.next)}


@routes.post("/feeds", FeedView, status=HTTPStatus.CREATED, conflict=True, keyed=True)
def add_feed(call: Caller, body: NewFeedBody) -> ApiReply:
    """Have a feed read from now on."""
    feed = _brief(call).add(call.principal, **body.model_dump())
    return ApiReply(feed_document(feed), HTTPStatus.CREATED, {"Location": call.url_of("brief", "feeds", feed.id)})


@routes.get("/feeds/{feed}", FeedView, missing=True, etag=True)
def show_feed(call: Caller, feed: Key) -> FeedView:
    """Show one feed."""
    return feed_document(_brief(call).get_feed(call.principal, feed))


@routes.patch("/feeds/{feed}", FeedView)
def change_feed(call: Caller, feed: Key, body: FeedChangeBody) -> FeedView:
    """Change the name or weight of a feed, or switch it on or off. It may be asked again at once."""
    return feed_document(_brief(call).change_feed(call.principal, feed, **body.model_dump()))


@routes.delete("/feeds/{feed}", FeedRemovedView)
def remove_feed(call: Caller, feed: Key) -> FeedRemovedView:
    """Read a feed no more, and forget it. Its articles stay."""
    _brief(call).remove_feed(call.principal, feed)
    return {"tenant": call.principal.acting_tenant, "id": feed}


@routes.get("/events", NewsEventsView, missing=True)
def list_events(call: Caller, day: QueryDay = None) -> NewsEventsView:
    """List the events that the newest brief tells of, or that of a day."""
    brief = cast("BriefView", _brief(call).get_brief(call.principal, day))
    return {"day": brief["day"], "events": brief["events"], "events_not_shown": brief["events_not_shown"]}


@routes.get("/briefs", PublishedBriefsView)
def list_briefs(call: Caller, limit: Limit = 50) -> PublishedBriefsView:
    """List the briefs of a tenant, the newest first."""
    return {"briefs": [brief_document(brief) for brief in _brief(call).list_briefs(call.principal, limit)]}


@routes.get("/runs", ScheduleRunsView)
def list_runs(
    call: Caller,
    job: Annotated[JobName | None, Query(description="Only runs of this job.")] = None,
    limit: Limit = 50,
) -> ScheduleRunsView:
    """List the newest runs of the scheduled jobs. It takes somebody who runs the installation."""
    return {"job_runs": [run_document(run) for run in _brief(call).list_runs(call.principal, job, limit)]}


@routes.get("/{day}", BriefView, missing=True, etag=True, media_types=tuple(MEDIA_TYPES.values()))
def show(
    call: Caller,
    day: Day,
    form: Annotated[FormName | None, Query(description="The form; else the first of `Accept` that there is.")] = None,
) -> ApiReply:
    """Give the brief of a day, or the newest, as JSON, as a page, as Markdown or as a feed."""
    document = _brief(call).get_brief(call.principal, None if day == NEWEST else day)
    chosen = form or accepted_form(call.request.headers.get("accept", ""))
    if chosen == "json":
        return ApiReply(document, headers={"Vary": "Accept"})
    write, _ = FORMATS[chosen]
    return ApiReply(write(document), headers=SAFE, media_type=f"{MEDIA_TYPES[chosen]}; charset=utf-8")


def accepted_form(accept: str) -> FormName:
    """The form that a caller likes best of those that there are; JSON where it says nothing that is known."""
    names = {media_type: name for name, media_type in MEDIA_TYPES.items()} | {"application/json": get_args(FormName)[0]}
    liked = [(_quality(part), names[word]) for part in accept.split(",") if (word := _media_type(part)) in names]
    best = max(liked, key=lambda pair: pair[0], default=(0.0, None))
    return best[1] if best[0] > 0 and best[1] is not None else "json"


def _media_type(part: str) -> str:
    return part.partition(";")[0].strip().lower()


def _quality(part: str) -> float:
    _, _, text = part.partition(";q=")
    try:
        return float(text or 1)
    except ValueError:
        return 0.0


def _brief(call: ApiCall) -> Brief:
    return cast("Brief", call.application("brief"))
