"""The account that pays for a model's drafts, from the settings: without a key there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from penstock.apps.brands.compilers_openai import ModelCaps, ModelPrice, OpenAICompiler
from penstock.settings import Settings
from penstock.sources.http import Limits, Policy, Secret

if TYPE_CHECKING:
    from penstock.client.app import Penstock

SOURCE: Final = "brands.model"
CALLS_AT_ONCE: Final = 4


def model_compiler(app: Penstock, settings: Settings | None = None) -> OpenAICompiler | None:
    """The compiler that calls a model through a source of the app; None where no key is set."""
    known = settings or Settings.load()
    key, base_url = known["openai_api_key"], known["openai_base_url"]
    if key is None:
        return None
    source = app.source(
        SOURCE,
        concurrency=CALLS_AT_ONCE,
        credential=Secret(key),
        limits=Limits(total=OpenAICompiler.longest_seconds),
        policy=Policy.for_address(base_url),
    )
    caps = ModelCaps(usd=known["brands_draft_usd"])
    return OpenAICompiler(
        source.http, key, base_url, caps=caps, price=_price(known), credential=source.key, shared=True
    )


def _price(settings: Settings) -> ModelPrice | None:
    prompt, completion = settings["brands_prompt_usd"], settings["brands_completion_usd"]
    return None if prompt is None or completion is None else ModelPrice(prompt, completion)
