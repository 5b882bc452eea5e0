"""The brief in the dashboard: feeds with how they are, and the brief of a day as its readers see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

from haulwright.apps.brief.application import Brief
from haulwright.apps.brief.views import BriefView, FeedView, PublishedBriefView, brief_document, feed_document
from haulwright.dashboard.kit.call import PageCall
from haulwright.dashboard.kit.navigation import Nav
from haulwright.dashboard.kit.pages import ActionDone, PageRoutes
from haulwright.dashboard.kit.tenants import TENANT, acting_principal, page_principal
from haulwright.dashboard.kit.turns import PAGED, Turns
from haulwright.operations.principal import TenantRequired
from haulwright.visible import web_address

if TYPE_CHECKING:
    from haulwright.dashboard.kit.forms import Form

pages = PageRoutes("brief", module=__file__)

LATEST: Final = 30
"""Briefs beside the feeds, the newest first; the others by the days before them."""
NEWEST: Final = "newest"


@dataclass(frozen=True, slots=True)
class FeedsPage:
    """Feeds with how they have been lately, and the last briefs."""

    tenant: str | None
    """None where the feeds are those of all tenants; briefs are of one."""
    feeds: list[FeedView]
    turns: Turns
    briefs: list[PublishedBriefView]


@dataclass(frozen=True, slots=True)
class BriefPage:
    """The brief of a day, with its neighbours."""

    tenant: str | None
    brief: BriefView | None
    """None where no tenant is named, and where there is no brief yet."""
    before: str | None = None
    after: str | None = None


@pages.get(
    "/brief", "feeds.html", "Brief", verb="brief.read", nav=Nav("Brief", group="Applications"), query=(TENANT, *PAGED)
)
def feeds(call: PageCall) -> FeedsPage:
    """Feeds with how they have been lately, and the last briefs."""
    principal, brief = page_principal(call), _brief(call)
    turns = call.turns(principal.tenant)
    page = brief.page_feeds(principal, after=turns.after, limit=turns.limit)
    briefs = [] if principal.tenant is None else brief.list_briefs(principal, LATEST)
    return FeedsPage(
        principal.tenant,
        [feed_document(feed) for feed in page.rows],
        turns.then(page.next),
        [brief_document(published) for published in briefs],
    )


@pages.get("/brief/days/{day}", "day.html", "Brief of a day", verb="brief.read", query=(TENANT,))
def day_of_brief(call: PageCall) -> BriefPage:
    """The brief of a day as readers see it, and why each event stands where it does."""
    principal, brief = page_principal(call), _brief(call)
    try:
        day = brief.newest_day(principal) if call.path["day"] == NEWEST else call.path["day"]
        if day is None:
            return BriefPage(principal.tenant, None)
        document = _followable(cast("BriefView", brief.get_brief(principal, day)))
        return BriefPage(principal.tenant, document, *brief.days_beside(principal, document["day"]))
    except TenantRequired:
        return BriefPage(None, None)


@pages.post("/brief/ingest", verb="brief.work")
def ingest(call: PageCall, form: Form) -> ActionDone:
    """Have all feeds of a tenant read now."""
    job_ids = _brief(call).ingest(acting_principal(call, form))
    return ActionDone(f"{len(job_ids)} feeds wait to be read.", to=_back(call))


@pages.post("/brief/publish", verb="brief.work")
def publish(call: PageCall, form: Form) -> ActionDone:
    """Have the brief of today published."""
    handle = _brief(call).publish(acting_principal(call, form))
    return ActionDone(f"The job {handle.id} publishes the brief of today, if there is news.", to=_back(call))


@pages.post("/brief/feeds/{feed}/switch", verb="brief.change")
def switch(call: PageCall, form: Form) -> ActionDone:
    """Read a feed, or leave it alone."""
    enabled = form.text("enabled") == "true"
    feed = _brief(call).change_feed(acting_principal(call, form), call.path["feed"], enabled=enabled)
    return ActionDone(f"The feed {feed.name} is {'read from now on' if enabled else 'left alone'}.", to=_back(call))


def _followable(brief: BriefView) -> BriefView:
    """A brief whose addresses can be followed: what is no address of the web is none."""
    return {
        **brief,
        "events": [
            {
                **event,
                "link": web_address(event["link"]),
                "summary": [{**sentence, "link": web_address(sentence["link"])} for sentence in event["summary"]],
                "reports": [{**report, "link": web_address(report["link"])} for report in event["reports"]],
            }
            for event in brief["events"]
        ],
    }


def _back(call: PageCall) -> str:
    return call.url("/brief", tenant=call.query.get(TENANT))


def _brief(call: PageCall) -> Brief:
    return cast("Brief", call.application("brief"))
