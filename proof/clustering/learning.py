"""What is learned from labelled news: how much each word says, and from which nearness on an article joins an event."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from math import log
from random import Random

from haulwright.apps.brief.clustering import Clustering
from haulwright.apps.brief.clustering.profile import MOST_WORDS
from haulwright.apps.brief.clustering.tokenizer import tokenize
from haulwright.apps.brief.clustering.weights import Weights, read_table
from proof.clustering.bcubed import Score, bcubed
from proof.clustering.function_words import FUNCTION_WORDS
from proof.clustering.function_words import LEVEL as OF_FUNCTION_WORDS
from proof.clustering.labelled import Labelled, folds

FINENESS = 10
"""Levels to a factor of e."""
COMMON_WORDS = "common_words.txt"
FROM, STEP, STEPS = 0.18, 0.02, 8
ORDERS = 1
"""In the order of the file and in another: what suits one order only is not learned."""


def learn_weights(labelled: Sequence[Labelled]) -> Weights:
    """Levels from how many subjects speak of a word, however often: a name fills one of them and stays rare."""
    subjects: defaultdict[str, set[str]] = defaultdict(set)
    for one in labelled:
        for word in map(str.casefold, tokenize(one.article.text, MOST_WORDS)):
            subjects[word].add(one.subject)
    count = len({one.subject for one in labelled})
    levels = {word: _level(count, len(where)) for word, where in subjects.items() if len(where) > 1}
    mixed = _mixed(Weights(levels, unknown=_level(count, 1)), common_words())
    quiet = {word: min(OF_FUNCTION_WORDS, mixed.levels.get(word, OF_FUNCTION_WORDS)) for word in FUNCTION_WORDS}
    return Weights({**mixed.levels, **quiet}, mixed.unknown)


@cache
def common_words() -> Weights:
    """How much a word says by how common it is in English on the web; see docs/explanation/clustering.md."""
    return read_table(files(__package__).joinpath(COMMON_WORDS).read_text("utf-8"))


def learn_join_at(labelled: Sequence[Labelled], seed: int) -> float:
    """The nearness that suits each half best, with the weights of the other; its neighbours must suit as well."""
    found = [0.0] * STEPS
    for learned_from, scored in folds(list(labelled), 2, seed):
        weights = learn_weights(learned_from)
        for order in range(ORDERS):
            told = Random(order).sample(scored, len(scored)) if order else scored
            for step in range(STEPS):
                found[step] += score(told, weights, FROM + step * STEP).f1
    best = max(range(1, STEPS - 1), key=lambda step: found[step - 1] + found[step] + found[step + 1])
    return round(FROM + best * STEP, 2)


def score(labelled: Sequence[Labelled], weights: Weights, join_at: float) -> Score:
    """How well these articles are placed, in their order."""
    clustering = Clustering(weights=weights, join_at=join_at)
    placed = [clustering.place(one.article).cluster for one in labelled]
    return bcubed([one.event for one in labelled], placed)


def _mixed(news: Weights, web: Weights) -> Weights:
    """The mean of both: few subjects of news cannot tell a rare word from a name, and the web is no news."""
    levels = {
        word: (news.levels.get(word, news.unknown) + web.levels.get(word, web.unknown) * news.unknown // web.unknown)
        // 2
        for word in news.levels.keys() | web.levels.keys()
    }
    return Weights({word: level for word, level in levels.items() if level < news.unknown}, news.unknown)


def _level(count: int, where: int) -> int:
    return max(0, round(FINENESS * log((count + 1) / (where + 0.5))))
