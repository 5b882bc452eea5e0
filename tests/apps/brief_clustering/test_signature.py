"""Signatures: what is stored of an article, so that a window can be restored without the texts."""

from __future__ import annotations

import pytest

from haulwright.apps.brief.clustering import Article, Clustering
from haulwright.apps.brief.clustering.frequencies import Frequencies
from haulwright.apps.brief.clustering.profile import MOST_TERMS, Words, profile_of, read_profile
from haulwright.apps.brief.clustering.weights import TABLE, Weights, prior, read_table, write_table
from haulwright.errors import InvalidValue
from proof.clustering.freeze import prior_table


def signature(article):
    return Clustering().place(article).signature


def test_a_signature_gives_back_all_that_clustering_knows(articles):
    for article in articles:
        profile = profile_of(Words.of(article.title, article.text), Frequencies())

        assert read_profile(signature(article)) == profile


def test_a_signature_is_short_plain_text_however_long_the_article_is():
    long = Article("a", " ".join(f"word{number}" for number in range(50_000)))

    text = signature(long)

    assert text.isascii()
    assert len(text) < 1_900
    assert len(read_profile(text).terms) == MOST_TERMS


def test_every_word_that_counts_is_counted_also_where_it_is_not_compared():
    profile = read_profile(signature(Article("a", " ".join(f"word{number}" for number in range(50_000)))))

    assert len(set(profile.all_terms)) == 300


def test_an_article_without_words_has_a_signature_too():
    assert len(read_profile(signature(Article("a", " ... "))).terms) == 0


@pytest.mark.parametrize(
    "text", ["", "2.", "1.AAAA", "2.A", "2." + "A" * 3_000, "2.AQ" + "A" * 86, "2._" + "A" * 2_000, "2.\ud800", "none"]
)
def test_what_is_no_signature_of_this_version_is_refused(text):
    with pytest.raises(InvalidValue, match="was not made by this version"):
        read_profile(text)


def test_what_is_known_before_the_first_article_is_small_and_knows_what_says_nothing():
    weights = prior()

    assert weights.level("the") < weights.level("police") < weights.level("wasilla")
    assert weights.level("und") < weights.unknown // 2
    assert len(write_table(weights)) < 300_000


def test_the_table_is_made_without_labelled_news():
    assert read_table(prior_table()) == prior()


def test_a_table_of_weights_is_read_as_it_was_written():
    weights = Weights({"the": 0, "of": 0, "fire": 12}, unknown=30)

    assert read_table(write_table(weights)) == weights
    assert TABLE.endswith("-2.txt")


def test_a_word_that_nobody_knows_weighs_most_unless_it_is_very_short():
    weights = Weights({"the": 0}, unknown=30)

    assert [weights.level(word) for word in ("the", "abc", "wasilla", "地震", "6.1")] == [0, 15, 30, 30, 30]
