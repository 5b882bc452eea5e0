"""Which commits of a worker shared a transaction: each group that its writer tried, written down when it is over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from haulwright.errors import DatabaseUnavailable
from haulwright.stores.commit_groups import CommitGroups
from proof.support.diary import Diary, Entry

GROUP = "commit.group"


def note_groups(diary: Diary) -> None:
    """Write down every group of more than one in this process, from now on and for good."""
    commit_together = CommitGroups.commit_together

    def noted(self: CommitGroups, requests: Sequence[Any]) -> Any:
        end, committed = "taken back", 0
        try:
            texts = commit_together(self, requests)
        except DatabaseUnavailable as problem:
            end = "unknown" if problem.outcome_unknown else "refused"
            raise
        else:
            end, committed = "committed", len(texts)
            return texts
        finally:
            if len(requests) > 1:
                diary.write(GROUP, size=len(requests), committed=committed, end=end)

    CommitGroups.commit_together = noted  # type: ignore[method-assign]


@dataclass(frozen=True)
class Company:
    """What became of the groups of a proof."""

    ends: Counter[str]
    """Groups by their end: `committed`, `taken back`, `refused`, or `unknown` where no reply came."""
    together: int
    """Commits that shared a transaction with another one."""
    left_out: int
    """Commits that were not held, or done before, in groups that were committed."""
    largest: int

    @classmethod
    def read(cls, diary: list[Entry]) -> Company:
        """From what the workers wrote down."""
        groups = [entry.more for entry in diary if entry.event == GROUP]
        committed = [group for group in groups if group["end"] == "committed"]
        return cls(
            ends=Counter(group["end"] for group in groups),
            together=sum(group["committed"] for group in committed if group["committed"] > 1),
            left_out=sum(group["size"] - group["committed"] for group in committed),
            largest=max((group["committed"] for group in committed), default=0),
        )

    def __str__(self) -> str:
        ends = ", ".join(f"{count} {end}" for end, count in self.ends.most_common()) or "none"
        return f"groups of commits: {ends}; {self.together} commits together, at most {self.largest}"
