"""What became of a market: every job, every point and every valuation against what the shops have."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from haulwright.apps.prices.intakes import Intake
from haulwright.sandbox.shop.service import PAGE
from proof.prices.market import SHOPS, TENANT, Market


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found."""

    jobs: int
    points: int
    valuations: int
    kills: int
    losses: int
    """Runs that were cut off: proof that the kills met somebody."""
    wrong: list[str]

    def __str__(self) -> str:
        told = f"{self.jobs} jobs, {self.points} points, {self.valuations} valuations, {self.kills} workers killed"
        return f"{told}, {self.losses} runs cut off, {len(self.wrong)} wrong"


def judge(market: Market) -> Verdict:
    """Weigh a market where nothing is left to do."""
    wrong = [*_jobs(market), *_duplicates(market)]
    points = 0
    for intake in market.intakes:
        found = market.prices.points.history(TENANT, intake.intake_id)
        points += len(found)
        wrong += _points(market, intake, Counter((one.source_id, one.minor) for one in found))
        wrong += _valuation(market, intake)
    ((jobs, losses),) = market.rows(
        "select count(*), coalesce(sum(losses), 0) from haulwright_history where task = 'prices.collect'"
    )
    ((valuations,),) = market.rows("select count(*) from valuations")
    return Verdict(int(jobs), points, int(valuations), market.kills, int(losses), wrong)


def _jobs(market: Market) -> list[str]:
    """Every job succeeded, and wrote what it wrote once."""
    ended = market.rows("select status, count(*) from scrape_jobs where status <> 'succeeded' group by status")
    asked = "select job_key from haulwright_effects where name = 'commit:points' group by job_key having count(*) > 1"
    return [f"{count} jobs are {status}" for status, count in ended] + [
        f"{key} wrote twice" for (key,) in market.rows(asked)
    ]


def _duplicates(market: Market) -> list[str]:
    """The document's own question."""
    asked = """select intake_id, source_id, dedupe_key, count(*) as count from price_points
               group by intake_id, source_id, dedupe_key having count(*) > 1"""
    return [f"{row} is there twice" for row in market.rows(asked)]


def _points(market: Market, intake: Intake, found: Counter[tuple[str, int]]) -> list[str]:
    """Each listing of each shop that has the words of the intake is one point, at its price."""
    truth: Counter[tuple[str, int]] = Counter()
    for source in market.prices.sources.all(TENANT):
        pieces = market.sandbox.shop.pieces(SHOPS[source.name])
        shown = [one for one in pieces if intake.words.lower() in one.title.lower()]
        truth.update((source.source_id, one.price) for one in shown[:PAGE])
    missing, spare = truth - found, found - truth
    return [f"{intake.intake_id} lacks {missing} and has {spare}"] if missing or spare else []


def _valuation(market: Market, intake: Intake) -> list[str]:
    """One valuation, the same that the committed points give from scratch."""
    valued = market.prices.valuations.find(TENANT, intake.intake_id)
    if valued is None:
        return [f"{intake.intake_id} has no valuation"]
    if valued.valuation != market.prices.valuations.recompute(intake):
        return [f"the valuation of {intake.intake_id} is stale"]
    versions = [one.version for one in market.prices.valuations.versions(TENANT, intake.intake_id)]
    return [] if versions == list(range(valued.version, 0, -1)) else [f"{intake.intake_id} has versions {versions}"]
