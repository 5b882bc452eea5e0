"""Labelled news: articles of which a person said what event they tell of."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random

from haulwright.apps.brief.clustering import Article

VARIABLE = "HAULWRIGHT_NEWS_EVENTS"
"""Names a file with an `id`, an `event` and a `text` in each line of JSON."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """An article and its event."""

    article: Article
    event: str

    @property
    def subject(self) -> str:
        """Two events of the same kind, such as 7a and 7b, share it: they are never parted into different folds."""
        return re.sub(r"\D+$", "", self.event)


def read_labelled(path: Path) -> list[Labelled]:
    """The articles of a file, in its order."""
    rows = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return [Labelled(Article(row["id"], row["text"]), row["event"]) for row in rows]


def folds(labelled: list[Labelled], count: int, seed: int) -> list[tuple[list[Labelled], list[Labelled]]]:
    """For each fold what may be learned from, and what is scored: no subject is in both."""
    subjects = sorted({one.subject for one in labelled})
    Random(seed).shuffle(subjects)
    parted = [set(subjects[start::count]) for start in range(count)]
    return [
        ([one for one in labelled if one.subject not in scored], [one for one in labelled if one.subject in scored])
        for scored in parted
    ]
