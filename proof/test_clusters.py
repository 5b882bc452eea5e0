"""Clusters: leaders of real PostgreSQL clusters are killed and relieved while clients enqueue and workers work.

`FAILOVERS=20` for a campaign; a few by default.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import psycopg
import pytest

from haulwright.errors import DatabaseProblem
from proof.clusters.campaign import FailOver, fail_over, stay_with
from proof.clusters.claims import APP, miss_a_claim
from proof.clusters.cluster import Cluster
from proof.clusters.programs import ClusterUnavailable
from proof.faults.crew import Crew
from proof.faults.server import linux
from proof.support.site import Site
from proof.support.workload import Workload
from tests.support.binaries import PostgresUnavailable

pytestmark = [pytest.mark.crash, pytest.mark.postgres, linux]

FAILOVERS = int(os.environ.get("FAILOVERS", "3"))
BEHIND_SECONDS = 1.0
"""How far those who follow asynchronously are behind the leader that dies."""


def started(*, synchronous: bool) -> Iterator[Cluster]:
    try:
        cluster = Cluster(synchronous=synchronous)
    except (ClusterUnavailable, PostgresUnavailable) as reason:
        pytest.skip(f"no cluster: {reason}")
    with cluster:
        yield cluster


@pytest.fixture(scope="module")
def synchronous_cluster() -> Iterator[Cluster]:
    """What is acknowledged is on two nodes."""
    yield from started(synchronous=True)


@pytest.fixture(scope="module")
def asynchronous_cluster() -> Iterator[Cluster]:
    """What is acknowledged is on the leader, and on its way to the others."""
    yield from started(synchronous=False)


@pytest.fixture
def schema(request: pytest.FixtureRequest) -> str:
    """A schema of its own, in whichever cluster the proof is about, once that is whole."""
    name = next(name for name in request.fixturenames if name.endswith("_cluster"))
    cluster: Cluster = request.getfixturevalue(name)
    cluster.heal()
    schema = f"proof_{uuid.uuid4().hex}"
    with psycopg.connect(cluster.url(), autocommit=True) as connection:
        connection.execute(f"create schema {schema}")
    return schema


@contextmanager
def prepared(cluster: Cluster, schema: str, folder: Path) -> Iterator[Workload]:
    """The tasks of the proofs at an address that names all nodes."""
    site = Site.prepare(cluster.url(search_path=schema), folder, clock=False)
    with closing(site), closing(Workload(site)) as work:
        work.prepare()
        yield work


@pytest.mark.proves("CLM-01", "GU-02", "GU-03")
def test_fail_overs_of_a_synchronous_cluster_cost_nothing_but_time(
    synchronous_cluster: Cluster, schema: str, tmp_path: Path, report: list[str]
):
    ways: dict[str, FailOver] = {
        "killed": synchronous_cluster.kill_leader,
        "relieved": synchronous_cluster.switch_over,
        "stood still": synchronous_cluster.freeze_leader,
    }
    with prepared(synchronous_cluster, schema, tmp_path) as work, Crew(work.site) as crew:
        campaign = fail_over(work, crew, ways, synchronous_cluster, FAILOVERS)
        report.append(f"synchronous: {campaign}")
        harm = campaign.harm

    assert harm == []


@pytest.mark.proves("GU-02")
def test_what_survives_the_fail_overs_of_an_asynchronous_cluster_was_committed_once(
    asynchronous_cluster: Cluster, schema: str, tmp_path: Path, report: list[str]
):
    ways: dict[str, FailOver] = {
        "killed a second ahead": partial(asynchronous_cluster.kill_leader, behind_seconds=BEHIND_SECONDS),
        "relieved": asynchronous_cluster.switch_over,
        "stood still": asynchronous_cluster.freeze_leader,
    }
    with prepared(asynchronous_cluster, schema, tmp_path) as work, Crew(work.site) as crew:
        campaign = fail_over(work, crew, ways, asynchronous_cluster, FAILOVERS)
        report.append(f"asynchronous: {campaign}")
        verdict = campaign.left.verdict

    assert [what for what in verdict.duplicated if what.startswith("commit")] == []
    assert (verdict.stuck, campaign.drained, campaign.left.unfinished) == ([], True, [])
    assert (campaign.deaths, campaign.strays) == ({}, [])


@pytest.mark.proves("CLM-12", "GU-04")
def test_a_run_whose_claim_was_lost_with_its_leader_cannot_write(
    asynchronous_cluster: Cluster, schema: str, tmp_path: Path, report: list[str]
):
    with prepared(asynchronous_cluster, schema, tmp_path) as work, Crew(work.site, app=APP) as crew:
        missed = miss_a_claim(asynchronous_cluster, work, crew)

    report.append(str(missed))
    assert (missed.first, missed.second) == (False, True)


def test_workers_that_know_one_node_wait_while_it_follows_another(
    asynchronous_cluster: Cluster, schema: str, tmp_path: Path, report: list[str]
):
    node = asynchronous_cluster.require_leader()
    alone = asynchronous_cluster.url(search_path=schema, nodes=[node])
    with prepared(asynchronous_cluster, schema, tmp_path) as work, Crew(work.site, url=alone) as crew:
        stay = stay_with(node, asynchronous_cluster, work, crew)

    report.append(str(stay))
    assert stay.deaths == {}
    assert stay.drained


def test_a_client_of_a_node_that_follows_is_told_so(asynchronous_cluster: Cluster, schema: str, tmp_path: Path):
    leader = asynchronous_cluster.require_leader()
    follower = next(node for node in asynchronous_cluster.nodes if node is not leader)
    with prepared(asynchronous_cluster, schema, tmp_path):
        asynchronous_cluster.wait_until_replayed()
        site = Site(asynchronous_cluster.url(search_path=schema, nodes=[follower]), tmp_path)
        with closing(Workload(site)) as work, pytest.raises(DatabaseProblem):
            work.enqueue(work.note, range(1))
