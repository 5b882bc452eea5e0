"""A brief as a page: one file of HTML that needs nothing else, runs nothing, and can be read anywhere."""

from __future__ import annotations

from functools import cache
from html import escape
from importlib.resources import files
from typing import Any, Final

from haulwright.visible import web_address, without_controls

POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def as_html(document: dict[str, Any]) -> str:
    """The page of a brief. Whatever comes from a feed is text on it."""
    title = _text(document["title"])
    events = "\n".join(map(_event, document["events"])) or '<li class="quiet">Nothing happened.</li>'
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="referrer" content="no-referrer">
<title>{title}</title>
<style>
{_style()}</style>
</head>
<body>
<header>
<h1>{title}</h1>
<p class="quiet">{_text(_line(document))}</p>
</header>
<main>
<ol class="events">
{events}
</ol>
</main>
<footer>{_text(_ending(document))}</footer>
</body>
</html>
"""


def _event(event: dict[str, Any]) -> str:
    sentences = " ".join(_text(sentence["text"]) for sentence in event["summary"])
    paragraph = f"<p>{sentences}</p>\n" if sentences else ""
    reports = "\n".join(map(_report, event["reports"]))
    more = event["reports_not_named"]
    more_item = f"\n<li>and {more} more</li>" if more else ""
    count = len(event["reports"]) + more
    return f"""<li class="event" id="event-{event["rank"]}">
<div class="rank" aria-hidden="true">{event["rank"]}</div>
<article>
<h2>{_link(event["headline"], event["link"])}</h2>
{paragraph}<p class="quiet">{_text(", ".join(event["sources"]))}</p>
<details><summary>{count} {"report" if count == 1 else "reports"}, and why it is here</summary>
<ul class="reports">
{reports}{more_item}
</ul>
<p>{_text(event["why"])}</p>
</details>
</article>
</li>"""


def _report(report: dict[str, Any]) -> str:
    when = _text(report["published_at"])
    shown = _text(report["published_at"][:16].replace("T", " "))
    byline = f'{_text(report["source"])}, <time datetime="{when}">{shown}</time>'
    return f"<li>{_link(report['title'], report['link'])} <span>{byline}</span></li>"


def _link(text: str, address: str | None) -> str:
    """A text that leads somewhere, if that is an address of the web."""
    link = web_address(address)
    return _text(text) if link is None else f'<a href="{_text(link)}" rel="noopener noreferrer">{_text(text)}</a>'


def _text(text: str) -> str:
    return escape(without_controls(text))


def _line(document: dict[str, Any]) -> str:
    return f"{len(document['events'])} events from {document['articles']} articles of {document['sources']} sources"


def _ending(document: dict[str, Any]) -> str:
    more = document["events_not_shown"]
    smaller = f"{more} smaller {'event is' if more == 1 else 'events are'} not shown. " if more else ""
    return f"{smaller}Published {document['published_at'].replace('T', ' ').replace('Z', ' UTC')}."


@cache
def _style() -> str:
    return (files(__package__) / "page.css").read_text("utf-8")
