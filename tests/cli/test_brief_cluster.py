"""`haulwright brief cluster --input`: the events of a file, without a database."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from haulwright.apps.brief.clustering import Article, Clustering
from tests.apps.brief_clustering.sample import EVENTS, QUAKE_OF_LISBON

FIRST, SECOND, *_ = QUAKE_OF_LISBON
DAY = 86_400


@pytest.fixture
def cluster(bare):
    """`haulwright brief cluster` on lines, from file to file: the answer, and what was written."""

    def run(*lines):
        Path("in.jsonl").write_text(
            "".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines)
        )
        answer = bare("brief", "cluster", "--input", "in.jsonl", "--output", "out.jsonl")
        written = Path("out.jsonl")
        return answer, [json.loads(line) for line in written.read_text().splitlines()] if written.exists() else None

    return run


def article(name, text=FIRST, **more):
    return {"id": name, "text": text, **more}


def is_refused(answer, written, *told):
    assert answer.code == 2
    assert written is None
    assert [path.name for path in Path().iterdir()] == ["in.jsonl"]
    for words in told:
        assert words in answer.err


def test_each_article_gets_its_cluster_in_the_order_of_the_lines(cluster):
    reports = [report for reports in zip(*EVENTS.values(), strict=True) for report in reports]
    clustering = Clustering()
    expected = [clustering.place(Article(f"a{place}", report)).cluster for place, report in enumerate(reports)]

    answer, written = cluster(*[article(f"a{place}", report) for place, report in enumerate(reports)])

    assert answer.code == 0, answer.err
    assert written == [{"id": f"a{place}", "cluster": name} for place, name in enumerate(expected)]
    assert f"{len(reports)} articles in {len(set(expected))} clusters" in answer.err


def test_lines_may_come_from_stdin_and_go_to_stdout(bare):
    given = json.dumps(article("a")) + "\n\n" + json.dumps(article("b", SECOND))

    answer = bare("brief", "cluster", "--input", "-", given=given)

    first, second = map(json.loads, answer.out.splitlines())
    assert (first["id"], second["id"]) == ("a", "b")
    assert first["cluster"] == second["cluster"]


@pytest.mark.parametrize("later", [30 * DAY, "1970-01-31T00:00:00Z", "1970-01-31T01:00:00+01:00", "1970-01-31"])
def test_times_are_seconds_or_iso_and_part_what_is_long_apart(cluster, later):
    _, near = cluster(article("a", published_at=0), article("b", SECOND, published_at=3.5))
    _, far = cluster(article("a", published_at=0), article("b", SECOND, published_at=later))

    assert near[0]["cluster"] == near[1]["cluster"]
    assert far[0]["cluster"] != far[1]["cluster"]


def test_title_and_time_may_be_missing_or_null_and_other_fields_are_passed_over(cluster):
    answer, written = cluster(article("a", title=None, published_at=None, event="7a"), article("b", title="Quake"))

    assert answer.code == 0, answer.err
    assert len(written) == 2


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ('"text"', "is no JSON object"),
        ({"text": FIRST}, "id: None is no text"),
        ({"id": "", "text": FIRST}, "is empty"),
        ({"id": 7, "text": FIRST}, "id: 7 is no text"),
        ({"id": "b"}, "text: None is no text"),
        (article("b", title=7), "title: 7 is no text"),
        (article("b", published_at="yesterday"), "is no time in ISO 8601"),
        (article("b", published_at=1_700_000_000_000), "milliseconds"),
        (article("b", published_at=float("nan")), "is no time in seconds"),
        (article("b", published_at=True), "is no time"),
        (article("b", published_at=[]), "is no time"),
        (article("a"), "'a' is the id of an earlier line too"),
    ],
)
def test_a_bad_line_is_refused_with_its_number_and_nothing_is_written(cluster, line, told):
    answer, written = cluster(article("a"), line)

    is_refused(answer, written, "line 2", told)


def test_a_refusal_leaves_an_older_output_as_it_was(bare):
    Path("in.jsonl").write_text("no json")
    Path("out.jsonl").write_text("older")

    assert bare("brief", "cluster", "--input", "in.jsonl", "--output", "out.jsonl").code == 2
    assert Path("out.jsonl").read_text() == "older"


def test_a_bad_line_from_stdin_leaves_stdout_empty(bare):
    answer = bare("brief", "cluster", "--input", "-", given=json.dumps(article("a")) + "\nno json\n")

    assert (answer.code, answer.out) == (2, "")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--input", "absent.jsonl"], "--input: 'absent.jsonl' cannot be opened"),
        (["--input", "in.jsonl", "--output", "absent/out.jsonl"], "cannot be opened"),
        (["--input", "in.jsonl", "--output", "."], "cannot be opened"),
        (["--output", "out.jsonl"], "add --input"),
    ],
)
def test_files_that_cannot_be_are_refused(bare, words, told):
    Path("in.jsonl").write_text(json.dumps(article("a")))

    answer = bare("brief", "cluster", *words)

    assert answer.code == 2
    assert told in answer.err


def test_text_that_no_file_can_hold_is_placed_all_the_same(cluster):
    answer, written = cluster('{"id": "\\ud800", "text": "half a letter \\udc00, and \\u0000"}')

    assert answer.code == 0, answer.err
    assert written[0]["id"] == "\ud800"


def test_an_empty_file_gives_an_empty_file(cluster):
    answer, written = cluster()

    assert (answer.code, written) == (0, [])


def test_the_help_shows_an_example(bare):
    assert (
        "haulwright brief cluster --input articles.jsonl --output clusters.jsonl"
        in bare("brief", "cluster", "--help").out
    )


def test_a_file_is_clustered_without_an_app_and_without_a_database():
    Path("in.jsonl").write_text(json.dumps(article("a")))
    program = (
        "import json, sys\nfrom haulwright.cli import main\n"
        "try: main()\nexcept SystemExit: print(json.dumps([*sys.modules]))\n"
    )
    words = ["brief", "cluster", "--input", "in.jsonl", "--output", os.devnull]

    done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True, check=True)

    heavy = {"sqlite3", "psycopg", "pydantic", "haulwright.runtime", "haulwright.stores.store", "haulwright.client.app"}
    assert heavy.isdisjoint(json.loads(done.stdout))
