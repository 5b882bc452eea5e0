"""The account that pays for a model's drafts, from the environment: without a key there is none."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from penstock.apps.brands.compilers_openai import BASE_URL, ModelCaps, ModelPrice, OpenAICompiler
from penstock.errors import InvalidValue
from penstock.sources.http import Limits, Policy, Secret

if TYPE_CHECKING:
    from penstock.client.app import Penstock

SOURCE: Final = "brands.model"
KEY_VARIABLE: Final = "OPENAI_API_KEY"
URL_VARIABLE: Final = "OPENAI_BASE_URL"
DRAFT_USD_VARIABLE: Final = "PENSTOCK_BRANDS_DRAFT_USD"
PROMPT_USD_VARIABLE: Final = "PENSTOCK_BRANDS_PROMPT_USD"
COMPLETION_USD_VARIABLE: Final = "PENSTOCK_BRANDS_COMPLETION_USD"
CALLS_AT_ONCE: Final = 4


def model_compiler(app: Penstock, environment: Mapping[str, str] = os.environ) -> OpenAICompiler | None:
    """The compiler that calls a model through a source of the app; None where no key is set."""
    key = environment.get(KEY_VARIABLE, "")
    if not key:
        return None
    base_url = environment.get(URL_VARIABLE) or BASE_URL
    source = app.source(
        SOURCE,
        concurrency=CALLS_AT_ONCE,
        credential=Secret(key),
        limits=Limits(total=OpenAICompiler.longest_seconds),
        policy=Policy.for_address(base_url),
    )
    caps = ModelCaps(usd=_usd(environment, DRAFT_USD_VARIABLE) or ModelCaps().usd)
    return OpenAICompiler(
        source.http, key, base_url, caps=caps, price=_price(environment), credential=source.key, shared=True
    )


def _price(environment: Mapping[str, str]) -> ModelPrice | None:
    prompt, completion = (_usd(environment, name) for name in (PROMPT_USD_VARIABLE, COMPLETION_USD_VARIABLE))
    return None if prompt is None or completion is None else ModelPrice(prompt, completion)


def _usd(environment: Mapping[str, str], name: str) -> float | None:
    said = environment.get(name, "")
    try:
        amount = float(said) if said else None
    except ValueError:
        amount = -1.0
    if amount is not None and not 0 <= amount < float("inf"):
        raise InvalidValue(name, said, "is no amount of money", hint="Write US dollars, such as 0.5")
    return amount
