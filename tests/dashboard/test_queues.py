"""Queues on their pages: what waits, who paused it and why, and the way to pause it."""

from __future__ import annotations

from tests.support.dashboard import Person

LANE = "slow lane/2 %"


def test_a_queue_says_what_waits_in_it_and_leads_to_its_jobs(served, admin):
    for number in range(3):
        served.app.operations().jobs.enqueue("add", {"a": number}, tenant="acme", queue=LANE)
    served.app.operations().jobs.enqueue("add", {"a": 9}, tenant="acme", queue="quick")
    served.app.operations().jobs.enqueue("add", {"a": 9}, tenant="acme", queue=LANE, delay="1 day")

    (row,) = [row for row in admin.open("/ui/queues").all("tr[data-row]") if LANE in row.text()]
    assert "nobody serves it" in row.text()
    page = admin.open(row.css_first("th a").attributes["href"])
    assert admin.open(f"{page.path}.json").answer.json()["queue"]["due"] == 3
    assert "haulwright worker --queues 'slow lane/2 %'" in page.text
    for name, count in (("Due", 3), ("Parked", 1), ("Running", 0)):
        (figure,) = [figure for figure in page.all(".figure") if figure.css_first("dt").text() == name]
        assert figure.css_first("dd").text() == str(count)
        assert len(admin.open(figure.css_first("a").attributes["href"]).all("tr[data-row]")) == count


def test_a_queue_is_paused_and_resumed_with_who_and_why(served, admin):
    served.app.operations().jobs.enqueue("add", {"a": 1}, tenant="acme", queue=LANE)
    page = admin.open(admin.open("/ui/queues").all("tr[data-row] th a")[0].attributes["href"])

    paused = admin.submit(page, "/pause", reason="the server moves")

    assert "is paused" in paused.notice
    assert "the server moves" in admin.open("/ui/queues").text
    assert "test-admin" in admin.open("/ui/queues").text
    status = served.app.operations().queues.get(LANE)
    assert (status.pause_reason, status.paused_at is not None) == ("the server moves", True)
    assert "goes on" in admin.submit(paused, "/resume", reason="it moved").notice
    assert served.app.operations().queues.get(LANE).paused_at is None


def test_who_may_not_pause_is_told_and_refused(served):
    served.app.operations().jobs.enqueue("add", {"a": 1}, tenant="acme")
    for role in ("tenant", "support", "monitor"):
        person = Person(served).log_in(role, None if role == "monitor" else "acme")
        assert f"Pause: not allowed to the role {role}" in person.open("/ui/queues/default").text
        assert person.send("/ui/queues/default/pause", {"reason": "no"}).answer.status_code == 403
        last = served.app.operations().events.page(name="request.refused").rows[-1]
        assert (last.data["verb"], f"test-{role}" in last.actor) == ("queue.pause", True)
    assert served.app.operations().queues.get("default").paused_at is None


def test_a_tenant_counts_its_own_jobs_alone(served):
    served.app.operations().jobs.enqueue("add", {"a": 1}, tenant="acme")
    served.app.operations().jobs.enqueue("add", {"a": 1}, tenant="globex")

    person = Person(served).log_in("tenant", "acme")

    assert person.open("/ui/queues/default.json").answer.json()["queue"]["due"] == 1


def test_a_monitor_reads_figures_and_finds_no_link_that_it_may_not_follow(served):
    served.app.operations().jobs.enqueue("add", {"a": 1}, tenant="acme")
    monitor = Person(served).log_in("monitor")
    for path in ("/ui/queues", "/ui/queues/default"):
        assert [link for link in monitor.open(path).all("a") if "/ui/jobs" in (link.attributes["href"] or "")] == []


def test_queues_come_a_page_at_a_time(served, admin):
    for name in ("a", "b", "c"):
        served.app.operations().jobs.enqueue("add", {"a": 1}, tenant="acme", queue=name)
    first = admin.open("/ui/queues?limit=2")
    (link,) = first.all("a[rel=next]")
    names = [
        [row.text(strip=True) for row in page.all("tr[data-row] th")]
        for page in (first, admin.open(link.attributes["href"]))
    ]
    assert names == [["a", "b"], ["c"]]


def test_no_queue_says_how_one_comes_to_be(admin):
    assert "worker --queues mail" in admin.open("/ui/queues").text


def test_a_list_by_name_has_a_previous_page_and_one_by_time_a_newer_one(served, admin):
    operations = served.app.operations()
    for number in range(3):
        operations.queues.pause(f"lane-{number}")
        operations.jobs.enqueue("add", {"a": number}, tenant="acme")
    for path, words in (
        ("/ui/queues?limit=1", ["← Previous", "First", "Next →"]),
        ("/ui/jobs?limit=1", ["← Newer", "Newest", "Older →"]),
    ):
        (onwards,) = admin.open(path).all("a[rel=next]")
        second = admin.open(onwards.attributes["href"])
        assert [link.text() for link in second.all("nav.turns a")] == words
