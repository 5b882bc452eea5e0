"""The page about the sandbox names everything that it has."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import get_args

import pytest

from haulwright.sandbox.airbyte.jobs import JobScript
from haulwright.sandbox.apify.actors import ACTORS
from haulwright.sandbox.apify.runs import RunScript
from haulwright.sandbox.faults import Fault, Kind
from haulwright.sandbox.feeds.formats import FORMATS
from haulwright.sandbox.feeds.oddities import ODDITIES
from haulwright.sandbox.feeds.world import PAPERS
from haulwright.sandbox.files.service import FileScript
from haulwright.sandbox.model.service import ModelScript
from haulwright.sandbox.shop.catalogue import SHOPS

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "sandbox.md"
WORDS = [each.name for script in (Fault, RunScript, JobScript, FileScript, ModelScript) for each in fields(script)]


@pytest.mark.parametrize("names", [ACTORS, get_args(Kind), FORMATS, ODDITIES, PAPERS, SHOPS, WORDS])
def test_the_page_leaves_nothing_out(names):
    page = PAGE.read_text("utf-8")

    assert [name for name in names if name not in page] == []
