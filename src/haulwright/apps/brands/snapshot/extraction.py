"""Statements drawn from answers, computed facts and the items themselves. No model, no network, nothing made up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from haulwright.apps.brands.evidence.item import EvidenceItem
from haulwright.apps.brands.snapshot.draft import CompileOrder, Statement
from haulwright.apps.brands.snapshot.measures.feature import Feature

QUOTE_CHARS: Final = 160
ANSWER_CHARS: Final = 1_000
MOST_ANSWERS: Final = 50
HABIT_SHARE: Final = 0.2
"""A habit that fewer items show is an accident."""

_ANSWERS_ABOUT: Final = (("audience", ("audience", "customer", "reader")), ("voice", ("voice", "tone")))
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s|\n")


def statements(order: CompileOrder) -> Iterator[Statement]:
    """All that can be said about a brand without guessing."""
    yield from _answered(order)
    for feature in order.features.about("tone"):
        if feature.value["share"] >= HABIT_SHARE:
            yield _stated("voice", feature, f"{_part(feature)} of the texts show this habit: {feature.subject}.")
    for feature in order.features.about("topics"):
        yield _stated("themes", feature, f"Speaks of {feature.subject!r} in {_part(feature)} of the items.")
    for feature in order.features.about("hashtags"):
        yield _stated("themes", feature, f"Tags #{feature.subject} in {_part(feature)} of the items.")
    for feature in order.features.about("cadence"):
        yield _stated("channels", feature, _rhythm(feature))
    for feature in order.features.about("links"):
        yield _stated("channels", feature, f"Leads to {feature.subject} in {_part(feature)} of the items.")
    yield from _responses(order)


def _answered(order: CompileOrder) -> Iterator[Statement]:
    for question in sorted(order.answers)[:MOST_ANSWERS]:
        if answer := _as_text(order.answers[question]):
            section = next((name for name, words in _ANSWERS_ABOUT if _any_in(words, question)), "identity")
            label = question.replace("_", " ").capitalize()
            yield Statement(section, f"answer:{question}", f"{label}: {answer[:ANSWER_CHARS]}", answers=(question,))


def _responses(order: CompileOrder) -> Iterator[Statement]:
    items = {item.id: item for item in order.bundle.items}
    for feature in order.features.about("engagement"):
        usual, best = feature.value["median_reactions"], items[feature.value["best"][0]]
        yield _stated("response", feature, f"{feature.subject} usually gets {usual:g} reactions.")
        if quote := _quote(best):
            text = f"{feature.subject} moved most people ({feature.value['most_reactions']}) with: {quote}"
            yield Statement("response", f"best:{feature.subject}", text, (best.id,))


def _stated(section: str, feature: Feature, text: str) -> Statement:
    return Statement(section, f"{feature.group}:{feature.subject}", text, feature.evidence)


def _rhythm(feature: Feature) -> str:
    value = feature.value
    pace = "" if value["per_week"] is None else f" about {value['per_week']:g} times a week,"
    return f"Publishes {feature.subject}{pace} mostly on {value['usual_weekday']}s ({value['items']} dated items)."


def _part(feature: Feature) -> str:
    return f"{feature.value['share']:.0%}"


def _quote(item: EvidenceItem) -> str:
    """The first sentence of an item, as it stands."""
    first = _SENTENCE_END.split((item.text or item.title or "").strip()[: 4 * QUOTE_CHARS], maxsplit=1)[0].strip()
    return "" if not first else f"“{first}”" if len(first) <= QUOTE_CHARS else f"“{first[:QUOTE_CHARS].rstrip()}…”"


def _as_text(answer: Any) -> str:
    """An answer as people read it; one that says nothing is empty."""
    if answer is None or answer in ("", [], {}):
        return ""
    if isinstance(answer, list):
        return ", ".join(filter(None, map(_as_text, answer)))
    return answer.strip() if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, sort_keys=True)


def _any_in(words: tuple[str, ...], question: str) -> bool:
    return any(word in question.lower() for word in words)
