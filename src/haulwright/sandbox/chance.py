"""Chance that repeats: the same seed and the same words give the same luck, in every process and on every machine."""

from __future__ import annotations

import hashlib
import string
import uuid
from random import Random

ALPHABET = string.ascii_letters + string.digits


def chance(seed: int, *words: object) -> Random:
    """A source of luck for one thing alone, so that no other draw can change it."""
    return Random(int.from_bytes(_digest(seed, words), "big"))  # noqa: S311 - to be foreseen is its purpose


def identifier(seed: int, *words: object, length: int = 17) -> str:
    """An id in letters and digits, of the kind that Apify gives."""
    return "".join(chance(seed, "id", *words).choices(ALPHABET, k=length))


def unique(seed: int, *words: object) -> str:
    """An id in the form of a UUID."""
    return str(uuid.UUID(bytes=_digest(seed, words)[:16], version=4))


def _digest(seed: int, words: tuple[object, ...]) -> bytes:
    return hashlib.sha256("\x1f".join(map(str, (seed, *words))).encode()).digest()
