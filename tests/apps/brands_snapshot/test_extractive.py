"""The compiler that asks nobody."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given

from haulwright.apps.brands.snapshot.compilers import ExtractiveCompiler, compiler_for
from haulwright.apps.brands.snapshot.draft import SECTIONS
from tests.apps.brands_snapshot.scenes import DAY, NOW, an_item, an_order, examples, some_items


def drafted(*items, **said):
    return asyncio.run(ExtractiveCompiler().acompile(an_order(*items, **said)))


@examples
@given(some_items)
def test_every_statement_cites_what_exists(items):
    order = an_order(*items, answers={"voice": "warm", "empty": "", "products": ["bread", "rolls"]})

    draft = asyncio.run(ExtractiveCompiler().acompile(order))

    known = {item.id for item in order.bundle.items}
    assert all(one.evidence or one.answers for one in draft.statements)
    assert all(
        known.issuperset(one.evidence) and set(order.answers).issuperset(one.answers) for one in draft.statements
    )
    assert {one.section for one in draft.statements} <= set(SECTIONS)


@pytest.mark.proves("CO-02")
def test_it_claims_no_model_and_no_cost():
    draft = drafted(an_item("1"), model="gpt-4")

    assert (draft.compiler, draft.model, draft.prompt_version) == ("extractive", None, None)
    assert (draft.usage.prompt_tokens, draft.usage.usd) == (0, 0.0)


def test_answers_are_repeated_where_they_belong():
    said = drafted(
        answers={"what_we_do": "We bake.", "target_audience": ["cafés", "families"], "tone": "warm", "x": None}
    )

    assert [(one.section, one.text, one.answers) for one in said.statements] == [
        ("audience", "Target audience: cafés, families", ("target_audience",)),
        ("voice", "Tone: warm", ("tone",)),
        ("identity", "What we do: We bake.", ("what_we_do",)),
    ]


def test_the_rhythm_and_the_best_item_are_told_in_words():
    items = [an_item(str(days), published_at=NOW - days * DAY, metrics={"likes": days}) for days in (0, 7)]

    texts = {one.subject: one.text for one in drafted(*items, answers={}).statements}

    assert texts["cadence:instagram.post"] == (
        "Publishes instagram.post about 1 times a week, mostly on Fridays (2 dated items)."
    )
    assert texts["best:instagram.post"] == "instagram.post moved most people (7) with: “We bake bread.”"


def test_a_rare_habit_is_not_mentioned():
    items = [an_item(str(number), text="Rye.") for number in range(9)] + [an_item("loud", text="Rye!")]

    assert not any(one.section == "voice" for one in drafted(*items, answers={}).statements)


@pytest.mark.parametrize("model", [None, "extractive"])
def test_a_model_is_called_only_where_one_was_asked_for(model):
    asked = object()

    assert compiler_for(model, asked).name == "extractive"
    assert compiler_for("sandbox-small", asked) is asked
    assert compiler_for("sandbox-small").name == "extractive"
