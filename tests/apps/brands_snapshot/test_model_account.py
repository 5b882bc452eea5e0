"""The account of a model, from the settings."""

from __future__ import annotations

import pytest

from haulwright import Haulwright
from haulwright.apps.brands.model.account import model_compiler
from haulwright.errors import InvalidValue
from haulwright.settings import Settings
from haulwright.sources.http import Policy

KEY = {"OPENAI_API_KEY": "key-of-mine"}


@pytest.mark.parametrize("environment", [{}, {"OPENAI_API_KEY": ""}])
def test_without_a_key_there_is_no_model(environment):
    app = Haulwright()

    assert model_compiler(app, Settings.load(environment)) is None
    assert app.sources == {}


def test_a_model_is_asked_through_a_source_of_the_app():
    app = Haulwright()

    assert model_compiler(app, Settings.load(KEY)).name == "openai"
    assert app.sources["brands.model"].figures.concurrency == 4


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_this_machine_is_reached_where_the_address_says_so(host):
    assert Policy.for_address(f"http://{host}:8765/model/v1").allow == (host.strip("[]"),)


@pytest.mark.parametrize("host", ["api.openai.com", "10.0.0.1", "169.254.169.254", "localhost.example"])
def test_no_other_private_address_is(host):
    policy = Policy.for_address(f"https://{host}/v1")

    assert (policy.private, policy.allow) == (False, ())


@pytest.mark.parametrize("amount", ["free", "-1", "nan", "inf"])
def test_a_price_that_is_none_is_refused(amount):
    with pytest.raises(InvalidValue, match="brands_draft_usd"):
        model_compiler(Haulwright(), Settings.load({**KEY, "HAULWRIGHT_BRANDS_DRAFT_USD": amount}))
