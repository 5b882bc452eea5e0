"""What is secret in an address tells documents apart, and is shown to nobody."""

from __future__ import annotations

import pytest

from haulwright.apps.documents.identity import identity_url
from haulwright.apps.documents.manifest import Item
from haulwright.errors import InvalidValue, NotFound
from haulwright.operations.principal import Principal
from tests.apps.documents.scenes import TENANT

NAMES = ["token", "access_token", "api_key", "key", "sig", "signature", "password"]


@pytest.mark.parametrize("name", NAMES)
def test_documents_that_differ_by_a_secret_are_two_and_neither_shows_it(name):
    first, second = (Item(f"https://a.example/x.pdf?{name}=hush-hush-{number}&v=2") for number in (1, 2))

    assert (first.key == second.key) is (name in {"sig", "signature"})  # these sign, and are no part of an address
    assert "hush" not in first.shown_url + first.artifact_id + first.work_id + first.name
    assert first.shown_url.startswith("https://a.example/x.pdf?")
    assert first.shown_url.endswith("v=2")


def test_status_views_and_answers_mask_what_is_secret(world):
    first, second = world.add("a.txt?token=hush-hush-1"), world.add("a.txt?token=hush-hush-2")
    world.bench.drain()

    shown = [first, second, world.documents.artifacts.list(TENANT), world.rows("select * from artifact_jobs")]
    assert "hush" not in str(shown)
    assert first.job_id != second.job_id
    real = identity_url(world.url("a.txt?token=hush-hush-2"))
    assert str(world.documents.artifacts.standing(TENANT, real)["job_id"]) == second.job_id
    with pytest.raises(NotFound) as refusal:
        world.documents.artifacts.standing(TENANT, "https://a.example/?token=hush-hush-3")
    assert "hush" not in str(refusal.value)


def test_a_refused_line_is_on_record_without_its_secret(world, tmp_path):
    bad = ["ftp://a.example/x?token=hush-hush", "nothing?key=hush-hush", "https://[::1?sig=hush-hush"]
    manifest = tmp_path / "list.csv"
    manifest.write_text("url\n" + "\n".join(bad))

    manifest_import = world.documents.take_in(Principal.of_tenant(TENANT), manifest)

    events = [event.data for event in world.events("document.refused")]
    assert (manifest_import.counts["refused"], len(events)) == (3, 3)
    assert "hush" not in str(manifest_import.refused) + str(events)


def test_an_address_that_is_refused_is_named_without_its_secret():
    with pytest.raises(InvalidValue) as refusal:
        Item("ftp://a.example/x?key=hush-hush")

    assert "hush" not in str(refusal.value)
