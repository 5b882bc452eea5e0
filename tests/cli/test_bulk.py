"""Bulk actions from the command line."""

from __future__ import annotations

from tests.cli.conftest import SHOP


def test_an_action_is_previewed_started_watched_and_its_count_is_what_was_previewed(haulwright, enqueue, work):
    ids = [enqueue("price", "sku=A1", "--delay", "1 day") for _ in range(3)]
    enqueue("alone")
    cancel = ("bulk", "start", "cancel", "--where", "state:queued task:price")

    preview = haulwright(*cancel, "--dry-run", "--json").json
    told = haulwright(*cancel, "--dry-run")
    action = haulwright(*cancel, "--yes", "--reason", "ticket 7", "--json").json
    work()

    assert (preview["count"], {job["id"] for job in preview["sample"]}) == (3, set(ids))
    assert "This would cancel 3 jobs. Nothing was changed." in told.out
    assert "Nobody would run it now: no live worker serves the queue 'default'" in told.err
    ended = haulwright("bulk", "show", action["id"], "--json").json
    assert (ended["state"], ended["done"], ended["of"], ended["reason"]) == ("succeeded", 3, 3, "ticket 7")
    assert {haulwright("job", "show", job_id, "--json").json["state"] for job_id in ids} == {"cancelled"}
    assert [row["id"] for row in haulwright("bulk", "list", "--json").json["actions"]] == [action["id"]]
    assert "3 of 3" in haulwright("bulk", "list").out


def test_nothing_begins_before_somebody_has_said_yes(haulwright, enqueue):
    enqueue("price", "sku=A1", "--delay", "1 day")

    answer = haulwright("bulk", "start", "cancel", "--task", "price")

    assert answer.code == 2
    assert "This would cancel 1 job, and nobody is here to be asked." in answer.err
    assert "No bulk actions." in haulwright("bulk", "list").err


def test_an_action_is_stopped(haulwright, enqueue):
    enqueue("price", "sku=A1", "--delay", "1 day")
    started = haulwright("bulk", "start", "cancel", "--yes").out.strip()

    stopped = haulwright("bulk", "stop", started, "--reason", "wrong filter")

    assert "It is stopped after 0." in stopped.out
    assert haulwright("job", "show", started, "--json").json["reason"] == "wrong filter"
    assert haulwright("bulk", "stop", started).code == 4


def test_the_engines_own_task_is_not_run_by_its_name(haulwright, enqueue):
    enqueue("price", "sku=A1", "--delay", "1 day")

    answer = haulwright("run", "-A", SHOP, "haulwright.bulk", "act=cancel")

    assert answer.code != 0
    assert "haulwright.bulk" in answer.err
