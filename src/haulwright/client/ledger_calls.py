"""What a run asks the ledger to do once: an effect outside, or a commit in our database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class EffectCall:
    """What an effect consists of."""

    name: str
    act: Callable[[], Any]
    function: Callable[..., Any]
    recover: Callable[[str], Any] | None
    verify: Callable[[Any], Any] | None
    at_most_once: bool


@dataclass(frozen=True, slots=True)
class CommitCall:
    """What a commit consists of."""

    name: str
    function: Callable[..., Any]
    key: str | None
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    settle: bool

    @property
    def is_bare(self) -> bool:
        """Whether nothing but its function tells it from others of its name."""
        return self.key is None and not self.args and not self.kwargs
