"""Cross-validation: the tuning is chosen on some folds of all streams, and scored on the fold that it never saw.

A stream is always placed whole, as it comes. What is hidden from the choice are the labels of a fold: the share of a
cluster is then counted among the articles of the other folds alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from haulwright.apps.brief.clustering import Clustering
from haulwright.apps.brief.clustering.tuning import Tuning
from proof.clustering.bcubed import Score, bcubed, mean, shares
from proof.clustering.labelled import Labelled, parted

FOLDS = 3
ROUNDS = 2
GRID: dict[str, tuple[float, ...]] = {
    "join_short": (0.12, 0.15, 0.18, 0.21),
    "join_long": (0.17, 0.2, 0.23, 0.26),
    "prior_articles": (50, 100, 200, 400),
    "name_percent": (100, 150, 200),
    "number_percent": (100, 130, 200),
    "chance": (0, 1, 2),
    "distance": (0, 0.15, 0.25, 0.35),
}
START = Tuning(
    prior_articles=100, name_percent=100, number_percent=100, join_short=0.21, join_long=0.26, chance=0, distance=0
)
"""Where each search begins, whatever the product's own setting is."""


@dataclass(frozen=True, slots=True)
class Stream:
    """A labelled stream, with the fold of each article."""

    labelled: list[Labelled]
    fold: list[int]

    @property
    def events(self) -> list[str]:
        """The label of each article."""
        return [one.event for one in self.labelled]


class Selection:
    """Streams, and what each tuning that was tried made of them."""

    def __init__(self, streams: Mapping[str, list[Labelled]], seed: int, grid: Mapping[str, Sequence[float]]) -> None:
        self.streams = {name: Stream(given, parted(given, FOLDS, seed)) for name, given in streams.items()}
        self._grid = grid
        self._placed: dict[Tuning, dict[str, list[str]]] = {}

    def clusters(self, tuning: Tuning) -> dict[str, list[str]]:
        """The cluster of each article of each stream."""
        if tuning not in self._placed:
            self._placed[tuning] = {name: _place(stream, tuning) for name, stream in self.streams.items()}
        return self._placed[tuning]

    def chosen_without(self, hidden: int) -> Tuning:
        """The tuning that suits the other folds best: one figure is changed at a time, as long as that helps."""
        best = START
        for _ in range(ROUNDS):
            before = best
            for name, values in self._grid.items():
                candidates = [best, *(_changed(best, name, value) for value in values)]
                best = max(candidates, key=lambda tuning: self._worth(tuning, hidden))
            if best == before:
                break
        return best

    def _worth(self, tuning: Tuning, hidden: int) -> float:
        """The mean over the streams, of what may be seen."""
        placed = self.clusters(tuning)
        return sum(_visible(stream, placed[name], hidden).f1 for name, stream in self.streams.items())

    def scored(self, chosen: Sequence[Tuning]) -> dict[str, Score]:
        """Each article by the tuning that was chosen without its fold, among all that are in its cluster."""
        scores = {}
        for name, stream in self.streams.items():
            by_fold = [shares(stream.events, self.clusters(tuning)[name]) for tuning in chosen]
            scores[name] = mean([by_fold[fold][place] for place, fold in enumerate(stream.fold)])
        return scores


def cross_validate(
    streams: Mapping[str, list[Labelled]],
    seed: int,
    say: Callable[[str], None],
    grid: Mapping[str, Sequence[float]] | None = None,
) -> dict[str, Score]:
    """The scores of all streams, with one tuning for all in each fold."""
    selection = Selection(streams, seed, GRID if grid is None else grid)
    chosen = []
    for hidden in range(FOLDS):
        tuning = selection.chosen_without(hidden)
        say(f"seed {seed}, without fold {hidden + 1}: {_shown(tuning)}")
        chosen.append(tuning)
    scores = selection.scored(chosen)
    for line in score_lines(scores):
        say(f"seed {seed}, {line}")
    return scores


def score_lines(scores: Mapping[str, Score]) -> Iterator[str]:
    """What is shown of scores."""
    for name, one in scores.items():
        yield f"{name}: precision {one.precision:.3f}, recall {one.recall:.3f}, F1 {one.f1:.3f}"


def _place(stream: Stream, tuning: Tuning) -> list[str]:
    clustering = Clustering(tuning=tuning)
    return [clustering.place(one.article).cluster for one in stream.labelled]


def _visible(stream: Stream, clusters: Sequence[str], hidden: int) -> Score:
    seen = [place for place, fold in enumerate(stream.fold) if fold != hidden]
    events = stream.events
    return bcubed([events[place] for place in seen], [clusters[place] for place in seen])


def _changed(tuning: Tuning, name: str, value: float) -> Tuning:
    changes: dict[str, Any] = {name: value}
    return replace(tuning, **changes)


def _shown(tuning: Tuning) -> str:
    return ", ".join(f"{name} {value}" for name, value in asdict(tuning).items())
