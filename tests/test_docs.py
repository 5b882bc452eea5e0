"""Undocumented is untested: the pages that follow from the code are current, and every link leads somewhere."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from haulwright.client.task_options import TaskKeywords, task_options
from haulwright.engine.transitions import TRANSITIONS
from tools import glossary, http_reference, python_reference, reference

ROOT = Path(__file__).parent.parent
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\]\((?!https?:|mailto:)([^)#\s]*)(#[^)\s]*)?\)")


def test_the_reference_pages_follow_from_the_code():
    assert reference.main(["--check"]) == 0
    assert glossary.main(["--check"]) == 0
    assert python_reference.main(["--check"]) == 0
    assert http_reference.main(["--check"]) == 0


def test_every_option_of_the_python_api_has_its_meaning():
    rows = re.findall(r"^\| `(.+?)` \| *(.*?) *\|$", python_reference.page(), re.MULTILINE)

    assert len(rows) > 100
    assert [name for name, meaning in rows if not meaning] == []
    options = {"name", *inspect.signature(task_options).parameters}
    assert options == set(TaskKeywords.__annotations__)


def test_every_verb_of_a_job_is_in_the_glossary():
    assert {verb for _, verb in TRANSITIONS} <= {entry.word for entry in glossary.read_words()}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_link_of_a_page_leads_somewhere(page):
    broken = [target for target, anchor in LINK.findall(page.read_text("utf-8")) if not _exists(page, target, anchor)]

    assert broken == []


def test_every_page_is_in_the_index():
    index = (ROOT / "docs" / "index.md").read_text("utf-8")

    missing = [
        str(page.relative_to(ROOT / "docs"))
        for page in ROOT.glob("docs/**/*.md")
        if page.name != "index.md" and str(page.relative_to(ROOT / "docs")) not in index
    ]

    assert missing == []


def test_every_room_of_the_house_is_on_the_map():
    lines = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("src/haulwright/\n")[2].partition("```")[0]
    rooms = {
        path.stem for path in (ROOT / "src" / "haulwright").iterdir() if not path.name.startswith(("_", "py.typed"))
    }

    assert sorted(room for room in rooms if not re.search(rf"\b{room}\b", lines)) == []


def test_the_life_of_a_job_names_files_that_are_there():
    text = (ROOT / "docs" / "explanation" / "life-of-a-job.md").read_text("utf-8")
    named = set(re.findall(r"`([a-z_]+/[a-z_/]+\.py)`", text))

    assert named
    assert sorted(name for name in named if not (ROOT / "src" / "haulwright" / name).is_file()) == []


@pytest.mark.proves("CLM-15")
def test_the_guide_to_leases_weighs_run_time_rework_and_the_number_of_workers():
    guide = (ROOT / "docs" / "how-to" / "choose-a-lease.md").read_text("utf-8")

    assert all(word in guide for word in ("How long do single operations", "rework", "How many workers"))


def _exists(page: Path, target: str, anchor: str) -> bool:
    path = (page.parent / target).resolve() if target else page
    if not path.exists():
        return False
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE) if path.suffix == ".md" else []
    return not anchor or anchor[1:] in {_slug(heading) for heading in headings}


def _slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
