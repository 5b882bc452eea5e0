"""Items, outcomes and orders, as small as a test needs them."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from haulwright.apps.brands.evidence.bundle import BundleCaps, bundle
from haulwright.apps.brands.evidence.item import EvidenceItem
from haulwright.apps.brands.evidence.status import SourceOutcome
from haulwright.apps.brands.snapshot.draft import CompileOrder
from haulwright.apps.brands.snapshot.features import features
from haulwright.clock import SECOND

DAY = 86_400 * SECOND
NOW = 20_000 * DAY
"""4 October 2024, a Friday."""

KIND = ("platform", "capability", "content_type")
KINDS = (("instagram", "posts", "post"), ("instagram", "reels", "reel"), ("web", "pages", "page"))
TEXTS = ("", "We bake bread. Visit us!", "Is it bread? It is bread.", "NEW BREAD \U0001f35e for you", "Über das Brot")

examples = settings(max_examples=30, deadline=None)
"""Enough of them, on a machine that has other work too."""

some_items = st.lists(
    st.builds(
        lambda number, kind, **said: an_item(str(number), **dict(zip(KIND, kind, strict=True)), **said),
        number=st.integers(0, 10_000),
        kind=st.sampled_from(KINDS),
        published_at=st.none() | st.integers(NOW - 400 * DAY, NOW + DAY),
        metrics=st.dictionaries(st.sampled_from(["likes", "comments", "views"]), st.integers(0, 1_000)),
        text=st.sampled_from(TEXTS) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")),
        hashtags=st.lists(st.sampled_from(["#Bread", "bread", "#", "slow"]), max_size=3),
        links=st.lists(st.sampled_from(["https://www.acme.example/a", "no address", "http://[", "x://y"]), max_size=3),
    ),
    unique_by=lambda item: item.id,
    max_size=12,
)
some_caps = st.builds(
    BundleCaps,
    per_kind=st.integers(0, 12),
    of_kind=st.dictionaries(st.just("instagram.post"), st.integers(0, 12)),
    in_all=st.integers(0, 20),
)


def an_item(item_id: str, **said: Any) -> EvidenceItem:
    """A post about bread, unless something else is said."""
    plain: dict[str, Any] = {
        "platform": "instagram",
        "capability": "posts",
        "content_type": "post",
        "external_id": f"x{item_id}",
        "canonical_url": f"https://instagram.example/p/{item_id}",
        "author": "acme",
        "title": None,
        "text": "We bake bread.",
        "published_at": NOW - DAY,
        "metrics": {},
        "media": [],
        "hashtags": [],
        "links": [],
        "connection_id": "c1",
        "run_id": "r1",
    }
    return EvidenceItem(item_id, **(plain | said))


def an_outcome(outcome: str, **said: Any) -> SourceOutcome:
    """What became of the posts of a brand."""
    plain: dict[str, Any] = {"source": "instagram.posts", "connection_id": "c1", "reason": "Because."}
    return SourceOutcome(outcome=outcome, **(plain | said))


def an_order(*items: EvidenceItem, **said: Any) -> CompileOrder:
    """An order for a draft about these items."""
    chosen = bundle(items)
    plain: dict[str, Any] = {"brand": "Acme", "answers": {"what_we_do": "We bake."}}
    return CompileOrder(bundle=chosen, features=features(chosen, NOW), **(plain | said))
