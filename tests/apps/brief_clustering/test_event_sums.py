"""What is kept of an event between two comparisons only saves time: the figures are those of its articles."""

from __future__ import annotations

from itertools import islice
from math import isqrt
from random import Random

import pytest

from bench.news import news
from haulwright.apps.brief.clustering import event_sums
from haulwright.apps.brief.clustering.event_sums import MOST_COMPARED, EventSums
from haulwright.apps.brief.clustering.frequencies import Frequencies
from haulwright.apps.brief.clustering.profile import Words, profile_of
from haulwright.apps.brief.clustering.similarity import nearness


@pytest.fixture(scope="module")
def profiles():
    """Articles by what is kept of them, each fifth one a copy of an earlier one."""
    texts = [article.text for article in islice(news(seed=3), 240)]
    texts[5::5] = texts[:-5:5]
    return [profile_of(Words.of("", text), Frequencies()) for text in texts]


def nearness_to(mine):
    return lambda _event, product, square: nearness(mine, product, square, 0.0)


def all_compared(mine, events):
    """How near each event is, as that is defined: from its newest texts, each once and of one length, term by term."""
    scores = {}
    for event, profiles in events.items():
        terms: dict[int, int] = {}
        for profile in {bytes(profile.sketch): profile for profile in profiles[-MOST_COMPARED:]}.values():
            for term, weight in zip(profile.terms, profile.weights, strict=True):
                terms[term] = terms.get(term, 0) + weight * 65_536 // isqrt(profile.square)
        product = sum(terms.get(term, 0) * weight for term, weight in zip(mine.terms, mine.weights, strict=True))
        scores[event] = nearness(mine, product, sum(weight * weight for weight in terms.values()), 0.0)
    nearest = max(scores, key=lambda event: scores[event])
    return nearest, scores[nearest]


@pytest.mark.parametrize("kept", [1, 3, 1_000])
@pytest.mark.parametrize("seed", [4, 5])
def test_the_nearest_event_is_that_which_all_articles_say_whatever_is_kept_of_them(profiles, kept, seed, monkeypatch):
    monkeypatch.setattr(event_sums, "MOST_SUMS", kept)
    events: dict[str, list] = {f"event {number}": [] for number in range(12)}
    luck, sums = Random(seed), EventSums(lambda event: events[event][-MOST_COMPARED:])  # noqa: S311 - a seed, not a secret

    for profile in profiles:
        event = luck.choice([*["event 0"] * 6, *events])  # one is large, so that articles leave its newest
        events[event].append(profile)
        sums.add(event, profile, len(events[event]))
        if luck.random() < 0.05:
            del events[event][0]
            sums.forget(event)
        some = {name: events[name] for name in luck.sample(sorted(events), 6) if events[name]}
        if some:
            found = sums.nearest(list(some), profile, nearness_to(profile))
            assert found == all_compared(profile, some)

    assert len(events["event 0"]) > MOST_COMPARED


def test_sums_of_events_that_nobody_asks_for_are_given_up(profiles, monkeypatch):
    monkeypatch.setattr(event_sums, "MOST_SUMS", 2)
    sums = EventSums(lambda event: [profiles[int(event)]])

    for event in ("1", "2", "1", "3", "1", "4"):
        sums.nearest([event], profiles[0], nearness_to(profiles[0]))

    assert list(sums._sums) == ["1", "4"]


def test_a_text_that_is_printed_again_counts_once_in_its_event(profiles):
    events = {"event": profiles[:2]}
    sums = EventSums(lambda event: events[event])
    sums.nearest(["event"], profiles[2], nearness_to(profiles[2]))

    events["event"] = [*profiles[:2], profiles[0]]
    sums.add("event", profiles[0], 3)

    assert sums.nearest(["event"], profiles[0], nearness_to(profiles[0])) == all_compared(profiles[0], events)
