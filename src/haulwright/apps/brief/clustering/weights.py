"""How much a word says before the first article of a stream: levels from how common words are in their languages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

TABLE: Final = "weights-2.txt"
SHORT_WORD: Final = 3
"""Unknown words up to this length are articles and particles of languages that the table does not speak."""


@dataclass(frozen=True, slots=True)
class Weights:
    """The levels of known words, and that of all others."""

    levels: Mapping[str, int]
    unknown: int

    def level(self, word: str) -> int:
        """What a word weighs: 0 says nothing at all."""
        level = self.levels.get(word)
        if level is not None:
            return level
        return self.unknown // 2 if len(word) <= SHORT_WORD and word.isalpha() and word.isascii() else self.unknown


def write_table(weights: Weights) -> str:
    """A table as text: the level of unknown words, then a line for each level with its words in order."""
    by_level: defaultdict[int, list[str]] = defaultdict(list)
    for word in sorted(weights.levels):
        by_level[weights.levels[word]].append(word)
    lines = [f"{level} {' '.join(by_level[level])}\n" for level in sorted(by_level)]
    return f"unknown {weights.unknown}\n{''.join(lines)}"


def read_table(text: str) -> Weights:
    """The weights that a text in that form holds."""
    first, *lines = text.splitlines()
    levels = {}
    for line in lines:
        level, *words = line.split(" ")
        levels.update(dict.fromkeys(words, int(level)))
    return Weights(levels, int(first.removeprefix("unknown ")))


@cache
def prior() -> Weights:
    """The levels of this version, read once."""
    return read_table(files(__package__).joinpath(TABLE).read_text("utf-8"))
