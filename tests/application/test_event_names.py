"""The events of applications have names that the command line knows."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from haulwright.cli.kit.params import EVENT_NAME
from haulwright.discovery import installed_applications
from haulwright.errors import InvalidValue
from haulwright.events import FIELDS

SPECS = {name: spec for name, spec in installed_applications().specs.items() if spec.package.startswith("haulwright.")}
NAME = re.compile(r'^([A-Z_]+)(?:: Final)? = "([a-z_]+\.[a-z_]+)"$', re.MULTILINE)


@pytest.mark.parametrize("name", SPECS)
def test_an_application_lists_every_event_that_it_records(name):
    folder = Path(importlib.import_module(SPECS[name].package).__file__).parent
    texts = [path.read_text("utf-8") for path in folder.rglob("*.py")]
    recorded = re.compile(r"(?:Event|enqueue_with_event)\([^)]*?\b([A-Z][A-Z_]+)\b")
    used = {constant for text in texts for constant in recorded.findall(text)}
    names = {value for text in texts for constant, value in NAME.findall(text) if constant in used}

    assert names - FIELDS.keys() - set(SPECS[name].events) == set()


def test_events_of_applications_are_accepted_and_others_refused_with_the_nearest():
    assert EVENT_NAME.convert("feed.failed", None, None) == "feed.failed"
    assert EVENT_NAME.convert("job.failed", None, None) == "job.failed"
    with pytest.raises(InvalidValue, match=r"Did you mean feed\.failed\?"):
        EVENT_NAME.convert("feed.faild", None, None)
