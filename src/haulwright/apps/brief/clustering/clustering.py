"""Articles into events, one at a time: each is placed once, by rules that depend on nothing but what came before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import islice
from typing import Final

from haulwright.apps.brief.clustering.event_sums import MOST_COMPARED, EventSums
from haulwright.apps.brief.clustering.frequencies import FOUNDER, JOINER, Frequencies
from haulwright.apps.brief.clustering.index import PostingIndex
from haulwright.apps.brief.clustering.profile import Profile, Words, profile_of, read_profile
from haulwright.apps.brief.clustering.similarity import cosine, is_copy, nearness, terms_of
from haulwright.apps.brief.clustering.tuning import DEFAULT, Tuning
from haulwright.errors import InvalidValue

VERSION: Final = "2"
"""Kept beside every placement. It grows when the same articles would be placed otherwise."""
WINDOW: Final = 7 * 86_400 * 1_000_000
"""Microseconds. An article joins an event only where one of its articles was published less than this apart."""
MOST_REMEMBERED: Final = 200_000
"""Beyond that the oldest are forgotten, so many at once."""
FORGOTTEN_AT_ONCE: Final = 2_000
COPIED_FROM: Final = 0.5
"""Two texts that are less alike in their words are no copies; their sketches need not be compared."""
MOST_EVENTS: Final = 6
"""So many events are looked at, those of the articles most alike."""


@dataclass(frozen=True, slots=True)
class Article:
    """A piece of news as it came."""

    id: str
    text: str
    title: str = ""
    published_at: int | None = None
    """Microseconds since 1970; without it an article may join any event that is remembered."""


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an article belongs."""

    cluster: str
    similarity: float
    """How near it is to the event that it joined, or to the nearest that it did not join."""
    nearest: str | None
    """The article most like it."""
    duplicate_of: str | None
    """The article that it is a copy of."""
    signature: str = ""
    """What is to be known of it later, with the weights that its words had now: some 300 to 1,500 characters."""


@dataclass(frozen=True, slots=True)
class _Member:
    """An article that was placed."""

    id: str
    profile: Profile
    cluster: str
    published_at: int | None

    @property
    def counts(self) -> int:
        """How much it counts in the frequencies of words."""
        return FOUNDER if self.cluster == _name(self.id) else JOINER


class Clustering:
    """The events of a window of time, and where the next article belongs.

    What it answers depends on the articles that it remembers and on their order, and on nothing else.
    """

    def __init__(self, version: str = VERSION, *, tuning: Tuning = DEFAULT) -> None:
        if version != VERSION:
            raise InvalidValue("version", version, "is no version of clustering", hint=f"This one is {VERSION}.")
        self.version = version
        self._tuning = tuning
        self._frequencies = Frequencies()
        self._index = PostingIndex()
        self._members: dict[int, _Member] = {}
        self._numbers: dict[str, int] = {}
        self._clusters: dict[str, list[int]] = {}
        self._sums = EventSums(self._profiles)
        self._next = 0

    def __len__(self) -> int:
        """How many articles are remembered."""
        return len(self._members)

    def place(self, article: Article) -> Placement:
        """Find the event of an article, or make one of it, and remember that."""
        self._refuse_known(article.id)
        words = Words.of(article.title, article.text)
        profile = profile_of(words, self._frequencies, self._tuning)
        placement = self._find(article, profile, self._tuning.join_at(len(words)))
        self._add(_Member(article.id, profile, placement.cluster, article.published_at))
        return replace(placement, signature=profile.as_text())

    def remember(self, id: str, signature: str, cluster: str, published_at: int | None) -> None:  # noqa: A002 - as in Article
        """Restore an article that was placed earlier. In the order of placing, all is as if it had never stopped."""
        self._refuse_known(id)
        self._add(_Member(id, read_profile(signature), cluster, published_at))

    def forget_before(self, instant: int) -> None:
        """Forget what was published before an instant. What has no date stays until there are too many."""
        self._forget(
            [
                number
                for number, member in self._members.items()
                if member.published_at is not None and member.published_at < instant
            ]
        )

    def _find(self, article: Article, profile: Profile, join_at: float) -> Placement:
        mine = terms_of(profile)
        similarities = {
            number: cosine(mine, profile.square, self._members[number].profile)
            for number in self._index.nearest(profile.terms, profile.weights)
            if _in_window(article.published_at, self._members[number].published_at)
        }
        alike = sorted(similarities, key=lambda number: (-similarities[number], number))
        if not alike:
            return Placement(_name(article.id), 0.0, None, None)
        nearest = self._members[alike[0]].id
        maybe_copied = (self._members[number] for number in alike if similarities[number] >= COPIED_FROM)
        original = next((member for member in maybe_copied if is_copy(profile, member.profile)), None)
        if original is not None:
            return Placement(original.cluster, similarities[self._numbers[original.id]], nearest, original.id)
        near, cluster = self._nearest_cluster(article, profile, {number: similarities[number] for number in alike})
        cluster_id = cluster if near >= join_at else _name(article.id)
        return Placement(cluster_id, max(0.0, near), nearest, None)

    def _nearest_cluster(
        self, article: Article, profile: Profile, similarities: Mapping[int, float]
    ) -> tuple[float, str]:
        """The event that is nearest among those of the articles most alike; of equals the one found first."""
        best: dict[str, float] = {}
        for number, similarity in similarities.items():
            best.setdefault(self._members[number].cluster, similarity)

        def score(cluster: str, product: int, square: int) -> float:
            apart = self._tuning.apart(self._gap(article.published_at, cluster))
            return nearness(profile, product, square, best[cluster]) - apart

        nearest, near = self._sums.nearest(list(islice(best, MOST_EVENTS)), profile, score)
        by_chance = self._frequencies.chance(profile.terms, profile.weights, profile.square)
        return near - self._tuning.chance * by_chance, nearest

    def _gap(self, published_at: int | None, cluster: str) -> int:
        """The time between something published and the next of an event's newest articles; none without a date."""
        if published_at is None:
            return 0
        moments = [self._members[number].published_at for number in self._clusters[cluster][-MOST_COMPARED:]]
        return min(0 if moment is None else abs(published_at - moment) for moment in moments)

    def _profiles(self, cluster: str) -> Iterator[Profile]:
        """The newest articles of an event, the oldest of them first."""
        return (self._members[number].profile for number in self._clusters[cluster][-MOST_COMPARED:])

    def _add(self, member: _Member) -> None:
        number, self._next = self._next, self._next + 1
        self._members[number] = member
        self._numbers[member.id] = number
        numbers = self._clusters.setdefault(member.cluster, [])
        numbers.append(number)
        self._sums.add(member.cluster, member.profile, len(numbers))
        self._index.add(number, member.profile.terms)
        self._frequencies.add(member.profile.all_terms, member.counts)
        if len(self._members) > MOST_REMEMBERED:
            self._forget(list(islice(self._members, FORGOTTEN_AT_ONCE)))

    def _forget(self, numbers: Sequence[int]) -> None:
        members = {number: self._members.pop(number) for number in numbers}
        for member in members.values():
            del self._numbers[member.id]
            self._frequencies.remove(member.profile.all_terms, member.counts)
        for cluster in {member.cluster for member in members.values()}:
            self._sums.forget(cluster)
            remaining = [number for number in self._clusters[cluster] if number not in members]
            if remaining:
                self._clusters[cluster] = remaining
            else:
                del self._clusters[cluster]
        self._index.remove({number: member.profile.terms for number, member in members.items()})

    def _refuse_known(self, article_id: str) -> None:
        if article_id in self._numbers:
            raise InvalidValue("article", article_id, "was placed already", hint="An article is placed once.")


def _name(first: str) -> str:
    """The id of a cluster, from that of its first article."""
    return f"{VERSION}-{blake2b(first.encode('utf-8', 'surrogatepass'), digest_size=10).hexdigest()}"


def _in_window(first: int | None, second: int | None) -> bool:
    return first is None or second is None or abs(first - second) < WINDOW
