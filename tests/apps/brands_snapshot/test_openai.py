"""The compiler that asks a model: paid once, within its caps, and never beyond its evidence."""

from __future__ import annotations

import asyncio
import json
from contextlib import closing

import pytest

from haulwright import Context, Haulwright, Retry
from haulwright.apps.brands.json_schema import check
from haulwright.apps.brands.model.openai import ModelCaps, ModelPrice, OpenAICompiler
from haulwright.apps.brands.model.prompts import answer_schema
from haulwright.apps.brands.snapshot.compilers import SnapshotDraft
from haulwright.errors import AuthFailed, InvalidPayload, InvalidValue, Permanent, Retryable
from haulwright.sandbox import Sandbox
from haulwright.sources.http import Http, Policy
from haulwright.testing.harness import Harness
from tests.apps.brands_snapshot.scenes import an_item, an_order

ORDER = an_order(an_item("1"), an_item("2", text="Rye and salt."), model="sandbox-small")
app = Haulwright()
compilers: list[tuple[Http, OpenAICompiler]] = []


@app.task(retry=Retry(3, base="1 min", jitter=0), lease="1 min")
async def draft(ctx: Context) -> int:
    http, compiler = compilers[-1]
    async with http:  # on the bench each run has an event loop of its own
        made: SnapshotDraft = await ctx.aeffect("draft", compiler.acompile, ORDER, key="draft")
    return len(made.statements)


@pytest.fixture
def sandbox():
    with Sandbox(seed=7) as sandbox:
        yield sandbox


@pytest.fixture
def http():
    http = Http(policy=Policy(private=True))
    yield http
    http.close()


@pytest.fixture
def compiled(sandbox, http):
    """Compile an order with these caps and prices."""

    def run(order=ORDER, **said):
        compiler = OpenAICompiler(http, "key-of-mine", f"{sandbox.url}/model/v1", **said)

        async def work():
            async with http:
                return await compiler.acompile(order)

        return asyncio.run(work())

    return run


@pytest.fixture
def bodies(http, monkeypatch):
    """What is sent, in order."""
    sent, post = [], http.apost

    async def apost(url, **options):
        sent.append(options["json"])
        return await post(url, **options)

    monkeypatch.setattr(http, "apost", apost)
    return sent


def say(sandbox, *statements, **more):
    sandbox.model.script(answer=json.dumps({"statements": list(statements)}), **more)


def stated(**said):
    return {"section": "themes", "subject": "bread", "text": "Bakes.", "evidence": ["e1"], "answers": [], **said}


def test_a_draft_cites_the_items_and_names_the_model_that_answered(sandbox, compiled):
    made = compiled()

    (call,) = sandbox.books.model_calls()
    known = {item.id for item in ORDER.bundle.items}
    assert made.statements
    assert all((one.evidence or one.answers) and known.issuperset(one.evidence) for one in made.statements)
    assert (made.compiler, made.model, made.prompt_version) == ("openai", "sandbox-small", "v1")
    assert (made.usage.prompt_tokens, made.usage.usd) == (call.prompt_tokens, None)


def test_citations_that_do_not_exist_are_dropped_and_counted(sandbox, compiled):
    say(
        sandbox,
        stated(evidence=["e1", "e1", "e99"]),
        stated(evidence=["e99"]),
        stated(evidence=[], answers=["what_we_do"]),
    )

    made = compiled()

    first = ORDER.bundle.items[0].id
    assert [(one.evidence, one.answers) for one in made.statements] == [((first,), ()), ((), ("what_we_do",))]
    assert made.unfounded == 1


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("{not json", Retryable),
        ("[]", Retryable),
        ('{"statements": []}', Retryable),
        (json.dumps({"statements": [stated(section="weather")]}), Retryable),
        (json.dumps({"statements": [stated(evidence="e1")]}), Retryable),
        (json.dumps({"statements": [stated(mood="glad")]}), Retryable),
        (json.dumps({"statements": [stated(text=" ")]}), Retryable),
    ],
)
def test_an_answer_in_another_form_is_no_draft(sandbox, compiled, answer, error):
    sandbox.model.script(answer=answer)

    with pytest.raises(error, match="The model"):
        compiled()


@pytest.mark.parametrize(("ended", "why"), [("length", "cut off"), ("content_filter", "refused")])
def test_an_answer_that_was_cut_or_withheld_is_not_asked_for_again(sandbox, compiled, ended, why):
    say(sandbox, stated(), finish_reason=ended)

    with pytest.raises(Permanent, match=why):
        compiled()


def test_what_no_database_can_store_is_taken_out_of_a_statement(sandbox, compiled):
    say(sandbox, stated(text="Bread\0 \ud800 and rye", subject="s" * 999))

    (made,) = compiled().statements

    assert made.text == "Bread \ufffd and rye"
    assert len(made.subject.encode()) <= 200


def test_a_draft_that_could_cost_too_much_is_refused_before_it_is_paid_for(sandbox, compiled):
    with pytest.raises(Permanent, match="could cost"):
        compiled(price=ModelPrice(10, 30), caps=ModelCaps(usd=0.01))

    assert sandbox.books.model_calls() == []


def test_the_price_of_a_draft_is_recorded(sandbox, compiled):
    made = compiled(price=ModelPrice(1, 2))

    (call,) = sandbox.books.model_calls()
    assert made.usage.usd == pytest.approx((call.prompt_tokens + 2 * call.completion_tokens) / 1_000_000, abs=1e-6)


def test_items_for_which_there_is_no_room_are_left_out_and_counted(sandbox, compiled):
    many = an_order(*(an_item(str(number), text="Rye. " * 200) for number in range(30)), model="sandbox-small")

    made = compiled(many, caps=ModelCaps(prompt_tokens=4_000))

    (call,) = sandbox.books.model_calls()
    assert 0 < made.left_out < 30
    assert call.prompt_tokens <= 4_000


def test_a_question_that_cannot_be_short_enough_is_refused(compiled):
    with pytest.raises(Permanent, match="longer than 10 tokens"):
        compiled(caps=ModelCaps(prompt_tokens=10))


def test_only_what_exists_may_be_cited_by_the_schema_that_is_sent():
    schema = answer_schema(["e1"], ["tone"])

    check({"statements": [stated(answers=["tone"])]}, schema, root="answer")
    with pytest.raises(InvalidPayload, match="none of the values"):
        check({"statements": [stated(evidence=["e2"])]}, schema, root="answer")


def test_a_key_that_is_refused_says_whose_it_is_and_not_what_it_is(sandbox, compiled):
    sandbox.model.script(revoke="key-of-mine")

    with pytest.raises(AuthFailed) as refused:
        compiled(shared=True)

    assert (refused.value.credential, refused.value.shared) == ("openai", True)
    assert "key-of-mine" not in str(refused.value)


def test_an_account_without_credit_is_not_tried_again(sandbox, compiled):
    sandbox.faults.add(path="/model/*", kind="status", code=429, body='{"error": {"code": "insufficient_quota"}}')

    with pytest.raises(Permanent, match="no credit"):
        compiled()


@pytest.mark.parametrize("wrong", [{"model": None}, {"prompt_version": "v0"}])
def test_an_order_that_names_no_model_or_an_unknown_prompt_is_refused(sandbox, compiled, wrong):
    with pytest.raises(InvalidValue):
        compiled(an_order(an_item("1"), **({"model": "sandbox-small"} | wrong)))

    assert sandbox.books.model_calls() == []


def test_a_run_that_is_repeated_does_not_pay_again(sandbox, http, sqlite_url, tmp_path):
    compilers.append((http, OpenAICompiler(http, "key-of-mine", f"{sandbox.url}/model/v1")))
    with closing(Harness(sqlite_url, tmp_path)) as bench:
        bench.use(app)
        handle = draft.enqueue()
        with bench.crash(draft, before="settle"):
            bench.drain()
        bench.advance("2 min")
        bench.drain()

        assert handle.result(timeout=0) >= 1
    assert len(sandbox.books.model_calls()) == 1


@pytest.mark.parametrize(
    ("model", "forms"),
    [
        ("gpt-4", ["json_schema", "json_object", "text"]),
        ("gpt-4-turbo", ["json_schema", "json_object"]),
        ("gpt-5-mini", ["json_schema"]),
        ("o3", ["json_schema"]),
        ("local-llama", ["json_schema", "json_schema"]),
    ],
)
def test_every_model_is_asked_in_a_form_that_it_takes_and_pays_for_one_answer(sandbox, compiled, bodies, model, forms):
    made = compiled(an_order(an_item("1"), an_item("2"), model=model))

    assert [body.get("response_format", {"type": "text"})["type"] for body in bodies] == forms
    assert not any("temperature" in body for body in bodies)
    assert (made.model, len(sandbox.books.model_calls())) == (model, 1)
    assert made.statements


def test_what_a_model_takes_is_remembered(sandbox, http, bodies):
    compiler = OpenAICompiler(http, "key-of-mine", f"{sandbox.url}/model/v1")
    order = an_order(an_item("1"), model="gpt-4")

    async def twice():
        async with http:
            return [await compiler.acompile(order) for _ in range(2)]

    asyncio.run(twice())

    assert len(bodies) == 4, "three for the first answer, one for the second"


def test_a_refusal_of_another_kind_is_told_as_it_is(sandbox, compiled, bodies):
    sandbox.faults.add("status", path="/model/*", code=400, times=None)

    with pytest.raises(Permanent):
        compiled()
    assert len(bodies) == 1


def test_json_in_a_fence_is_read(sandbox, compiled):
    sandbox.model.script(answer=f"```json\n{json.dumps({'statements': [stated()]})}\n```")

    assert [one.text for one in compiled().statements] == ["Bakes."]
