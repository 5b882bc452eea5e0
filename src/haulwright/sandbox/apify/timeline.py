"""What brands publish: a steady stream without beginning, the same for everybody who looks at the same moment."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from random import Random

from haulwright.sandbox.chance import chance

WORLD_BEGINS = 1_577_836_800.0
"""1 January 2020."""
DAY = 86_400.0
RIPENING_SECONDS = 2 * DAY
"""Most of the likes that a post will ever have come within this."""

TOPICS = (
    ("our new oat flat white", "coffee"),
    ("how we source single-origin beans", "sourcing"),
    ("behind the counter with Maya", "people"),
    ("the workshop where each frame is welded by hand", "craft"),
    ("five ways to mend instead of buying new", "repair"),
    ("what we learned from 1,000 customer letters", "customers"),
    ("a first look at the autumn collection", "launch"),
    ("why our packaging has no plastic any more", "sustainability"),
    ("the team that answered every ticket in December", "service"),
    ("a map of where your order travels", "logistics"),
)
OPENINGS = (
    "Meet",
    "Today we share",
    "You asked for it:",
    "Finally:",
    "Take a minute for",
    "A long read:",
    "Quick look at",
)
CLOSINGS = ("What do you think?", "Link in bio.", "Tell us below.", "Save this for later.", "More on our site.")


@dataclass(frozen=True, slots=True)
class Post:
    """One thing that a brand published, as it stands at the moment of looking."""

    seed: int
    subject: str
    number: int
    """Counts up with each post of the subject."""
    published: float
    seen: float
    """When it is looked at: figures grow with age."""

    def luck(self, *words: object) -> Random:
        """Chance that belongs to this post alone."""
        return chance(self.seed, self.subject, self.number, *words)

    @property
    def at(self) -> datetime:
        """When it was published."""
        return datetime.fromtimestamp(int(self.published), UTC)

    @property
    def topic(self) -> tuple[str, str]:
        """What it is about, and the hashtag for it."""
        return self.luck("topic").choice(TOPICS)

    @property
    def caption(self) -> str:
        """Its text."""
        luck = self.luck("caption")
        about, tag = self.topic
        return f"{luck.choice(OPENINGS)} {about}. {luck.choice(CLOSINGS)} #{tag} #{_tag(self.subject)}"

    @property
    def hashtags(self) -> list[str]:
        """The tags in its text."""
        return [self.topic[1], _tag(self.subject)]

    def figure(self, name: str, typical: int) -> int:
        """How many likes, views or shares it has by now."""
        final = typical * self.luck(name).lognormvariate(0, 0.6)
        return int(final * (1 - math.exp(-max(0.0, self.seen - self.published) / RIPENING_SECONDS)))

    def digits(self, name: str, length: int) -> str:
        """An id in digits that never changes."""
        luck = self.luck(name)
        return str(luck.randrange(1, 10)) + "".join(luck.choices("0123456789", k=length - 1))


def newest(seed: int, subject: str, now: float, count: int) -> list[Post]:
    """The newest posts of a subject, newest first."""
    every = chance(seed, subject, "pace").uniform(0.4, 1.6) * DAY
    last = int((now - WORLD_BEGINS) // every)
    posts = (_post(seed, subject, number, every, now) for number in range(last, -1, -1))
    newest_posts: list[Post] = []
    for post in posts:
        if len(newest_posts) >= count:
            break
        if post.published <= now:
            newest_posts.append(post)
    return newest_posts


def _post(seed: int, subject: str, number: int, every: float, now: float) -> Post:
    drift = chance(seed, subject, number, "drift").uniform(0, 0.9) * every
    return Post(seed, subject, number, WORLD_BEGINS + number * every + drift, now)


def _tag(subject: str) -> str:
    return "".join(letter for letter in subject.lower() if letter.isalnum())
