"""Words weigh what they say in this stream: counted from the articles that are remembered, and from nothing else."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from haulwright.apps.brief.clustering import Article, Clustering
from haulwright.apps.brief.clustering.frequencies import FOUNDER, JOINER, Frequencies
from haulwright.apps.brief.clustering.profile import Words, profile_of, read_profile
from haulwright.apps.brief.clustering.tuning import DEFAULT, Tuning
from proof.clustering.bcubed import bcubed

DAY = 86_400_000_000
THEME = (
    "juegos", "tokio", "medalla", "atletas", "final", "equipo", "oro", "villa", "olimpiada", "record", "prueba",
)  # fmt: skip
UNDER_WAY = 20


def one_theme(events=100, reports=5):
    """Headlines about the same thing: four words of seven are the theme's, three are those of their event."""
    luck, waiting = Random(3), [[event, reports] for event in range(events)]  # noqa: S311 - a seed, not a secret
    for number in range(events * reports):
        chosen = luck.choice(waiting[:UNDER_WAY])
        chosen[1] -= 1
        waiting = [event for event in waiting if event[1]]
        own = [f"nombre{chosen[0]}x{word}" for word in range(5)]
        words = luck.sample(THEME, 4) + luck.sample(own, 3)
        luck.shuffle(words)
        yield chosen[0], Article(f"a{number}", " ".join(words), published_at=number * DAY // 100)


@pytest.fixture
def clustering():
    return Clustering()


def test_a_stream_about_one_theme_is_parted_into_its_events(clustering):
    given = list(one_theme())

    placed = [clustering.place(article).cluster for _, article in given]

    assert bcubed([event for event, _ in given], placed).f1 > 0.75


def test_a_word_that_every_article_has_weighs_less_and_less(clustering):
    def weight_of_theme(article):
        profile = read_profile(clustering.place(article).signature)
        return min(profile.weights)

    weights = [weight_of_theme(Article(f"a{n}", f"olimpiada suceso{n} persona{n} lugar{n}")) for n in range(300)]

    assert weights[0] == 255
    assert weights[0] > weights[20] > weights[100] > weights[299]


def test_a_weight_is_what_it_was_when_the_article_was_placed(clustering):
    first = clustering.place(Article("first", "olimpiada suceso persona"))
    for number in range(100):
        clustering.place(Article(f"a{number}", f"olimpiada algo{number} alguien{number}"))

    restored = Clustering()
    restored.remember("first", first.signature, first.cluster, None)

    assert first.signature == Clustering().place(Article("first", "olimpiada suceso persona")).signature
    assert clustering.place(Article("last", "olimpiada suceso persona")).signature != first.signature
    assert clustering.place(Article("copy", "olimpiada suceso persona")).duplicate_of is not None


def test_what_is_counted_follows_from_what_is_remembered(clustering):
    given = [article for _, article in one_theme()]
    placed = [clustering.place(article) for article in given]
    later = [replace(article, id=f"later {article.id}", published_at=2 * DAY + 1) for article in given[:20]]

    clustering.forget_before(DAY)
    restored = Clustering()
    for article, placement in zip(given, placed, strict=True):
        if article.published_at >= DAY:
            restored.remember(article.id, placement.signature, placement.cluster, article.published_at)

    assert [clustering.place(article) for article in later] == [restored.place(article) for article in later]


def test_what_is_forgotten_takes_no_room():
    frequencies = Frequencies()
    frequencies.add([1, 2], FOUNDER)
    frequencies.add([2, 3], JOINER)

    frequencies.remove([1, 2], FOUNDER)
    assert len(frequencies) == 2
    frequencies.remove([2, 3], JOINER)

    assert len(frequencies) == 0
    assert frequencies.rarity(2, 40, 100) == Frequencies().rarity(2, 40, 100)


def test_what_many_papers_report_counts_less_than_as_many_events():
    events, reports = Frequencies(), Frequencies()
    for number in range(50):
        events.add([1, 100 + number], FOUNDER)
        reports.add([1, 100 + number], JOINER)
        reports.add([200 + number], JOINER)

    assert reports.rarity(1, 61, 10) > events.rarity(1, 61, 10)


def test_the_prior_is_outweighed_by_the_stream():
    frequencies = Frequencies()
    before = frequencies.rarity(1, 61, 100)
    for number in range(1_000):
        frequencies.add([1, 2 + number], FOUNDER)

    assert frequencies.rarity(1, 61, 100) < before / 5
    assert frequencies.rarity(99_999, 61, 100) > before


def test_a_name_weighs_more_than_another_word_that_is_as_rare():
    text = (
        "yesterday quellwood flooded while the mayor of Quillmore slept and quellwood flooded again in Quillmore today"
    )
    words = Words.of("", text)

    def weight(tuning):
        return sorted(set(profile_of(words, Frequencies(), tuning).weights), reverse=True)

    assert weight(DEFAULT) != weight(replace(DEFAULT, name_percent=100))


def test_a_headline_needs_less_likeness_than_a_long_text():
    tuning = Tuning()

    assert tuning.join_at(8) == tuning.join_at(16) == pytest.approx(tuning.join_short)
    assert tuning.join_short < tuning.join_at(50) < tuning.join_at(300) < tuning.join_long


def test_reports_that_are_days_apart_must_be_more_alike_than_those_of_a_day():
    first = Article("one", "Tormenta en Ashford deja a miles sin luz", published_at=0)
    again = Article("two", "Ashford espera ayuda para miles de casas", published_at=DAY // 24)

    def likeness(article):
        clustering = Clustering()
        clustering.place(first)
        return clustering.place(article).similarity

    assert likeness(again) > likeness(replace(again, published_at=6 * DAY)) + 0.15
