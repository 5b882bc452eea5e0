"""What can be connected, what is refused before anything is written, and who sees what."""

from __future__ import annotations

import pytest

from haulwright.apps.brands.platforms.capabilities import BUILT_IN, MOST_ITEMS
from haulwright.apps.brands.platforms.registry import Registry
from haulwright.errors import InvalidValue, NotFound, Refused
from haulwright.settings import Settings
from tests.apps.brands.scenes import ACME, GLOBEX, connect, count


@pytest.mark.parametrize(
    ("platform", "capability"), [("myspace", "posts"), ("instagram", "stories"), ("", ""), ("Instagram", "posts")]
)
def test_an_unknown_platform_or_capability_is_refused_with_the_nearest(platform, capability):
    with pytest.raises(InvalidValue, match="is not known") as refused:
        Registry().checked(platform, capability, "acme", {})

    assert "instagram." in refused.value.hint


@pytest.mark.parametrize("identifier", ["", "  ", None, 7, "not a handle!", "x" * 200, "https://www.instagram.com/"])
def test_a_connection_without_a_usable_identifier_is_refused(identifier):
    with pytest.raises(InvalidValue, match="identifier"):
        Registry().checked("instagram", "posts", identifier, {})


@pytest.mark.parametrize("settings", [{"cap": 0}, {"cap": "many"}, {"cap": True}, {"cap": 51}, {"limit": 5}])
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(InvalidValue, match="settings"):
        Registry().checked("instagram", "posts", "acme", settings)


@pytest.mark.parametrize("said", ["acme", "@acme", " acme ", "https://www.instagram.com/acme/"])
def test_a_handle_is_the_same_however_it_is_pasted(said):
    assert Registry().checked("instagram", "posts", said, {}) == "acme"


def test_what_is_refused_leaves_nothing_behind(brands, brand):
    with pytest.raises(InvalidValue):
        brands.connect(ACME, brand.id, "instagram", "posts", "")

    assert count(brands, "brands_connections") == 0


def test_connecting_again_changes_the_settings_of_the_same_connection(brands, brand):
    (before,) = connect(brands, brand)
    (after,) = connect(brands, brand, settings={"cap": 5}, enabled=False)

    assert (after.id, after.settings, after.enabled) == (before.id, {"cap": 5}, False)
    assert len(brands.connections(ACME, brand.id)) == 1


@pytest.mark.proves("TN-03", "SC-02", "TS-01")
def test_a_brand_of_another_tenant_does_not_exist(brands, brand):
    connect(brands, brand)
    compiled = brands.compile(ACME, brand.id)
    asked = [
        lambda: brands.get(GLOBEX, brand.id),
        lambda: brands.connect(GLOBEX, brand.id, "instagram", "posts", "acme"),
        lambda: brands.compile(GLOBEX, brand.id),
        lambda: brands.plan(GLOBEX, brand.id),
        lambda: brands.status(GLOBEX, compiled.id),
        lambda: brands.status(GLOBEX, brand.id),
        lambda: brands.snapshot(GLOBEX, brand.id),
        lambda: brands.remove(GLOBEX, brand.id),
    ]

    for act in asked:
        with pytest.raises(NotFound):
            act()
    assert brands.list(GLOBEX) == []
    assert [one.id for one in brands.list(ACME)] == [brand.id]


@pytest.mark.parametrize("name", ["nonsense", "", "00000000-0000-7000-8000-000000000000", None])
def test_what_is_no_id_names_nothing(brands, name):
    with pytest.raises(NotFound):
        brands.get(ACME, name)


def test_without_a_token_a_compile_is_refused_before_anything_is_written(install, monkeypatch):
    monkeypatch.delenv("APIFY_TOKEN")
    brands = install()
    brand = brands.add(ACME, "Acme")

    with pytest.raises(Refused, match="no token for Apify"):
        brands.compile(ACME, brand.id)
    assert (count(brands, "brands_compile_runs"), count(brands, "haulwright_jobs")) == (0, 0)


@pytest.mark.proves("CP-01", "CF-04")
def test_every_capability_has_an_actor_a_cap_and_a_switch():
    registry = Registry.load(Settings.load({"HAULWRIGHT_BRANDS_DISABLED": "linkedin.profile_posts, web.pages"}))

    keys = {one.key for one in BUILT_IN}
    assert keys == {
        "instagram.posts", "instagram.reels", "tiktok.profile_videos", "linkedin.company_posts",
        "linkedin.profile_posts", "youtube.channel_videos", "web.pages",
    }  # fmt: skip
    assert {one.key for one in registry if not one.enabled} == {"linkedin.profile_posts", "web.pages"}
    assert not registry.is_capability_enabled("myspace", "posts")
    for one in BUILT_IN:
        assert 20 in one.build_input("acme", 20).values()
        assert registry.cap_for(one.platform, one.name) == one.cap <= MOST_ITEMS


def test_a_file_adds_capabilities_and_changes_those_that_are_built_in(tmp_path):
    path = tmp_path / "capabilities.toml"
    path.write_text(
        '[[capability]]\nplatform = "tiktok"\nname = "hashtag_videos"\nactor = "clockworks~tiktok-scraper"\n'
        'content_type = "video"\nshape = "tiktok"\nsubject = "hashtags"\nlimit = "resultsPerPage"\ncap = 12\n'
        '[[capability]]\nplatform = "web"\nname = "pages"\ncap = 7\n'
    )
    registry = Registry.load(Settings.load({"HAULWRIGHT_BRANDS_CAPABILITIES": str(path)}))

    added = registry.get("tiktok", "hashtag_videos")
    assert added.build_input("coffee", 12) == {"hashtags": ["coffee"], "resultsPerPage": 12}
    assert registry.cap_for("web", "pages") == 7


@pytest.mark.parametrize(
    "text", ['[[capability]]\nplatform = "x"\n', '[[capability]]\nplatform = "web"\nname = "pages"\ncolour = 1', "= ("]
)
def test_a_file_that_makes_no_sense_is_refused(tmp_path, text):
    path = tmp_path / "capabilities.toml"
    path.write_text(text)

    with pytest.raises(InvalidValue):
        Registry.load(Settings.load({"HAULWRIGHT_BRANDS_CAPABILITIES": str(path)}))


def test_a_capability_that_is_not_known_cannot_be_switched_off():
    with pytest.raises(InvalidValue, match="is no capability"):
        Registry.load(Settings.load({"HAULWRIGHT_BRANDS_DISABLED": "instagram.post"}))
