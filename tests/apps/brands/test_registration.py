"""Prompts, normalizers and compilers of a team's own, beside those that are built in."""

from __future__ import annotations

import pytest

from haulwright.apps import brands as kit
from haulwright.apps.brands.model.prompts import PROMPTS
from haulwright.apps.brands.platforms.shapes import SHAPES, Normalized, Unfit
from haulwright.apps.brands.snapshot.compilers import COMPILERS
from haulwright.apps.brands.snapshot.draft import SnapshotDraft, Statement
from haulwright.errors import InvalidValue
from tests.apps.brands.scenes import ACME, connect, count, rows

CAPABILITY = """
[[capability]]
platform = "instagram"
name = "captions"
actor = "apify~instagram-post-scraper"
content_type = "caption"
shape = "captions"
subject = "username"
limit = "resultsLimit"
"""


@pytest.fixture(autouse=True)
def _forgotten(monkeypatch):
    """What a test registers is gone after it."""
    for registry in (PROMPTS, SHAPES, COMPILERS):
        for name in registry:
            monkeypatch.setitem(registry, name, registry[name])
    before = [dict(registry) for registry in (PROMPTS, SHAPES, COMPILERS)]
    yield
    for registry, kept in zip((PROMPTS, SHAPES, COMPILERS), before, strict=True):
        registry.clear()
        registry.update(kept)


class Haiku:
    """A compiler of our own."""

    name = "haiku"

    async def acompile(self, order):
        first = order.bundle.items[0]
        return SnapshotDraft(self.name, (Statement("voice", "haiku", f"{order.brand}, in spring.", (first.id,)),))


def captions(item):
    if "shortCode" not in item:
        raise Unfit("no_id", "it has no short code")
    return Normalized(
        external_id=item["shortCode"], canonical_url=None, author=None, title=None, body=item["caption"].upper(),
        published_at=None, metrics={}, media=[], hashtags=[],
    )  # fmt: skip


def test_a_compiler_of_ones_own_makes_the_snapshot(brands, brand, settle):
    kit.register_compiler(Haiku())
    connect(brands, brand)
    brands.compile(ACME, brand.id, model="haiku")
    settle()

    document = brands.snapshot(ACME, brand.id)
    assert (document["ran"]["compiler"], document["asked"]["model"]) == ("haiku", "haiku")
    assert [each["text"] for each in document["sections"]["voice"]] == ["Acme, in spring."]


def test_a_normalizer_of_ones_own_reads_the_items_of_its_capability(install, settle, monkeypatch, tmp_path):
    kit.register_normalizer("captions", captions)
    (tmp_path / "capabilities.toml").write_text(CAPABILITY)
    monkeypatch.setenv("HAULWRIGHT_BRANDS_CAPABILITIES", str(tmp_path / "capabilities.toml"))
    brands = install()
    brand = brands.add(ACME, "Acme")
    connect(brands, brand, ("instagram", "captions", "acme"), settings={"cap": 3})
    brands.compile(ACME, brand.id)
    settle()

    assert count(brands, "brands_evidence") == 3
    assert all(body.isupper() for (body,) in rows(brands, "select body from brands_evidence"))


def test_a_prompt_of_ones_own_may_be_asked_for_and_is_never_changed(brands, brand):
    with pytest.raises(InvalidValue, match="is not known"):
        brands.compile(ACME, brand.id, prompt_version="acme-2")
    kit.register_prompt("acme-2", "Be brief. Cite.")
    kit.register_prompt("acme-2", "Be brief. Cite.")

    assert brands.compile(ACME, brand.id, prompt_version="acme-2").prompt_version == "acme-2"
    with pytest.raises(InvalidValue, match="other rules"):
        kit.register_prompt("acme-2", "Be long.")


def test_what_is_there_is_not_replaced_and_what_is_nothing_is_refused():
    with pytest.raises(InvalidValue, match="already"):
        kit.register_normalizer("web", captions)
    with pytest.raises(InvalidValue, match="no function"):
        kit.register_normalizer("mine", "captions")
    with pytest.raises(InvalidValue, match="say nothing"):
        kit.register_prompt("v9", " ")
    kit.register_compiler(Haiku())
    with pytest.raises(InvalidValue, match="already"):
        kit.register_compiler(Haiku())
