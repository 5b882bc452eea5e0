"""Placing: each article joins the event that it tells of, or begins one."""

from __future__ import annotations

import pytest

from haulwright.apps.brief.clustering import VERSION, WINDOW, Article, Clustering
from haulwright.errors import InvalidValue
from proof.clustering.bcubed import bcubed
from tests.apps.brief_clustering.sample import QUAKE_OF_LISBON, QUAKE_OF_MANTA

FIRST, SECOND, THIRD, _ = QUAKE_OF_LISBON


@pytest.fixture
def clustering():
    return Clustering()


def test_reports_of_one_event_come_together_and_those_of_its_like_stay_apart(clustering, labelled):
    placed = [clustering.place(article).cluster for _, article in labelled]

    score = bcubed([event for event, _ in labelled], placed)
    assert score.precision >= 0.95
    assert score.recall >= 0.8


def test_every_article_is_in_one_cluster(clustering, articles):
    placed = [clustering.place(article).cluster for article in articles]

    assert len(placed) == len(articles) == len(clustering)
    assert all(placed)


def test_an_event_is_named_after_its_first_article(clustering):
    alone = Clustering().place(Article("one", FIRST))

    first, second = clustering.place(Article("one", FIRST)), clustering.place(Article("two", SECOND))

    assert first == alone
    assert second.cluster == first.cluster
    assert second.nearest == "one"
    assert second.duplicate_of is None
    assert 0 < second.similarity < 1


def test_an_article_like_no_other_begins_an_event_and_says_what_was_nearest(clustering):
    clustering.place(Article("one", FIRST))

    other = clustering.place(Article("two", QUAKE_OF_MANTA[0]))

    assert other.cluster != clustering.place(Article("three", SECOND)).cluster
    assert other.nearest in {"one", None}


@pytest.mark.parametrize("copy", [FIRST, FIRST + " More to follow.", f"(Reuters) {FIRST}"])
def test_a_copy_joins_its_original_at_once(clustering, copy):
    original = clustering.place(Article("one", FIRST))

    placed = clustering.place(Article("two", copy, title="From the wire"))

    assert placed.cluster == original.cluster
    assert placed.duplicate_of == "one"


def test_short_texts_are_copies_only_where_they_are_the_same(clustering):
    clustering.place(Article("one", "Quake hits Lisbon"))

    assert clustering.place(Article("two", "Quake hits Lisbon")).duplicate_of == "one"
    assert clustering.place(Article("three", "Quake hits Manta")).duplicate_of is None


def test_texts_without_words_have_nothing_in_common(clustering):
    empty, also_empty = clustering.place(Article("one", "")), clustering.place(Article("two", " — "))

    assert empty.cluster != also_empty.cluster
    assert (also_empty.similarity, also_empty.nearest, also_empty.duplicate_of) == (0.0, None, None)


def test_a_title_alone_is_enough(clustering):
    first = clustering.place(Article("one", "", title="Tuppen cotton mill of Norrköping burns"))

    second = clustering.place(Article("two", "", title="Norrköping: Tuppen mill destroyed by fire"))

    assert second.cluster == first.cluster


@pytest.mark.parametrize(
    ("one", "again", "other"),
    [
        (
            "Ein schweres Erdbeben hat Lissabon erschüttert, elf Menschen wurden in der Alfama verletzt.",
            "Nach dem Erdbeben in Lissabon bleiben die Schulen geschlossen; in der Alfama gab es elf Verletzte.",
            "Die Bundesbank hat die Zinsen erhöht, und die Börse in Frankfurt reagierte mit Verlusten.",
        ),
        (
            "東京で地震が発生し、新幹線が止まった。",
            "東京の地震で新幹線が止まり、乗客が待った。",
            "大阪の美術館で新しい展覧会が始まった。",
        ),
        (
            "Сильное землетрясение произошло в Лиссабоне, пострадали одиннадцать человек.",
            "Землетрясение в Лиссабоне: пострадали одиннадцать человек, школы закрыты.",
            "Центральный банк повысил ключевую ставку до девяти процентов.",
        ),
    ],
)
def test_other_languages_cluster_too(clustering, one, again, other):
    first = clustering.place(Article("one", one))

    assert clustering.place(Article("two", again)).cluster == first.cluster
    assert clustering.place(Article("three", other)).cluster != first.cluster


def test_what_is_a_window_apart_is_another_event(clustering):
    first = clustering.place(Article("one", FIRST, published_at=0))

    assert clustering.place(Article("two", SECOND, published_at=WINDOW - 1)).cluster == first.cluster
    assert clustering.place(Article("three", THIRD, published_at=2 * WINDOW)).cluster != first.cluster


def test_an_article_without_a_date_may_join_any_event(clustering):
    first = clustering.place(Article("one", FIRST, published_at=0))
    clustering.place(Article("two", SECOND))

    assert clustering.place(Article("three", THIRD, published_at=2 * WINDOW)).cluster == first.cluster


def test_an_article_is_placed_once(clustering):
    signature = clustering.place(Article("one", FIRST)).signature

    with pytest.raises(InvalidValue, match="was placed already"):
        clustering.place(Article("one", SECOND))
    with pytest.raises(InvalidValue, match="was placed already"):
        clustering.remember("one", signature, "c", None)


def test_a_version_that_this_code_does_not_have_is_refused():
    with pytest.raises(InvalidValue, match="is no version of clustering"):
        Clustering("0")

    assert Clustering().version == VERSION
