from __future__ import annotations

import threading

import pytest

POSTS = "apify~instagram-post-scraper"
RUNS = f"/apify/v2/actors/{POSTS}/runs"
INPUT = {"username": ["acme"], "resultsLimit": 10}
NEEDED = {
    POSTS: {"id", "shortCode", "caption", "url", "likesCount", "commentsCount", "timestamp", "ownerUsername"},
    "apify~instagram-reel-scraper": {"id", "videoUrl", "videoPlayCount", "likesCount", "timestamp", "productType"},
    "clockworks~tiktok-scraper": {"id", "text", "createTimeISO", "diggCount", "playCount", "webVideoUrl", "authorMeta"},
    "apimaestro~linkedin-company-posts": {"activity_urn", "text", "posted_at", "stats", "post_url", "author"},
    "apimaestro~linkedin-profile-posts": {"urn", "text", "posted_at", "stats", "url", "author"},
    "streamers~youtube-scraper": {"id", "title", "url", "viewCount", "date", "likes", "channelName", "duration"},
    "apify~website-content-crawler": {"url", "crawl", "metadata", "text", "markdown"},
}


def started(client, actor=POSTS, said=None, **query):
    answer = client.post(f"/apify/v2/actors/{actor}/runs", json=said or INPUT, params=query)
    assert answer.status_code == 201, answer.text
    return answer.json()["data"]


def seen(client, run):
    return client.get(f"/apify/v2/actor-runs/{run['id']}").json()["data"]


def items(client, run, **query):
    return client.get(f"/apify/v2/datasets/{run['defaultDatasetId']}/items", params=query)


def test_a_run_goes_its_way_by_the_clock(sandbox, client):
    run = started(client)
    statuses = [run["status"]]
    for _ in range(2):
        sandbox.clock.advance(10)
        statuses.append(seen(client, run)["status"])

    assert statuses == ["READY", "RUNNING", "SUCCEEDED"]
    assert len(items(client, run).json()) == 10


@pytest.mark.parametrize("actor", NEEDED)
def test_each_actor_gives_items_in_its_own_fields(sandbox, client, actor):
    run = started(client, actor, {"startUrls": [{"url": "https://acme.example/"}], "maxResults": 4})
    sandbox.clock.advance(60)

    found = items(client, run).json()

    assert len(found) == 4
    assert all(set(item) >= NEEDED[actor] for item in found)


def test_the_next_day_brings_the_same_ids_with_higher_figures_and_something_new(sandbox, client):
    said = {"username": ["acme"], "resultsLimit": 30}
    runs = [started(client, said=said)]
    sandbox.clock.advance(3 * 86_400)
    runs.append(started(client, said=said))
    sandbox.clock.advance(60)

    before, after = ({item["id"]: item["likesCount"] for item in items(client, run).json()} for run in runs)

    common = before.keys() & after.keys()
    assert after.keys() - before.keys()
    assert common
    assert sum(after[one] for one in common) > sum(before[one] for one in common)


@pytest.mark.parametrize("ending", ["FAILED", "TIMED-OUT", "ABORTED"])
def test_a_run_that_does_not_succeed_leaves_a_part_of_its_items(sandbox, client, ending):
    sandbox.apify.script(ending=ending, partial=0.3, message="no luck")
    run = started(client)
    sandbox.clock.advance(30)

    assert (seen(client, run)["status"], seen(client, run)["statusMessage"]) == (ending, "no luck")
    assert len(items(client, run).json()) == 3


def test_a_run_that_never_ends_runs_into_its_timeout(sandbox, client):
    sandbox.apify.script(ending="NEVER")
    run = started(client, timeout=300)

    sandbox.clock.advance(299)
    assert seen(client, run)["status"] == "RUNNING"
    sandbox.clock.advance(1)
    assert seen(client, run)["status"] == "TIMED-OUT"


def test_an_abort_is_at_once_or_within_its_grace(sandbox, client):
    sandbox.apify.script(duration_seconds=120, times=2)
    hard, soft = started(client), started(client)

    told = client.post(f"/apify/v2/actor-runs/{hard['id']}/abort").json()["data"]["status"]
    told_softly = client.post(f"/apify/v2/actor-runs/{soft['id']}/abort?gracefully=true").json()["data"]["status"]
    sandbox.clock.advance(30)

    assert (told, told_softly, seen(client, soft)["status"]) == ("ABORTED", "ABORTING", "ABORTED")


def test_an_aborted_run_costs_only_what_it_did(sandbox, client):
    run = started(client)
    full_price = sandbox.books.paid_runs(POSTS)[0].cost

    client.post(f"/apify/v2/actor-runs/{run['id']}/abort")

    assert sandbox.books.paid_runs(POSTS)[0].cost < full_price


def test_the_cap_on_items_caps_the_bill_and_not_the_data(sandbox, client):
    run = started(client, maxItems=4)
    sandbox.clock.advance(30)

    assert len(items(client, run).json()) == 10
    assert sandbox.books.paid_runs()[0].cost == pytest.approx(0.005 + 4 * 0.0023)


def test_the_cap_on_the_charge_ends_the_run_before_it_costs_more(sandbox, client):
    run = started(client, maxTotalChargeUsd=0.01)
    sandbox.clock.advance(30)

    assert len(items(client, run).json()) == 2
    assert seen(client, run)["usageTotalUsd"] <= 0.01


def test_a_clean_page_may_be_short_and_not_the_last(sandbox, client):
    sandbox.apify.script(broken=5)
    run = started(client)
    sandbox.clock.advance(30)

    pages = [items(client, run, clean=1, offset=offset, limit=5) for offset in (0, 5)]

    assert sorted(len(page.json()) for page in pages) == [4, 5]
    assert {page.headers["X-Apify-Pagination-Total"] for page in pages} == {"10"}


def test_broken_items_are_broken_in_every_way_that_happens(sandbox, client):
    sandbox.apify.script(broken=5)
    run = started(client)
    sandbox.clock.advance(30)

    found = items(client, run).json()

    assert sum("id" not in item for item in found) == 3
    assert sum(item.get("timestamp") == "yesterday-ish" for item in found) == 1
    assert {} in found


def test_accounts_do_not_see_each_others_runs(client):
    run = started(client)
    theirs = {"Authorization": "Bearer theirs"}

    assert client.get(f"/apify/v2/actor-runs/{run['id']}", headers=theirs).status_code == 404
    assert client.get("/apify/v2/actor-runs", headers=theirs).json()["data"]["total"] == 0
    assert client.get("/apify/v2/actor-runs?token=mine", headers={"Authorization": ""}).json()["data"]["total"] == 1


@pytest.mark.parametrize(
    ("path", "body", "refusal"),
    [
        ("/apify/v2/actors/nobody~nothing/runs", b"{}", (404, "actor-not-found")),
        (RUNS, b"{not json", (400, "run-input-body-not-valid-json")),
        (RUNS, b'{"resultsLimit": 3}', (400, "invalid-input")),
        (f"{RUNS}?memory=1000", b'{"username": ["a"]}', (400, "invalid-value")),
        (f"{RUNS}?maxItems=0", b'{"username": ["a"]}', (400, "max-items-must-be-greater-than-zero")),
        (f"{RUNS}?maxTotalChargeUsd=0.001", b'{"username": ["a"]}', (400, "max-total-charge-usd-below-minimum")),
        ("/apify/v2/nothing", b"{}", (404, "page-not-found")),
    ],
)
def test_a_refusal_has_the_vendors_type_and_costs_nothing(sandbox, client, path, body, refusal):
    answer = client.post(path, content=body)

    assert (answer.status_code, answer.json()["error"]["type"]) == refusal
    assert sandbox.books.paid_runs() == []


def test_a_token_is_needed_and_can_be_taken_away(sandbox, client):
    nobody = client.post(RUNS, json=INPUT, headers={"Authorization": ""})
    sandbox.apify.script(revoke="mine")
    revoked = client.post(RUNS, json=INPUT)

    assert [answer.json()["error"]["type"] for answer in (nobody, revoked)] == [
        "token-not-provided",
        "user-or-token-not-found",
    ]


def test_the_limits_of_an_account_say_not_now(sandbox, client):
    sandbox.apify.script(limits={"concurrent_runs": 1})
    started(client)

    refused = client.post(RUNS, json=INPUT)
    sandbox.clock.advance(60)

    assert refused.json()["error"]["type"] == "concurrent-runs-limit-exceeded"
    assert client.post(RUNS, json=INPUT).status_code == 201


def test_runs_are_listed_by_status_and_start(sandbox, client):
    old = started(client)
    sandbox.clock.advance(60)
    new = started(client)

    def listed(**query):
        return [run["id"] for run in client.get(RUNS, params=query).json()["data"]["items"]]

    assert listed() == [old["id"], new["id"]]
    assert listed(desc=1) == [new["id"], old["id"]]
    assert listed(startedAfter=new["startedAt"]) == [new["id"]]
    assert listed(status="SUCCEEDED,FAILED") == [old["id"]]
    assert listed(limit=1, offset=1) == [new["id"]]


def test_the_old_prefix_of_actors_works_as_well(client):
    assert client.post(f"/apify/v2/acts/{POSTS}/runs", json=INPUT).status_code == 201


def test_a_long_poll_ends_when_the_run_does(sandbox, client):
    sandbox.apify.longest_wait_seconds = 10
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(started(client, waitForFinish=60)["status"]))
    waiting.start()
    sandbox.books.wait_for(lambda books: books.paid_runs())

    sandbox.clock.advance(25)
    waiting.join(5)

    assert answers == ["SUCCEEDED"]


def test_a_long_poll_that_runs_out_tells_how_the_run_stands(sandbox, client):
    sandbox.apify.longest_wait_seconds = 0.01

    assert started(client, waitForFinish=60)["status"] == "READY"
