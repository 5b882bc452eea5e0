from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from haulwright.engine.keys import JobKey, digest, effect_key, job_key, op_key
from haulwright.errors import InvalidPayload, InvalidValue

VECTORS = json.loads((Path(__file__).parent / "vectors" / "keys.json").read_text("utf-8"))["vectors"]
JOB = job_key("w-123", "a-456", "https://example.org/")

some_text = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


def key_of(kind, *rest):
    """The key that Haulwright gives to the parts of a published vector."""
    if kind == "job":
        return job_key(*rest)
    if kind == "op":
        operation, job, context = rest
        return op_key(operation, JobKey(job), **context)
    return effect_key(*rest)


@pytest.mark.proves("IK-01", "IK-02", "IK-03", "IK-04")
@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["about"])
def test_a_published_key_never_changes(vector):
    assert key_of(*vector["parts"]) == vector["key"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["about"])
def test_a_published_key_follows_from_the_recipe_alone(vector):
    text = json.dumps(vector["parts"], ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert hashlib.sha256(b"haulwright-key-1\n" + text.encode("utf-8")).hexdigest() == vector["key"]


def test_published_keys_are_all_different():
    assert len({vector["key"] for vector in VECTORS}) == len(VECTORS) >= 8


@pytest.mark.proves("IK-01")
@settings(deadline=None)
@given(st.tuples(some_text, some_text, some_text), st.tuples(some_text, some_text, some_text))
def test_two_job_keys_are_equal_only_where_all_their_parts_are(one, other):
    assert (job_key(*one) == job_key(*other)) is (one == other)


def test_the_parts_of_a_key_do_not_run_together():
    assert job_key("ab", "c", "u") != job_key("a", "bc", "u")
    assert op_key("HEAD", JOB, url="a", range="b") != op_key("HEAD", JOB, url='a","range":"b')


@pytest.mark.proves("IK-03")
def test_an_operation_key_depends_on_kind_job_and_every_fact():
    other_job = job_key("w-123", "a-457", "https://example.org/")
    keys = {
        op_key("HEAD", JOB, url="u"),
        op_key("GET", JOB, url="u"),
        op_key("HEAD", other_job, url="u"),
        op_key("HEAD", JOB, url="v"),
        op_key("HEAD", JOB, url="u", range_start=0),
        op_key("HEAD", JOB),
    }
    assert len(keys) == 6


def test_the_facts_of_an_operation_may_have_any_name_and_order():
    assert op_key("GET", JOB, kind="a", job="b") == op_key("GET", JOB, job="b", kind="a")


def test_an_effect_an_operation_and_a_job_never_share_a_key():
    assert effect_key(JOB, "x", {}) != op_key("x", JOB)
    assert job_key("a", "b", "c") != effect_key(JobKey("a"), "b", "c")


@pytest.mark.parametrize("parts", [("", "a", "u"), ("w", "", "u"), ("w", "a", ""), (7, "a", "u"), (None, "a", "u")])
def test_a_job_key_is_refused_where_a_part_is_missing(parts):
    with pytest.raises(InvalidValue, match="is not a text"):
        job_key(*parts)


def test_an_operation_or_effect_without_a_job_kind_or_name_is_refused():
    for refused in (lambda: op_key("", JOB), lambda: op_key("GET", JobKey("")), lambda: effect_key(JOB, "", 1)):
        with pytest.raises(InvalidValue, match="is not a text"):
            refused()


def test_arguments_without_canonical_json_have_no_key():
    with pytest.raises(InvalidPayload, match="NUL"):
        effect_key(JOB, "fetch", {"url": "a\0"})
    with pytest.raises(InvalidPayload, match="object"):
        effect_key(JOB, "fetch", object())


def test_a_digest_is_the_sha_256_of_the_text():
    assert digest("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert digest("ü") == hashlib.sha256(b"\xc3\xbc").hexdigest()
