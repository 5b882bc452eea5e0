"""Labelled streams: articles of which a person said what event they tell of, in the order in which they came."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from random import Random

from haulwright.apps.brief.clustering import Article
from haulwright.apps.brief.clustering.json_lines import read_articles

VARIABLE = "HAULWRIGHT_CLUSTERING_DATA"
"""Names a folder of `*.jsonl`; each line has an `id`, an `event`, a `text`, and it may have a `published_at`."""

_ONE_OF_A_KIND = re.compile(r"^(\d+)[a-z]+$")


@dataclass(frozen=True, slots=True)
class Labelled:
    """An article and its event."""

    article: Article
    event: str

    @property
    def subject(self) -> str:
        """Two events of the same kind, such as 7a and 7b, share it: they are never parted into different folds."""
        kind = _ONE_OF_A_KIND.match(self.event)
        return kind[1] if kind else self.event


def read_labelled(path: Path) -> list[Labelled]:
    """The articles of a file, in its order."""
    with path.open("rb") as stream:
        articles = list(read_articles(stream))
    events = [json.loads(line)["event"] for line in path.read_text("utf-8").splitlines() if line.strip()]
    return [Labelled(article, event) for article, event in zip(articles, events, strict=True)]


def read_streams(folder: Path) -> dict[str, list[Labelled]]:
    """All files of a folder by their names."""
    return {path.stem: read_labelled(path) for path in sorted(folder.glob("*.jsonl"))}


def parted(labelled: list[Labelled], count: int, seed: int) -> list[int]:
    """The fold of each article: a subject is in one of them."""
    subjects = sorted({one.subject for one in labelled})
    Random(seed).shuffle(subjects)
    fold = {subject: number % count for number, subject in enumerate(subjects)}
    return [fold[one.subject] for one in labelled]
