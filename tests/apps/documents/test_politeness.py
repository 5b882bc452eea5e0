"""How long it takes to be polite to other people's servers is said before anybody waits for it."""

from __future__ import annotations

import pytest

from haulwright.apps.documents.politeness import politeness_of
from haulwright.apps.documents.settings import DocumentSettings
from haulwright.operations.principal import Principal
from tests.apps.documents.scenes import TENANT

POLITE = DocumentSettings.load(host_rate="120/min", host_burst=10)


def urls(host, count):
    return [f"https://{host}/{number}.pdf" for number in range(count)]


def test_the_host_with_the_most_documents_decides_after_its_first_burst():
    politeness = politeness_of([*urls("a.example", 30), *urls("b.example", 70)], POLITE)

    assert (politeness.host, politeness.documents, politeness.seconds) == ("b.example", 70, 30.0)
    assert politeness.text == "Politeness: 70 documents of b.example at 120/min take at least 30 s."


@pytest.mark.parametrize(("count", "seconds"), [(1, 0.0), (10, 0.0), (11, 0.5), (3_610, 1_800.0)])
def test_what_fits_into_the_burst_takes_no_time(count, seconds):
    assert politeness_of(urls("a.example", count), POLITE).seconds == seconds


def test_nothing_new_takes_no_time(world, tmp_path):
    manifest = tmp_path / "list.csv"
    manifest.write_text(f"url\n{world.url('a.txt')}\n")

    first = world.documents.take_in(Principal.of_tenant(TENANT), manifest)
    again = world.documents.take_in(Principal.of_tenant(TENANT), manifest)

    assert (first.politeness.documents, again.politeness) == (1, None)
