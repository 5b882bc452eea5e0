"""What the steps of a document come to, as the ledger and the views have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from haulwright.sources.download import Hint


@dataclass(frozen=True, slots=True)
class Head:
    """What the server says of the file. It is a hint; only what arrives is believed."""

    code: str
    bytes: int | None
    content_type: str
    resumable: bool

    @classmethod
    def of(cls, hint: Hint) -> Self:
        """What a look found, or the answer to a request for the file itself."""
        return cls("OK", hint.bytes, hint.content_type, hint.resumable)


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A file that arrived whole."""

    code: str
    sha256: str
    bytes: int
    resumed_from: int


@dataclass(frozen=True, slots=True)
class FiledContent:
    """A file that is in its place, and whose it is."""

    sha256: str
    kind: str
    first: str
    """The key of the artefact that brought this content first."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """The result of a job: a document that can be found."""

    sha256: str
    bytes: int
    kind: str
    title: str
    outcome: str
    same_as: str | None = None
    """The hash of an earlier file with the same text."""
