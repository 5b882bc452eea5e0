"""How-to pages with named blocks are themselves tested: the blocks are written to files and run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
PAGE = HOW_TO / "test-your-tasks.md"
BLOCK = re.compile(r'^```python title="(?P<file>[\w.]+)"\n(?P<code>.*?)^```$', re.MULTILINE | re.DOTALL)


@pytest.fixture
def project(pytester: pytest.Pytester) -> pytest.Pytester:
    """A folder with the files of the page, each the sum of its blocks."""
    return written(PAGE, pytester)


def written(page: Path, pytester: pytest.Pytester) -> pytest.Pytester:
    files: dict[str, list[str]] = {}
    for block in BLOCK.finditer(page.read_text("utf-8")):
        files.setdefault(block["file"], []).append(block["code"])
    for name, code in files.items():
        (pytester.path / name).write_text("\n\n".join(code), "utf-8")
    return pytester


def test_the_tests_of_the_page_pass(project):
    ended = project.runpytest_subprocess("-q", "-W", "error")

    ended.assert_outcomes(passed=9)


def test_every_block_of_the_page_is_run():
    text = PAGE.read_text("utf-8")

    assert len(BLOCK.findall(text)) == text.count("```") / 2


@pytest.mark.postgres
def test_each_test_may_have_a_schema_of_its_own_on_a_server(project, postgres_url):
    script = project.path / "shop.py"
    script.write_text(script.read_text("utf-8").replace("values (?, ?)", "values (%s, %s)"), "utf-8")

    ended = project.runpytest_subprocess("-q", "-W", "error", "--haulwright-database", postgres_url)

    ended.assert_outcomes(passed=9)


def test_the_example_of_a_job_that_waits_for_others_runs(pytester):
    ended = written(HOW_TO / "wait-for-other-jobs.md", pytester).runpytest_subprocess("-q", "-W", "error")

    ended.assert_outcomes(passed=1)
