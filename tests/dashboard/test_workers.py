"""Workers on their page: who lives, who fell silent, who stopped, and what each has in hand."""

from __future__ import annotations

from haulwright.engine.ids import new_id
from haulwright.stores.workers import Identity
from tests.support.dashboard import Person


def test_workers_are_live_silent_or_stopped(served, admin):
    store = served.app.store
    live, silent, stopped = (Identity(new_id(), name, "<host>", "b1", 7, "100", "1.2.3") for name in ("w1", "w2", "w3"))
    for worker in (live, silent, stopped):
        store.workers.register(worker, ["default", "slow lane"], ["add", "fail"])
    store.workers.stopped(stopped, 0)
    long_ago = f"update haulwright_workers set seen_at = seen_at - 600000000 where id = '{silent.id}'"  # noqa: S608 - an id of ours
    store.database.transact(lambda connection: connection.execute(long_ago))

    standings = {
        line["worker"]["name"]: line["standing"]
        for line in admin.open("/ui/workers.json?all=1").answer.json()["workers"]
    }
    assert standings == {"w1": "live", "w2": "silent", "w3": "stopped"}
    everyone = admin.open("/ui/workers?all=1")
    for name, word in standings.items():
        (row,) = [row for row in everyone.all("tr[data-row]") if row.css_first("th").text() == name]
        assert word in row.text()
        assert "1.2.3" in row.text()
        assert "<host>" in row.text()
    assert [row.css_first("th").text() for row in admin.open("/ui/workers").all("tr[data-row]")] == ["w1"]


def test_what_a_worker_holds_leads_to_jobs_that_run(served, admin):
    served.app.operations().jobs.enqueue("add", {"a": 1}, tenant="acme", queue="slow lane")
    worker, idle = (Identity(new_id(), name, "alpha", "b1", 7, "100", "1.2.3") for name in ("w1", "w2"))
    for each in (idle, worker):
        served.app.store.workers.register(each, ["default", "slow lane"], ["add"])
    assert len(served.app.store.leases.claim(worker.id, ["slow lane"])) == 1

    (link,) = admin.open("/ui/workers").all("tr[data-row] td.n a")
    assert link.text() == "1"
    assert len(admin.open(link.attributes["href"]).all("tr[data-row]")) == 1


def test_no_worker_says_how_to_start_one(served, admin):
    assert "haulwright -A shop:app worker" in admin.open("/ui/workers").text
    assert Person(served).log_in("tenant", "acme").open("/ui/workers").answer.status_code == 403
