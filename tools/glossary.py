"""Writes docs/reference/glossary.md: each of our words, what it means, and what others call it (tools/glossary.toml).

python tools/glossary.py           write it
python tools/glossary.py --check   exit 1 if it is not current
"""

from __future__ import annotations

import sys
import tomllib
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

DATA = Path(__file__).with_name("glossary.toml")
PAGE = Path(__file__).parent.parent / "docs" / "reference" / "glossary.md"
HEAD = """\
# Glossary

Each of our words, what it means here, and the nearest thing elsewhere. *None* says that there is no such thing, or that
you build it yourself. *Pro* and *Enterprise* are paid editions of Sidekiq and Oban. Celery leaves much to its broker,
which then stands in brackets.
"""
NONE = "*none*"


@dataclass(frozen=True, slots=True)
class Word:
    """One of our words, and the nearest thing elsewhere."""

    group: str
    word: str
    meaning: str
    celery: str = NONE
    sidekiq: str = NONE
    oban: str = NONE
    sqs: str = NONE


def read_words() -> list[Word]:
    """Every word that is explained, in the order of the page."""
    return [Word(**entry) for entry in tomllib.loads(DATA.read_text("utf-8"))["word"]]


def page() -> str:
    """The whole page."""
    sections = [_section(title, list(words)) for title, words in groupby(read_words(), lambda word: word.group)]
    return "\n".join([HEAD, *sections])


def _section(title: str, words: list[Word]) -> str:
    rows = [
        f"| **{word.word}** | {word.meaning} | {word.celery} | {word.sidekiq} | {word.oban} | {word.sqs} |"
        for word in words
    ]
    head = "| word | meaning | Celery | Sidekiq | Oban | SQS |\n|---|---|---|---|---|---|"
    return "\n".join([f"## {title}", "", head, *rows, ""])


def main(arguments: list[str]) -> int:
    """Write the page, or say that it is not current."""
    text = page()
    if "--check" not in arguments:
        PAGE.write_text(text, "utf-8")
        return 0
    if PAGE.exists() and PAGE.read_text("utf-8") == text:
        return 0
    print("Not current: glossary.md. Run: python tools/glossary.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
