"""`haulwright brief cluster`: the events of a file of articles, without a database, or those of the database."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, TYPE_CHECKING, Any

import click

from haulwright.cli.kit.verbs import Verb
from haulwright.errors import InvalidValue

if TYPE_CHECKING:
    from haulwright.apps.brief.clustering import Article
    from haulwright.cli.kit.site import Site

STANDARD = "-"
EXAMPLE = """\
\b
Example:
  echo '{"id": "a1", "text": "A strong quake hit Lisbon."}' > articles.jsonl
  haulwright brief cluster --input articles.jsonl --output clusters.jsonl
"""


@click.command("cluster", cls=Verb, epilog=EXAMPLE)
@click.option(
    "--input", "input_path", metavar="FILE", help="Articles, a JSON object a line: id, text, title?, published_at?"
)
@click.option(
    "--output", "output_path", metavar="FILE", help="Where each id and its cluster go, in the same order; else -."
)
@click.pass_obj
def cluster(site: Site, *, input_path: str | None, output_path: str | None) -> None:
    """Cluster the articles of a file into events, without a database; without --input, those that wait in one.

    A dash stands for stdin and stdout. Articles are placed in the order of their lines. A bad line is refused with its
    number, and then nothing is written.
    """
    if input_path is not None:
        _cluster_file(site, input_path, output_path or STANDARD)
        return
    if output_path is not None:
        raise click.UsageError("--output is for the articles of a file: add --input.")
    from haulwright.apps.brief.cli_now import cluster_now  # noqa: PLC0415 - the only way that needs a database

    cluster_now(site)


def _cluster_file(site: Site, input_path: str, output_path: str) -> None:
    from haulwright.apps.brief.clustering.json_lines import read_articles  # noqa: PLC0415 - as above

    clusters: set[str] = set()
    count = 0
    with _open_input(input_path) as (stream, total), _open_output(output_path) as out:
        articles: Iterable[Article] = read_articles(stream)
        for name, line in _place_all(site.out.progress(articles, "Clustering", total) if total else articles):
            clusters.add(name)
            count += 1
            out.write(line)
    site.out.note(f"{count} articles in {len(clusters)} clusters.")


def _place_all(articles: Iterable[Article]) -> Iterator[tuple[str, str]]:
    """The cluster of each article, and the line that says so."""
    from haulwright.apps.brief.clustering import Clustering  # noqa: PLC0415 - as above

    clustering = Clustering()
    for article in articles:
        name = clustering.place(article).cluster
        yield name, json.dumps({"id": article.id, "cluster": name}) + "\n"


@contextmanager
def _open_input(input_path: str) -> Iterator[tuple[IO[bytes], int]]:
    """The bytes of the input, and how many lines there are, where that can be known before."""
    if input_path == STANDARD:
        yield sys.stdin.buffer, 0
        return
    with _open_file(Path(input_path), "rb", "--input") as stream:
        total = sum(1 for _ in stream) if stream.seekable() else 0
        if total:
            stream.seek(0)
        yield stream, total


@contextmanager
def _open_output(output_path: str) -> Iterator[IO[str]]:
    """Somewhere to write that becomes the output when all went well, and nothing else does."""
    path = Path(output_path)
    if output_path != STANDARD and (path.is_file() or not path.exists()):
        with _open_replacement(path) as out:
            yield out
        return
    with TemporaryFile("w+", encoding="utf-8") as spool:
        yield spool
        spool.seek(0)
        if output_path == STANDARD:
            shutil.copyfileobj(spool, sys.stdout)
            return
        with _open_file(path, "w", "--output") as out:
            shutil.copyfileobj(spool, out)


@contextmanager
def _open_replacement(path: Path) -> Iterator[IO[str]]:
    """A file beside the output that takes its place at the end, and is gone after an error."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    out = _open_file(part, "x", "--output")
    try:
        with out:
            yield out
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def _open_file(path: Path, mode: str, option: str) -> IO[Any]:
    try:
        return path.open(mode, encoding=None if "b" in mode else "utf-8")
    except OSError as error:
        raise InvalidValue(option, str(path), f"cannot be opened: {error.strerror}") from None
