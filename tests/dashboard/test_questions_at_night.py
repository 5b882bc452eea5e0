"""The questions of docs/how-to/ten-questions-at-night.md, each asked by clicks from the Overview as somebody would."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from haulwright import Context
from haulwright.engine.source import source_limits
from haulwright.operations.principal import Principal
from tests.support.dashboard import Page, Person

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "how-to" / "ten-questions-at-night.md"
MOST_CLICKS = 4


@dataclass
class Walk:
    """Somebody on their way from the Overview, and how often they clicked."""

    person: Person
    page: Page
    clicks: int = 0

    def click(self, words: str) -> Walk:
        """Follow the first link with these words."""
        links = [link for link in self.page.all("body a") if words in link.text()]
        assert links, f"no link {words!r} on {self.page.path}"
        return self._went(self.person.open(str(links[0].attributes["href"])))

    def filter(self, text: str) -> Walk:
        """Write a filter, and send it."""
        return self._went(self.person.open("/ui/jobs", params={"q": text}))

    def fill_in(self, ending: str, **fields: str) -> Walk:
        """Fill in a form, and send it."""
        return self._went(self.person.submit(self.page, ending, **fields))

    def _went(self, page: Page) -> Walk:
        assert page.answer.status_code == 200, page.path
        return Walk(self.person, page, self.clicks + 1)


@pytest.fixture
def app(app):
    """With orders that are charged and then die, and a schedule."""

    @app.task(name="charge_order", queue="orders", retry=1)
    def charge_order(ctx: Context, order: str, amount: str) -> None:
        ctx.effect("charge the card", lambda: {"charge": f"ch-{order}", "amount": amount})
        message = "the mail server did not answer"
        raise TimeoutError(message)

    app.schedule("nightly", "30 2 * * *", app.tasks["add"], args={"a": 1}, tz="Europe/Berlin", tenant="acme")
    return app


@pytest.fixture
def night(served):
    """What somebody finds at night; the ids of the job that died and of the one that waits."""
    operations = served.app.operations(Principal.admin("ada", "the supplier sends a new list at nine"))
    order = {"order": "2026-0917", "amount": "31.80"}
    dead = operations.jobs.enqueue("charge_order", order, tenant="acme", correlation_id="order-2026-0917")
    operations.jobs.enqueue("charge_order", {"order": "2026-0918", "amount": "7.00"}, tenant="globex")
    served.app.run_worker(until_empty=True, queues=["orders"])
    operations.queues.pause("imports")
    waiting = operations.jobs.enqueue("add", {"a": 1}, tenant="acme", queue="imports")
    served.app.store.sources.declare("payments.example", source_limits(rate="30/min"))
    operations.sources.pause("payments.example")
    operations.schedules.trigger("nightly", 1_777_600_000_000_000)
    return dead.id, waiting.id


def ways(start, dead, waiting):
    """The way to each answer, and words of the answer."""
    timeouts = "state:dead error_code:timeout tenant:acme finished:<1d"
    return {
        "Which tenants are affected?": (start, ["1 dead letter of acme: timeout", "1 dead letter of globex: timeout"]),
        "Why does nothing run in this queue?": (
            start.click("is paused by admin:ada"),
            ["Paused since", "by admin:ada", "the supplier sends a new list at nine"],
        ),
        "Is this source slow, or are we?": (
            start.click("is paused until"),
            ["payments.example", "Requests, last hour", "30 a minute"],
        ),
        "Is it one error or many, and since when?": (
            start.click("Errors"),
            ["TimeoutError", "charge_order", "Requeue these 2"],
        ),
        "Was the customer charged before it died?": (
            start.click(dead[-12:]),
            ["charge the card", "done", '"charge": "ch-2026-0917"'],
        ),
        "Why does this job wait?": (
            start.click("Jobs").filter(f"id:{waiting}").click(waiting[-12:]),
            ["its queue 'imports' is paused by admin:ada", "haulwright queue resume imports"],
        ),
        "What became of order 2026-0917?": (
            start.click("Jobs").filter("correlation_id:order-2026-0917").click(dead[-12:]),
            ["it is a dead letter", "the mail server did not answer"],
        ),
        "Did the nightly run happen?": (start.click("Schedules").click("nightly"), ["by hand", "Next runs"]),
        "Can this one run again with another amount?": (
            start.click(dead[-12:]).click("Same as this job").fill_in("/tasks/charge_order", **{"arg.amount": "30.00"}),
            ["charge_order", '"amount": "30.00"'],
        ),
        "Can yesterday's time-outs of one shop run again?": (
            start.click("Jobs")
            .filter(timeouts)
            .click("requeue the dead ones")
            .fill_in("/bulk/new", reason="the mail server answers again"),
            [timeouts, "the mail server answers again"],
        ),
    }


def test_ten_questions_at_night_take_at_most_four_clicks(served, admin, night):
    answers = ways(Walk(admin, admin.open("/ui/overview")), *night)

    for question, (walk, words) in answers.items():
        text = walk.page.text
        assert (question, [word for word in words if word not in text]) == (question, []), text[:300]
        assert walk.clicks <= MOST_CLICKS
    rows = [line.split(" | ") for line in GUIDE.read_text("utf-8").splitlines() if line.startswith("| ")][1:]
    assert {row[0].removeprefix("| "): int(row[1]) for row in rows} == {
        question: walk.clicks for question, (walk, _) in answers.items()
    }
    served.app.run_worker(until_empty=True, queues=["default"])
    (again,) = admin.open("/ui/jobs.json?q=state:queued+tenant:acme+correlation_id:order-2026-0917").answer.json()[
        "jobs"
    ]
    assert again["args"] == {"order": "2026-0917", "amount": "31.80"}
