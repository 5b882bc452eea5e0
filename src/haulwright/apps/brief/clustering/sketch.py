"""Near-copies: a sketch of the runs of words in a text, so small that two can be compared without the texts."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Final
from zlib import crc32

BUCKETS: Final = 32
SHINGLE_WORDS: Final = 3
EMPTY: Final = 0xFFFF
"""A bucket into which no run of words fell."""
COPY_AT: Final = 0.7
"""From this share of equal buckets on, one text is a copy of the other: cut, corrected or with another headline."""
FEWEST_SHARED: Final = 6
"""Fewer equal buckets prove nothing: short texts are copies only where they are the same."""

_SPREAD: Final = 0x9E3779B1
_BITS: Final = 0xFFFFFFFF


def sketch(words: Sequence[str]) -> array[int]:
    """The least hash of the runs of three words in each of 32 buckets (one-permutation MinHash)."""
    least = [EMPTY] * BUCKETS
    for start in range(max(1, len(words) - SHINGLE_WORDS + 1) if words else 0):
        run = " ".join(words[start : start + SHINGLE_WORDS])
        # A CRC is no hash of quality in its low bits; the multiplication spreads it over the high ones.
        mixed = crc32(run.encode("utf-8", "surrogatepass")) * _SPREAD & _BITS
        bucket, value = mixed >> 27, mixed >> 11 & EMPTY
        least[bucket] = min(least[bucket], value)
    return array("H", least)


def resemble(first: array[int], second: array[int]) -> bool:
    """Whether two texts share most of their runs of words."""
    filled = sum(1 for mine, its in zip(first, second, strict=True) if mine != EMPTY or its != EMPTY)
    shared = sum(1 for mine, its in zip(first, second, strict=True) if mine == its != EMPTY)
    return shared >= FEWEST_SHARED and shared >= COPY_AT * filled
