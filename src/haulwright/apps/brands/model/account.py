"""The account that pays for a model's drafts, from the settings: without a key there is none."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final

from haulwright.apps.brands.model.openai import ModelCaps, ModelPrice, OpenAICompiler
from haulwright.settings import Settings
from haulwright.sources.http import Limits, Policy, Secret
from haulwright.sources.http.shared_client import SharedClient

if TYPE_CHECKING:
    from haulwright import Haulwright
    from haulwright.apps.brands.snapshot.compilers import Compiler

SOURCE: Final = "brands.model"
CALLS_AT_ONCE: Final = 4


class ModelAccount:
    """Whoever calls the model enters here."""

    def __init__(self, app: Haulwright, settings: Settings) -> None:
        self._compiler = model_compiler(app, settings)
        self._client = None if self._compiler is None else SharedClient(app.sources[SOURCE].http)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Compiler | None]:
        """The compiler that calls a model, where there is one, for as long as it is entered."""
        if self._client is None:
            yield None
            return
        async with self._client.enter():
            yield self._compiler


def model_compiler(app: Haulwright, settings: Settings) -> OpenAICompiler | None:
    """The compiler that calls a model through a source of the app; None where no key is set."""
    key, base_url = settings["openai_api_key"], settings["openai_base_url"]
    if key is None:
        return None
    source = app.source(
        SOURCE,
        concurrency=CALLS_AT_ONCE,
        credential=Secret(key),
        limits=Limits(total=OpenAICompiler.longest_seconds),
        policy=Policy.for_address(base_url),
    )
    caps = ModelCaps(usd=settings["brands_draft_usd"])
    return OpenAICompiler(
        source.http, key, base_url, caps=caps, price=_price(settings), credential=source.key, shared=True
    )


def _price(settings: Settings) -> ModelPrice | None:
    prompt, completion = settings["brands_prompt_usd"], settings["brands_completion_usd"]
    return None if prompt is None or completion is None else ModelPrice(prompt, completion)
